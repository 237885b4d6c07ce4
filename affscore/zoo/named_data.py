"""Data with a name: its order, and what a network expects of it."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset

from affscore.errors import AffscoreError
from affscore.zoo.preprocessing import Preprocessing
from affscore.zoo.text import Expected, TextPreprocessing

__all__ = ["ImageSet", "NamedData", "Noise", "UnreadableImageError"]


class UnreadableImageError(AffscoreError):
    """One image of a data set cannot be read; the others may be.

    Args:
        file: The base name of its file, and of its folder where that says more.
        reason: What is wrong with it.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"the file {file} is not a readable image ({reason})")
        self.file = file


class NamedData(Dataset[Tensor], ABC):
    """A data set with a name. It knows how many items it has, and brings them to what a network expects.

    Attributes:
        name: The name that results carry: no path in it.
        length: Number of items; None for as many as one asks for (noise).
        preprocessing: What the network expects; None as long as nobody said.
        labels: The class of each item by name, or None where that is not known.
        classes: The names of all classes, in the order of the outputs of networks.
        notes: What the reader of a result should be told of the data, in sentences.
        files: The files behind it, of images one an item, in their order; None where there are none.
    """

    items: ClassVar[str] = "images"
    """What its items are called."""

    def __init__(
        self,
        name: str,
        length: int | None,
        preprocessing: Expected | None = None,
        labels: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.length = length
        self.preprocessing = preprocessing
        self.labels = labels
        self.classes = sorted(set(labels or ()))
        self.notes = list(notes)
        self.files: Sequence[Path] | None = None

    def __len__(self) -> int:
        if self.length is None:
            raise AffscoreError(f"{self.name!r} has no end: say how many {self.items} you want")
        return self.length

    @abstractmethod
    def __getitem__(self, index: int) -> Tensor:
        """One item, as the network expects it."""

    @abstractmethod
    def prepared_for(self, preprocessing: Expected) -> NamedData:
        """The same data for a network that expects this.

        Raises:
            AffscoreError: The network expects another kind of data.
        """

    def order(self, images: int | None, seed: int, default: int) -> Sequence[int]:
        """Which items, in which order: fixed by the seed, and shuffled, since folders are sorted by class.

        Args:
            images: How many; None for all (``default`` where there is no end).
            seed: Fixes the shuffle.
            default: How many to take of a data set without end.

        Raises:
            AffscoreError: More are asked for than there are.
        """
        if self.length is None:
            return range(default if images is None else images)
        if images is not None and images > self.length:
            raise AffscoreError(f"{self.name!r} has {self.length} {self.items}, {images} were asked for")
        return np.random.default_rng(seed).permutation(self.length)[:images].tolist()


class ImageSet(NamedData):
    """Images, which are brought to what a network expects when they are read.

    Indexing gives a tensor (C, H, W). Without a preprocessing an image comes as it is stored, with
    values in [0, 1].

    Args:
        name: The name that results carry: no path in it.
        length: Number of images.
        read: Given an index and the preprocessing, the image. Where one image cannot be read it raises
            :class:`UnreadableImageError`, and the signature goes on with the others.
        preprocessing: What the network expects.
        labels: The class of each image by name.
        notes: What the reader of a result should be told.
        files: The file of each image.
        classes: The names of all classes in the order of the outputs of networks; sorted by default.

    >>> grey = ImageSet("grey", 3, lambda index, _: torch.full((1, 2, 2), index / 2), labels=["a", "b", "a"])
    >>> [float(image.mean()) for image in grey.only("a")]
    [0.0, 1.0]
    """

    preprocessing: Preprocessing | None

    def __init__(
        self,
        name: str,
        length: int | None,
        read: Callable[[int, Preprocessing | None], Tensor],
        preprocessing: Preprocessing | None = None,
        labels: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        files: Sequence[Path] | None = None,
        classes: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, length, preprocessing, labels, notes)
        self._read = read
        self.files = files
        self.classes = list(classes or self.classes)

    def __getitem__(self, index: int) -> Tensor:
        if self.length is not None and not -self.length <= index < self.length:
            raise IndexError(f"{self.name!r} has {self.length} images")  # which ends a loop over them
        return self._read(index, self.preprocessing)

    def prepared_for(self, preprocessing: Expected) -> Self:
        """The same images for a network that expects this preprocessing."""
        if not isinstance(preprocessing, Preprocessing):
            raise AffscoreError(
                f"{self.name!r} holds images, and the network expects token ids; give text:FILE, tokens:FILE or random"
            )
        return type(self)(
            self.name, self.length, self._read, preprocessing, self.labels, self.notes, self.files, self.classes
        )

    def common_size(self, indices: Iterable[int]) -> int | None:
        """The height and width of these images in pixels, if all are square and of one size; else None.

        Of files only the beginning is read; those that cannot be read do not count.
        """
        sizes = set()
        for index in indices:
            try:
                if self.files is None:
                    sizes.add(tuple(self._read(index, None).shape[1:]))
                elif self.files[index].is_file():  # opening a pipe would wait for somebody to write into it
                    with Image.open(self.files[index]) as image:
                        sizes.add(image.size)
            except Exception:  # noqa: BLE001  # which is said when the image is read
                continue
            if len(sizes) > 1:
                return None
        height, width = sizes.pop() if sizes else (0, 1)
        return height if height == width else None

    def only(self, label: str) -> ImageSet:
        """The images of one class, under the name ``NAME:CLASS`` (``folder:CLASS``).

        Raises:
            AffscoreError: The classes are not known, or there is none of this name.
        """
        known = sorted(set(self.labels or ()))
        if label not in known:
            near = difflib.get_close_matches(label, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            told = f"{', '.join(known[:20])}{', ...' if len(known) > 20 else ''}" if known else "none"
            raise AffscoreError(f"the data set {self.name!r} has no class {label!r}{hint} (known: {told})")
        assert self.labels is not None
        chosen = [index for index, found in enumerate(self.labels) if found == label]
        return ImageSet(
            f"{self.name.partition(':')[0]}:{label}",
            len(chosen),
            lambda index, p: self._read(chosen[index], p),
            self.preprocessing,
            [label] * len(chosen),
            self.notes,
            [self.files[index] for index in chosen] if self.files is not None else None,
            self.classes,
        )


class Noise(NamedData):
    """Standard normal images, or uniform token ids, as many as one asks for.

    Args:
        seed: Fixes them, each by its index.
        preprocessing: What the network expects; it says the size.

    >>> Noise(0)[5].shape
    torch.Size([3, 224, 224])
    """

    def __init__(self, seed: int, preprocessing: Expected | None = None) -> None:
        super().__init__("random", None, preprocessing)
        self.seed = seed

    def __getitem__(self, index: int) -> Tensor:
        generator = np.random.default_rng([self.seed, index])
        p = self.preprocessing or Preprocessing()
        if isinstance(p, TextPreprocessing):
            assert p.vocabulary is not None
            return torch.from_numpy(generator.integers(0, p.vocabulary, p.window))
        return torch.from_numpy(generator.standard_normal((p.channels, p.size, p.size), dtype=np.float32))

    def prepared_for(self, preprocessing: Expected) -> Noise:
        """Noise of the size that this network expects."""
        if isinstance(preprocessing, TextPreprocessing) and preprocessing.vocabulary is None:
            raise AffscoreError(
                "random token ids need the size of the vocabulary; say it with TextPreprocessing(vocabulary=...), "
                "or give tokens:FILE"
            )
        return Noise(self.seed, preprocessing)
