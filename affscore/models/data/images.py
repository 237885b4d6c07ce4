"""Images: scikit-learn's digits and noise, torchvision's, as ``cifar10``, and below a folder, as ``folder:DIR``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from affscore.errors import AffscoreError, first_line, guarding
from affscore.models.data import DataSource, ImageSet, NamedData, UnreadableImageError
from affscore.models.naming import user_path
from affscore.models.preprocessing import Expected, Preprocessing, TextPreprocessing, image_tensor
from affscore.models.weight_files import check_answer


@cache
def digits(part: Literal["train", "test"]) -> tuple[Tensor, Tensor]:
    """Scans of handwritten digits, 8 x 8 pixels, and which digit each is.

    The 1797 scans come with scikit-learn. 597 of them, the same in every session and with each digit in
    its share, are the test part; no network of the package has seen those.

    Args:
        part: "train" (1200 images) or "test" (597).

    Returns:
        Images, tensor (N, 1, 8, 8) with values in [0, 1], and labels, tensor (N,) of integers.

    Source: Alpaydin and Kaynak, optical recognition of handwritten digits (UCI).

    >>> images, labels = digits("test")
    >>> tuple(images.shape), sorted(set(labels.tolist())) == list(range(10))
    ((597, 1, 8, 8), True)
    """
    from sklearn.datasets import load_digits  # takes a second
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    split = train_test_split(images, labels, test_size=597, stratify=labels, random_state=0)
    # the images of both parts, then the labels of both; grey values are 0 ... 16
    images, labels = split[::2] if part == "train" else split[1::2]
    return torch.from_numpy(images).float().view(-1, 1, 8, 8) / 16.0, torch.from_numpy(labels).long()


def image_set(name: str, images: Tensor, labels: Tensor) -> ImageSet:
    """Pictures in memory, tensor (N, C, H, W) with values in [0, 1], whose classes are numbers, as data by name."""
    names = [str(label) for label in labels.tolist()]
    return ImageSet(name, len(images), lambda index, p: (p or image_tensor)(images[index]), labels=names)


@dataclass(eq=False, repr=False)
class Noise(NamedData):
    """Standard normal images, or uniform token ids, as many as one asks for.

    Attributes:
        seed: Fixes them, each by its index.

    >>> Noise("random", None, 0)[5].shape
    torch.Size([3, 224, 224])
    """

    seed: int

    def __getitem__(self, index: int) -> Tensor:
        generator = np.random.default_rng([self.seed, index])
        p = self.preprocessing or Preprocessing()
        if isinstance(p, TextPreprocessing):
            return torch.from_numpy(generator.integers(0, p.vocabulary, p.window))
        return torch.from_numpy(generator.standard_normal((p.channels, p.size, p.size), dtype=np.float32))

    def prepared_for(self, preprocessing: Expected) -> Noise:
        """Noise of the size that this network expects."""
        if isinstance(preprocessing, TextPreprocessing) and preprocessing.vocabulary is None:
            raise AffscoreError("random token ids need the size of the vocabulary: TextPreprocessing(vocabulary=...)")
        return replace(self, preprocessing=preprocessing)

    def content(self, images: int, seed: int) -> None:
        """None: the seed makes it."""


IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
"""Those of torchvision's ImageFolder."""

_VALIDATION = ("val", "validation", "ILSVRC2012_img_val", "Data/CLS-LOC/val", "ILSVRC/Data/CLS-LOC/val")
"""Where the validation images of ImageNet lie in what one downloads, seen from its top folder."""

DATA_SETS = {"cifar10": "CIFAR10", "cifar100": "CIFAR100", "fashion-mnist": "FashionMNIST"}
"""SPEC -> the class of torchvision.datasets."""


def _below(kind: str, directory: str, seed: int) -> ImageSet:
    """Every image below a folder; the folders in it are the classes.

    Hidden files and folders are passed over, links are followed. A photo is turned upright as its EXIF
    entry says, except those of ImageNet: torchvision does not, and the published accuracies are those of
    images that lie as they are stored.

    Args:
        kind: "folder" or "imagenet" (the validation images, in DIR/val where there is one).
        directory: DIR.
        seed: Of no consequence.

    Raises:
        AffscoreError: No such folder, one that may not be read, or no image in it.
    """
    root = user_path(directory)
    if not os.path.isdir(root):  # noqa: PTH112  # that of pathlib raises where a name is too long
        raise AffscoreError(f"there is no folder {directory!r}; {kind}:DIR takes the path of a folder of images")
    name = f"{kind}:{root.resolve().name or '/'}"
    if kind == "imagenet":
        inside = next((root / inner for inner in _VALIDATION if (root / inner).is_dir()), None)
        if inside is None and (root / "train").is_dir():
            raise AffscoreError(f"{directory!r} has no 'val'; for the training images write folder:{directory}/train")
        root = inside or root
    if not (files := list(_images_below(root, set()))):
        raise AffscoreError(f"found no image ({', '.join(sorted(IMAGE_SUFFIXES))}) in or below {directory!r}")
    labels = None if root in {file.parent for file in files} else [file.relative_to(root).parts[0] for file in files]
    upright = kind == "folder"
    return ImageSet(name, len(files), lambda i, p: read_picture(files[i], p, upright), labels=labels, files=files)


def read_picture(file: Path, preprocessing: Preprocessing | None, upright: bool) -> Tensor:
    """One image file, as a network expects it.

    Args:
        file: The file.
        preprocessing: What the network expects; None for the image as it is stored.
        upright: Whether to turn it as its EXIF entry says.

    Raises:
        UnreadableImageError: It cannot be read, is no image, or has more pixels than Pillow trusts.
    """
    try:
        with Image.open(file) as image:
            if upright:
                ImageOps.exif_transpose(image, in_place=True)
            return (preprocessing or image_tensor)(image)
    except Exception as error:  # Pillow's decoders raise nearly anything on a damaged file
        reason = first_line(error).replace(str(file), file.name)
        raise UnreadableImageError(f"{file.parent.name}/{file.name}", reason) from error


def _images_below(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """The image files below a folder, sorted. A folder that is met twice through links is read once."""
    if (real := folder.resolve()) in seen:
        return
    seen.add(real)
    with guarding(f"the folder {folder.name!r} cannot be read", only=OSError), os.scandir(folder) as entries:
        shown = sorted((entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith("."))
    for name, is_folder in shown:
        if is_folder:
            yield from _images_below(folder / name, seen)
        elif Path(name).suffix.lower() in IMAGE_SUFFIXES:  # whether it is an image is seen when it is read
            yield folder / name


def images_of(name: str, part: Literal["train", "test"] = "test") -> ImageSet:
    """The images of a data set, read by torchvision's own classes from $AFFSCORE_DATA, or ~/.cache/affscore.

    What is not there is unpacked from the archive, and where that is missing, too, downloaded.

    Args:
        name: One of :data:`DATA_SETS`.
        part: Which images. SPECs name the test images alone; one trains on the others.

    Raises:
        AffscoreError: The files are damaged, or neither here nor can they be downloaded: which, from where, and
            where to put them.
    """
    import torchvision.datasets  # takes seconds

    made = getattr(torchvision.datasets, DATA_SETS[name])
    home = user_path(os.environ.get("AFFSCORE_DATA") or "~/.cache/affscore")
    folder = home if hasattr(made, "url") else home / made.__name__ / "raw"
    urls = [made.url] if hasattr(made, "url") else [made.mirrors[0] + file for file, _ in made.resources]
    what = f"the data set {name} is not in {home}, or damaged there, and could not be downloaded"
    advice = f"get {' '.join(urls)} elsewhere and put it into {folder} (AFFSCORE_DATA chooses another place)"
    with guarding(what, advice):
        try:
            data = made(home, train=part == "train")
        except RuntimeError:  # torchvision's way to say that files are missing, or not the right ones
            for url in [url for url in urls if not (folder / url.rpartition("/")[2]).is_file()][:1]:
                check_answer(url)
            data = made(home, train=part == "train", download=True)
    names = [data.classes[int(target)] for target in data.targets]
    return ImageSet(name, len(data), lambda i, p: (p or image_tensor)(data[i][0]), labels=names, classes=data.classes)


SOURCES = [
    DataSource("digits", "CLASS", lambda *_: image_set("digits", *digits("test"))),
    DataSource("random", "", lambda _, seed: Noise("random", None, seed)),
    *(DataSource(name, "CLASS", lambda *_, name=name: images_of(name)) for name in DATA_SETS),
    *(DataSource(kind, "DIR", partial(_below, kind)) for kind in ("imagenet", "folder")),
]
