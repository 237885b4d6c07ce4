"""Files from the network: where they are on this machine, else downloaded, else a quick answer and what to do."""

from __future__ import annotations

import urllib.request
from contextlib import suppress
from pathlib import Path

import torch

from affscore.errors import guarded
from affscore.models.naming import needs

SECONDS_TO_ANSWER = 5.0
"""PyTorch sets no limit, and the client of the Hugging Face hub asks six times and waits half a minute in all."""


def check_answer(url: str) -> None:
    """Ask a server whether it has a file.

    Raises:
        OSError: It has not, or does not answer in :data:`SECONDS_TO_ANSWER`.
    """
    urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=SECONDS_TO_ANSWER).close()


def fetch(url: str, what: str, name: str) -> Path:
    """The file behind an address, downloaded to where torchvision looks for it unless it is there.

    Args:
        url: Its address; a hash at the end of the name is checked.
        what: What the file holds, for the message.
        name: MODEL, for the message.

    Raises:
        AffscoreError: It is not there and cannot be downloaded; the message says where to put it.
    """
    file = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    expected = torch.hub.HASH_REGEX.search(file.name)

    def download() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        check_answer(url)
        torch.hub.download_url_to_file(url, str(file), expected.group(1) if expected else None)

    if not file.exists():
        advice = f"get {url} elsewhere and put it into {file.parent}, or give it as {name}@FILE"
        guarded(download, f"{what} are not on this machine and could not be downloaded", advice)
    return file


def from_hub(repository: str, filenames: list[str], name: str, extra: str, advice: str) -> Path:
    """The first of these files that a repository of the Hugging Face hub has, on this machine.

    The cache is asked for all of them before the hub is asked for any, so that what is there is found
    without a network. (Where the cache is, $HF_HOME or $HF_HUB_CACHE says.)

    Args:
        repository: As in ``google/vit-base-patch16-224``.
        filenames: Names of files, the preferred first.
        name: MODEL, for messages.
        extra: The extra of affscore that brings the hub's client.
        advice: What to do where none can be had.

    Raises:
        AffscoreError: The repository has none of them, or the hub does not answer.
    """
    client = needs("huggingface_hub", name, extra)

    def find() -> Path:
        for filename in filenames:
            if isinstance(found := client.try_to_load_from_cache(repository, filename), str):
                return Path(found)
        for filename in filenames:
            with suppress(client.utils.EntryNotFoundError):
                # one question without repetition tells whether there is a hub, and whether it has the file
                client.get_hf_file_metadata(client.hf_hub_url(repository, filename), timeout=SECONDS_TO_ANSWER)
                return Path(client.hf_hub_download(repository, filename))
        raise FileNotFoundError("the repository has no such file")

    what = f"{name}: {filenames[0]} of {repository!r} is not on this machine and could not be downloaded"
    return guarded(find, what, advice)


def cached_repositories() -> list[str]:
    """The names of the repositories of networks that the cache on this machine holds."""
    from huggingface_hub import constants

    folders = sorted(Path(constants.HF_HUB_CACHE).glob("models--*"))
    return [folder.name.removeprefix("models--").replace("--", "/") for folder in folders]
