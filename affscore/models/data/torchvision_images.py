"""The small data sets of torchvision: found where they are stored, downloaded where that is possible."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from affscore.errors import guarded
from affscore.models.downloads import patience
from affscore.models.named_data import DataSource, ImageSet
from affscore.models.paths import user_path
from affscore.models.preprocessing import image_tensor

DATA_SETS = {"cifar10": "CIFAR10", "cifar100": "CIFAR100", "fashion-mnist": "FashionMNIST"}
"""SPEC -> the class of torchvision.datasets."""


def images_of(name: str, part: Literal["train", "test"] = "test") -> ImageSet:
    """The images of a data set, read by torchvision's own classes from $AFFSCORE_DATA, or ~/.cache/affscore.

    What is not there is unpacked from the archive, and where that is missing, too, downloaded.

    Args:
        name: One of :data:`DATA_SETS`.
        part: Which images. SPECs name the test images alone; one trains on the others.

    Raises:
        AffscoreError: The files are neither here nor can they be downloaded: which, from where, and where
            to put them; or they are damaged.
    """
    import torchvision.datasets  # takes seconds

    made = getattr(torchvision.datasets, DATA_SETS[name])
    home = user_path(os.environ.get("AFFSCORE_DATA") or "~/.cache/affscore")

    def found() -> Any:
        try:
            pictures = made(root=str(home), train=part == "train", download=False)
        except RuntimeError as error:  # torchvision's way to say that files are missing, or not the right ones
            if "not found" not in str(error):
                raise
            pictures = _downloaded(name, made, home, part)
        labels = [pictures.classes[int(target)] for target in pictures.targets]
        if len(labels) != len(pictures):
            raise ValueError(f"{len(pictures)} images and {len(labels)} labels")
        return pictures, labels

    advice = "remove them so that they are unpacked or downloaded again"
    pictures, labels = guarded(found, f"the files of the data set {name} in {home} are damaged", advice)
    about = {"labels": labels, "classes": pictures.classes}
    return ImageSet(name, len(pictures), lambda index, p: (p or image_tensor)(pictures[index][0]), **about)


def _load(name: str, argument: str, seed: int) -> ImageSet:
    return images_of(name)


def _downloaded(name: str, made: Any, home: Path, part: str) -> Any:
    if hasattr(made, "url"):
        folder, urls = home, [made.url]
    else:
        folder, urls = home / made.__name__ / "raw", [made.mirrors[0] + file for file, _ in made.resources]

    def missing() -> list[str]:
        return [url for url in urls if not (folder / url.rpartition("/")[2]).is_file()]

    def download() -> Any:
        home.mkdir(parents=True, exist_ok=True)
        # jobs that start together download once: the others wait
        with FileLock(home / ".download.lock"), patience(missing()[:1]):
            return made(root=str(home), train=part == "train", download=True)

    places, names = zip(*(url.rsplit("/", 1) for url in missing() or urls), strict=True)
    place, them = (f"{places[0]}/", "them") if len(names) > 1 else (f"{places[0]}/{names[0]}", "it")
    what = f"the data set {name} is not in {home}, or damaged there, and could not be downloaded"
    advice = f"get {', '.join(names)} from {place} elsewhere and put {them} into {folder}"
    return guarded(download, what, f"{advice} (AFFSCORE_DATA chooses another place)")


SOURCES = [DataSource(name, "CLASS", partial(_load, name)) for name in DATA_SETS]
