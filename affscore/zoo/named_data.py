"""Data with a name: its order, its contents, and what a network expects of it."""

from __future__ import annotations

import copy
import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset

from affscore.errors import AffscoreError
from affscore.zoo.preprocessing import Preprocessing
from affscore.zoo.state_dicts import tensor_bytes
from affscore.zoo.text import Expected

__all__ = ["DataSource", "ImageSet", "NamedData", "UnreadableImageError"]


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
        preprocessing: What the network expects; None as long as nobody said, and where items are taken as they are.
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
        files: Sequence[Path] | None = None,
    ) -> None:
        self.name = name
        self.length = length
        self.preprocessing = preprocessing
        self.labels = labels
        self.classes = sorted(set(labels or ()))
        self.notes = list(notes)
        self.files = files

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

    def content(self, images: int, seed: int) -> Iterator[bytes | memoryview] | None:
        """What distinguishes its items from those of other data of the same name and length, for hashing.

        None where the seed makes them.

        Args:
            images: How many items are used, in the order that the seed fixes.
            seed: Fixes the order.
        """
        items = (self[index] for index in self.order(images, seed, images))
        return (part for item in items for part in (f"{item.dtype} {tuple(item.shape)}".encode(), tensor_bytes(item)))

    def changed(self, **changes: Any) -> Self:
        """The same data, with other attributes."""
        made = copy.copy(self)
        vars(made).update(changes)
        return made


@dataclass(frozen=True)
class DataSource:
    """Where data of a name come from.

    Attributes:
        name: SPEC, or what stands in front of its colon.
        takes: What stands behind the colon: a path ("DIR", "FILE"), the name of one of its classes, or nothing.
        load: Given what stands behind the colon (of a class nothing) and the seed, the data.
    """

    name: str
    takes: Literal["DIR", "FILE", "CLASS", ""]
    load: Callable[[str, int], NamedData]


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

    >>> import torch
    >>> grey = ImageSet("grey", 3, lambda index, _: torch.full((1, 2, 2), index / 2), labels=["a", "b", "a"])
    >>> [float(image.mean()) for image in grey.only("a")]
    [0.0, 1.0]
    """

    preprocessing: Preprocessing | None

    def __init__(
        self,
        name: str,
        length: int,
        read: Callable[[int, Preprocessing | None], Tensor],
        preprocessing: Preprocessing | None = None,
        labels: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        files: Sequence[Path] | None = None,
        classes: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, length, preprocessing, labels, notes, files)
        self.classes = list(classes or self.classes)
        self._read = read

    def __getitem__(self, index: int) -> Tensor:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.name!r} has {self.length} images")  # which ends a loop over them
        return self._read(index, self.preprocessing)

    def prepared_for(self, preprocessing: Expected) -> Self:
        """The same images for a network that expects this preprocessing."""
        if not isinstance(preprocessing, Preprocessing):
            raise AffscoreError(
                f"{self.name!r} holds images, and the network expects token ids; give text:FILE, tokens:FILE or random"
            )
        return self.changed(preprocessing=preprocessing)

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

    def only(self, label: str) -> Self:
        """The images of one class, under the name ``NAME:CLASS`` (``folder:CLASS``).

        Raises:
            AffscoreError: The classes are not known, or there is none of this name.
        """
        labels, read = self.labels or (), self._read
        chosen = [index for index, found in enumerate(labels) if found == label]
        if not chosen:
            known = sorted(set(labels))
            near = difflib.get_close_matches(label, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            shown = ", ".join([*known[:20], *["..."] * (len(known) > 20)]) or "none"
            raise AffscoreError(f"the data set {self.name!r} has no class {label!r}{hint} (known: {shown})")
        return self.changed(
            name=f"{self.name.partition(':')[0]}:{label}",
            length=len(chosen),
            _read=lambda index, p: read(chosen[index], p),
            labels=[label] * len(chosen),
            files=self.files and [self.files[index] for index in chosen],
        )
