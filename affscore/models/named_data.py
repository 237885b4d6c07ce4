"""Data with a name: its order, its contents, and what a network expects of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset

from affscore.errors import AffscoreError
from affscore.models.card import tensor_bytes
from affscore.models.naming import near
from affscore.models.paths import file_hash
from affscore.models.preprocessing import Preprocessing
from affscore.models.text import Expected, TextPreprocessing


class UnreadableImageError(AffscoreError):
    """One image of a data set cannot be read; the others may be.

    Args:
        file: The base name of its file, and of its folder where that says more.
        reason: What is wrong with it.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"the file {file} is not a readable image ({reason})")
        self.file = file


@dataclass(eq=False, repr=False)
class NamedData(Dataset[Tensor], ABC):
    """A data set with a name. It knows how many items it has, and brings them to what a network expects.

    Attributes:
        name: The name that results carry: no path in it.
        length: Number of items; None for as many as one asks for (noise).
        preprocessing: What the network expects; None as long as nobody said, and where items are taken as they are.
        labels: The class of each item by name, or None where that is not known.
        classes: The names of all classes, in the order of the outputs of networks; sorted by default.
        notes: Notes on the data for the reader of a result, in sentences.
        files: The file of each item; None where they have none of their own.
        hashed: The files whose contents say what the items are; where there are none the items do.
    """

    items: ClassVar[str] = "images"
    """What its items are called."""

    name: str
    length: int | None
    _: KW_ONLY
    preprocessing: Expected | None = None
    labels: Sequence[str] | None = None
    classes: Sequence[str] = ()
    notes: Sequence[str] = ()
    files: Sequence[Path] | None = None
    hashed: Sequence[Path] = ()

    def __post_init__(self) -> None:
        self.classes = list(self.classes) or sorted(set(self.labels or ()))

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
        if self.hashed:
            return (bytes.fromhex(file_hash(file)) for file in self.hashed)
        items = (self[index] for index in self.order(images, seed, images))
        return (part for item in items for part in (f"{item.dtype} {tuple(item.shape)}".encode(), tensor_bytes(item)))


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


@dataclass(eq=False, repr=False)
class Samples(NamedData):
    """Numbers in memory, which go into a network as they are.

    Attributes:
        samples: The numbers, tensor (N, ...).
    """

    items: ClassVar[str] = "samples"

    samples: Tensor

    def __getitem__(self, index: int) -> Tensor:
        return self.samples[index]

    def prepared_for(self, preprocessing: Expected) -> Self:
        """The same samples."""
        if isinstance(preprocessing, TextPreprocessing):
            raise AffscoreError(f"{self.name!r} holds samples, and the network expects token ids; give tokens:FILE")
        return self


@dataclass(eq=False, repr=False)
class ImageSet(NamedData):
    """Images, which are brought to what a network expects when they are read.

    Indexing gives a tensor (C, H, W). Without a preprocessing an image comes as it is stored, with
    values in [0, 1].

    Attributes:
        read: Given an index and the preprocessing, the image. Where one image cannot be read it raises
            :class:`UnreadableImageError`, and the signature goes on with the others.

    >>> import torch
    >>> grey = ImageSet("grey", 3, lambda index, _: torch.full((1, 2, 2), index / 2), labels=["a", "b", "a"])
    >>> [float(image.mean()) for image in grey.only("a")]
    [0.0, 1.0]
    """

    read: Callable[[int, Preprocessing | None], Tensor]
    preprocessing: Preprocessing | None = field(default=None, kw_only=True)

    def __getitem__(self, index: int) -> Tensor:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.name!r} has {self.length} images")  # which ends a loop over them
        return self.read(index, self.preprocessing)

    def prepared_for(self, preprocessing: Expected) -> Self:
        """The same images for a network that expects this preprocessing."""
        if not isinstance(preprocessing, Preprocessing):
            raise AffscoreError(
                f"{self.name!r} holds images, and the network expects token ids; give text:FILE, tokens:FILE or random"
            )
        return replace(self, preprocessing=preprocessing)

    def common_size(self, indices: Iterable[int]) -> int | None:
        """The height and width of these images in pixels, if all are square and of one size; else None.

        Of files only the beginning is read; those that cannot be read do not count.
        """
        sizes = set()
        for index in indices:
            with suppress(Exception):  # which is said when the image is read
                if self.files is None:
                    sizes.add(tuple(self.read(index, None).shape[1:]))
                else:
                    with Image.open(self.files[index]) as image:
                        sizes.add(image.size)
            if len(sizes) > 1:
                return None
        height, width = sizes.pop() if sizes else (0, 1)
        return height if height == width else None

    def only(self, label: str) -> Self:
        """The images of one class, under the name ``NAME:CLASS`` (``folder:CLASS``).

        Raises:
            AffscoreError: The classes are not known, or there is none of this name.
        """
        labels, read = self.labels or (), self.read
        chosen = [index for index, found in enumerate(labels) if found == label]
        if not chosen:
            known = sorted(set(labels))
            shown = ", ".join([*known[:20], *["..."] * (len(known) > 20)]) or "none"
            raise AffscoreError(
                f"the data set {self.name!r} has no class {label!r}{near(label, known, 1)} (known: {shown})"
            )
        return replace(
            self,
            name=f"{self.name.partition(':')[0]}:{label}",
            length=len(chosen),
            read=lambda index, p: read(chosen[index], p),
            labels=[label] * len(chosen),
            files=self.files and [self.files[index] for index in chosen],
        )
