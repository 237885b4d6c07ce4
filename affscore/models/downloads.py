"""Files from the network: where they are on this machine, else downloaded, else a quick answer and what to do."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

from affscore.errors import AffscoreError, first_line, guarded
from affscore.models.naming import needs, switched

SECONDS_TO_ANSWER = 5.0
"""The client of the Hugging Face hub asks six times and waits half a minute in all."""

SECONDS_OF_SILENCE = 30
"""PyTorch sets no limit."""

HASH = torch.hub.HASH_REGEX
"""Where the name of a file says the beginning of its SHA-256."""


@contextmanager
def patience(urls: Sequence[str]) -> Iterator[None]:
    """Within this a connection may be silent for :data:`SECONDS_OF_SILENCE`, after the server was asked for the files.

    Raises:
        OSError: It has not all of them, or does not answer in :data:`SECONDS_TO_ANSWER`.
    """
    for url in urls:
        urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=SECONDS_TO_ANSWER).close()
    with switched(socket.getdefaulttimeout, socket.setdefaulttimeout, SECONDS_OF_SILENCE):
        yield


def checkpoint(url: str) -> Path:
    """Where torchvision looks for a file of weights that it downloads."""
    return Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]


def fetch(url: str, what: str, name: str) -> Path:
    """The file behind an address, downloaded to where torchvision looks for it unless it is there.

    Args:
        url: Its address; a hash at the end of the name is checked.
        what: What the file holds, for the message.
        name: MODEL, for the message.

    Raises:
        AffscoreError: It is not there and cannot be downloaded; the message says where to put it.
    """
    file = checkpoint(url)
    if file.exists():
        return file
    expected = HASH.search(file.name)

    def download() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with patience([url]):
            torch.hub.download_url_to_file(url, str(file), expected.group(1) if expected else None)

    advice = f"get {url} elsewhere and put it into {file.parent}, or give it as {name}@FILE"
    guarded(download, f"{what} are not on this machine and could not be downloaded", advice)
    return file


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
            client.get_hf_file_metadata(hub_url(repository, filename), timeout=SECONDS_TO_ANSWER)
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
