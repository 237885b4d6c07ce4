"""The small data sets of torchvision: found where they are kept, downloaded where that is possible."""

from __future__ import annotations

import fcntl
import os
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from affscore.errors import AffscoreError
from affscore.zoo.named_data import ImageSet
from affscore.zoo.paths import user_path
from affscore.zoo.preprocessing import Preprocessing, image_tensor

__all__ = ["DOWNLOADS", "SECONDS_OF_SILENCE", "SECONDS_TO_ANSWER", "data_home", "patience", "torchvision_images"]

DOWNLOADS = {"cifar10": "CIFAR10", "cifar100": "CIFAR100", "fashion-mnist": "FashionMNIST"}
"""SPEC -> the class of torchvision.datasets."""

SECONDS_TO_ANSWER = 5
SECONDS_OF_SILENCE = 30


@dataclass(frozen=True)
class _Archives:
    """The files that a data set of torchvision unpacks.

    Attributes:
        folder: Where torchvision looks for them.
        urls: Where they are on the network.
    """

    folder: Path
    urls: list[str]

    @classmethod
    def of(cls, made: Any, home: Path) -> _Archives:
        if hasattr(made, "url"):
            return cls(home, [made.url])
        names = [name for name, _ in made.resources]
        return cls(home / made.__name__ / "raw", [made.mirrors[0] + name for name in names])

    @property
    def missing(self) -> list[str]:
        return [url for url in self.urls if not (self.folder / url.rsplit("/", 1)[-1]).is_file()]


def data_home() -> Path:
    """Where downloaded data sets are kept: $AFFSCORE_DATA, or ~/.cache/affscore."""
    return user_path(os.environ.get("AFFSCORE_DATA") or "~/.cache/affscore")


def torchvision_images(name: str, preprocessing: Preprocessing | None = None) -> ImageSet:
    """The test images of cifar10, cifar100 or fashion-mnist.

    Torchvision's own classes read them, below :func:`data_home`. What is not there is unpacked from the
    archive, and where that is missing, too, downloaded; a server that does not answer costs seconds.

    Args:
        name: One of the three.
        preprocessing: What the network expects.

    Raises:
        AffscoreError: The files are neither here nor can they be downloaded: which, from where, and where
            to put them; or they are damaged.
    """
    import torchvision.datasets  # takes seconds

    made = getattr(torchvision.datasets, DOWNLOADS[name])
    home = data_home()
    options: dict[str, Any] = {"root": str(home), "train": False}
    try:
        try:
            pictures = made(**options, download=False)
        except RuntimeError as error:  # torchvision's way to say that files are missing, or not the right ones
            if "not found" not in str(error):
                raise
            pictures = _downloaded(name, made, home, options)
        labels = [pictures.classes[int(target)] for target in pictures.targets]
        count = len(pictures)
        if len(labels) != count:
            raise ValueError(f"{count} images and {len(labels)} labels")
    except AffscoreError:
        raise
    except Exception as error:  # files with the right name and something else in them
        raise AffscoreError(
            f"the files of the data set {name} in {home} are damaged ({type(error).__name__}: "
            f"{' '.join(str(error).split())}); remove them so that they are unpacked or downloaded again"
        ) from error

    def read(index: int, p: Preprocessing | None) -> Tensor:
        return (p or image_tensor)(pictures[index][0])

    return ImageSet(name, count, read, preprocessing, labels, classes=pictures.classes)


def _downloaded(name: str, made: Any, home: Path, options: dict[str, Any]) -> Any:
    archives = _Archives.of(made, home)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _alone(home), patience(SECONDS_OF_SILENCE):
            if missing := archives.missing:  # one question first, so that a dead line costs seconds
                urllib.request.urlopen(
                    urllib.request.Request(missing[0], method="HEAD"), timeout=SECONDS_TO_ANSWER
                ).close()
            return made(**options, download=True)
    except Exception as error:  # of the network, of the disk, or of an archive that is none
        wanted = archives.missing or archives.urls
        files = ", ".join(url.rsplit("/", 1)[-1] for url in wanted)
        raise AffscoreError(
            f"the data set {name} is not in {home}, or damaged there, and could not be downloaded "
            f"({' '.join(str(error).split()) or type(error).__name__}); get {files} from "
            f"{wanted[0] if len(wanted) == 1 else wanted[0].rsplit('/', 1)[0] + '/'} elsewhere and put "
            f"{'it' if len(wanted) == 1 else 'them'} into {archives.folder} (AFFSCORE_DATA chooses another place)"
        ) from error


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Jobs that start together download once: the others wait, and find the files."""
    with (home / ".download.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """How long a connection may be silent; torchvision sets no limit."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
