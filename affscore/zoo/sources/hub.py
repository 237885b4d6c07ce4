"""Files of the Hugging Face hub: from its cache on this machine, else downloaded, else a quick answer."""

from __future__ import annotations

from pathlib import Path

from affscore.errors import AffscoreError, first_line, guarded
from affscore.zoo.naming import needs

TIMEOUT = 5.0
"""Seconds in which the hub must answer. Its own client asks six times and waits half a minute in all."""


def hub_url(repository: str, filename: str) -> str:
    """The address of a file.

    Raises:
        AffscoreError: No repository can have this name.
    """
    from huggingface_hub import hf_hub_url

    what = f"there is no folder {repository!r}, and it is no name on the Hugging Face hub"
    return guarded(lambda: hf_hub_url(repository, filename), what)


def first_of(repository: str, filenames: list[str], name: str, extra: str, before: str = "", after: str = "") -> Path:
    """The first of these files that a repository has, on this machine.

    The cache is asked for all of them before the hub is asked for any, so that what is there is found
    without a network. (Where the cache is, $HF_HOME or $HF_HUB_CACHE says.)

    Args:
        repository: As in ``google/vit-base-patch16-224``.
        filenames: Names of files, the preferred first.
        name: MODEL, for messages.
        extra: The extra of affscore that brings the hub's client.
        before: How the message begins that there is none.
        after: How it ends.

    Raises:
        AffscoreError: The repository has none of them, or the hub does not answer.
    """
    client = needs("huggingface_hub", name, extra)
    for filename in filenames:
        hub_url(repository, filename)
        found = client.try_to_load_from_cache(repository, filename)
        if isinstance(found, str):
            return Path(found)
    for filename in filenames:
        try:
            # one question without repetition tells whether there is a hub, and whether it has the file
            client.get_hf_file_metadata(hub_url(repository, filename), timeout=TIMEOUT)
            return Path(client.hf_hub_download(repository, filename))
        except client.utils.EntryNotFoundError:
            continue
        except Exception as error:  # no network, no such repository, no permission, no space
            raise AffscoreError(
                f"{before}{filename} of {repository!r} is not in the cache of the Hugging Face hub on this machine, "
                f"and could not be downloaded ({type(error).__name__}: {first_line(error)}){after}"
            ) from error
    raise AffscoreError(f"{before}the repository {repository!r} has no {' or '.join(filenames)}{after}")


def cached_repositories() -> list[str]:
    """The names of the repositories of networks that the cache on this machine holds."""
    from huggingface_hub import constants

    folders = sorted(Path(constants.HF_HUB_CACHE).glob("models--*"))
    return [folder.name.removeprefix("models--").replace("--", "/") for folder in folders]
