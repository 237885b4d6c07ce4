"""Images by name: digits, noise, torchvision's small data sets, ImageNet, or a folder."""

from __future__ import annotations

import difflib
import os
import urllib.error
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset

from affscore.errors import AffscoreError
from affscore.zoo.digits import digits
from affscore.zoo.paths import user_path
from affscore.zoo.preprocessing import Preprocessing, image_tensor

__all__ = ["ImageSet", "data_home", "load_data"]

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
_TORCHVISION = {"cifar10": "CIFAR10", "cifar100": "CIFAR100", "fashion-mnist": "FashionMNIST"}
_FORMS = "digits, random, cifar10, cifar100, fashion-mnist, imagenet:DIR or folder:DIR"


class ImageSet(Dataset[Tensor]):
    """A named data set, whose images are brought to what a network expects when they are read.

    Indexing gives a tensor (C, H, W). Without a preprocessing an image comes as it is stored, with
    values in [0, 1].

    Args:
        name: The name that results carry: no path in it.
        length: Number of images; None for as many as one asks for (noise).
        read: Given an index and the preprocessing, the image.
        preprocessing: What the network expects.

    Attributes:
        files: Where its images lie, in the order of the indices; None where they are no files.
    """

    files: Sequence[Path] | None = None

    def __init__(
        self,
        name: str,
        length: int | None,
        read: Callable[[int, Preprocessing | None], Tensor],
        preprocessing: Preprocessing | None = None,
    ) -> None:
        self.name = name
        self.length = length
        self._read = read
        self.preprocessing = preprocessing

    def __len__(self) -> int:
        if self.length is None:
            raise AffscoreError(f"{self.name!r} has no end: say how many images you want")
        return self.length

    def __getitem__(self, index: int) -> Tensor:
        return self._read(index, self.preprocessing)

    def prepared_for(self, preprocessing: Preprocessing) -> ImageSet:
        """The same images for a network that expects this preprocessing."""
        return ImageSet(self.name, self.length, self._read, preprocessing)

    def order(self, images: int | None, seed: int, default: int) -> list[int]:
        """Which images, in which order: fixed by the seed, and shuffled, since folders are sorted by class.

        Args:
            images: How many; None for all (``default`` where there is no end).
            seed: Fixes the shuffle.
            default: How many to take of a data set without end.

        Raises:
            AffscoreError: More images are asked for than there are.
        """
        if self.length is None:
            return list(range(default if images is None else images))
        if images is not None and images > self.length:
            raise AffscoreError(f"{self.name!r} has {self.length} images, {images} were asked for")
        return np.random.default_rng(seed).permutation(self.length)[:images].tolist()


def load_data(spec: str, preprocessing: Preprocessing | None = None, seed: int = 0) -> ImageSet:
    """Images by name.

    ================= ==========================================================================
    digits            597 held-out scans of handwritten digits, embedded
    random            standard normal noise of the network's input size, as many as asked for
    cifar10, cifar100 test images; found below $AFFSCORE_DATA (~/.cache/affscore), or downloaded
    fashion-mnist     the same
    imagenet:DIR      the validation images below DIR (or DIR/val), one folder a class
    folder:DIR        every image below DIR
    ================= ==========================================================================

    Args:
        spec: One of the names above.
        preprocessing: What the network expects; a network's own is used when the data set is given to
            :func:`affscore.signature` without one.
        seed: Fixes the noise of ``random``.

    Returns:
        The images, as a map-style data set of tensors (C, H, W).

    Raises:
        AffscoreError: An unknown name, a folder without images, or data that is neither here nor can
            be downloaded.

    >>> load_data("digits")[0].shape, len(load_data("digits"))
    (torch.Size([1, 8, 8]), 597)
    """
    if not isinstance(spec, str):
        raise AffscoreError(f"a data set is given by its name ({_FORMS}), got {type(spec).__name__}")
    name, _, argument = spec.partition(":")
    if name in ("imagenet", "folder"):
        return _folder(name, argument, preprocessing)
    if not argument:
        if name == "digits":
            images, _ = digits("test")
            return ImageSet(spec, len(images), lambda i, p: p(images[i]) if p else images[i], preprocessing)
        if name == "random":
            return ImageSet(spec, None, _noise(seed), preprocessing)
        if name in _TORCHVISION:
            return _torchvision(spec, preprocessing)
    known = ["digits", "random", *_TORCHVISION, "imagenet:DIR", "folder:DIR"]
    near = difflib.get_close_matches(spec, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if os.path.isdir(spec):  # noqa: PTH112  # Path.is_dir raises where a name is too long
        hint = "; for a folder of images write folder: in front of it"
    raise AffscoreError(f"unknown data set {spec!r}{hint} (known: {_FORMS})")


def data_home() -> Path:
    """Where downloaded data sets are kept: $AFFSCORE_DATA, or ~/.cache/affscore."""
    return Path(os.environ.get("AFFSCORE_DATA", "~/.cache/affscore")).expanduser()


def _noise(seed: int) -> Callable[[int, Preprocessing | None], Tensor]:
    def read(index: int, preprocessing: Preprocessing | None) -> Tensor:
        p = preprocessing or Preprocessing()
        generator = np.random.default_rng([seed, index])
        return torch.from_numpy(generator.standard_normal((p.channels, p.size, p.size), dtype=np.float32))

    return read


def _folder(kind: str, directory: str, preprocessing: Preprocessing | None) -> ImageSet:
    if not directory:
        raise AffscoreError(f"{kind}: needs a folder, as in {kind}:path/to/images")
    root = user_path(directory)
    if not root.is_dir():
        raise AffscoreError(f"there is no folder {directory!r}; {kind}:DIR takes the path of a folder of images")
    if kind == "imagenet" and (root / "val").is_dir():
        root = root / "val"
    files = sorted(path for path in root.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES)
    if not files:
        raise AffscoreError(
            f"found no image ({', '.join(sorted(IMAGE_SUFFIXES))}) in the folder {directory!r} or below it"
        )

    def read(index: int, p: Preprocessing | None) -> Tensor:
        try:
            with Image.open(files[index]) as image:
                return (p or image_tensor)(image)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:  # what Pillow raises
            raise AffscoreError(f"the file {files[index].name!r} is not a readable image ({error})") from error

    images = ImageSet(f"{kind}:{user_path(directory).resolve().name}", len(files), read, preprocessing)
    images.files = files
    return images


def _torchvision(name: str, preprocessing: Preprocessing | None) -> ImageSet:
    import torchvision.datasets

    make = getattr(torchvision.datasets, _TORCHVISION[name])
    options: dict[str, Any] = {"root": str(data_home()), "train": False}
    try:
        pictures = make(**options, download=False)
    except RuntimeError:
        try:
            pictures = make(**options, download=True)
        except (urllib.error.URLError, OSError, RuntimeError) as error:
            raise AffscoreError(
                f"the data set {name} is not in {data_home()} and could not be downloaded "
                f"({' '.join(str(error).split())}); get it as torchvision.datasets.{_TORCHVISION[name]} does, "
                "and put it there (or set AFFSCORE_DATA)"
            ) from error
    return ImageSet(name, len(pictures), lambda i, p: (p or image_tensor)(pictures[i][0]), preprocessing)
