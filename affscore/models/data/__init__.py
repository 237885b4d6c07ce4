"""Data by name, and where they come from: each other module here lists its ``SOURCES``, and is found by being here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from torch import Tensor
from torch.utils.data import Dataset

from affscore.errors import AffscoreError
from affscore.models.card import tensor_bytes
from affscore.models.naming import file_hash, found_in, load_plugins, near
from affscore.models.preprocessing import IMAGENET, Expected, TextPreprocessing
from affscore.options import check_integer

PATHS = {"DIR": "a folder, as in {}:path/to/images", "FILE": "a file, as in {}:path/to/file"}
"""What stands behind the colon in SPEC, where that is a path."""


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
class NamedData(Dataset[Tensor]):
    """A data set with a name. It knows how many items it has, and brings them to what a network expects.

    Indexing gives one item, as the network expects it.

    Attributes:
        name: The name that results carry: no path in it.
        length: Number of items; None for as many as one asks for (noise).
        preprocessing: What the network expects; None as long as nobody said, and where items are taken as they are.
        labels: The class of each item by name, or None where that is not known.
        classes: The names of all classes, in the order of the outputs of networks; sorted by default.
        notes: Notes on the data for the reader of a result, in sentences.
        files: The file of each item; None where they have none of their own.
        hashed: The files whose contents say what the items are; where there are none the items do.
        items: What its items are called: "images", "samples", or "windows" of token ids.
    """

    name: str
    length: int | None
    _: KW_ONLY
    preprocessing: Expected | None = None
    labels: Sequence[str] | None = None
    classes: Sequence[str] = ()
    notes: Sequence[str] = ()
    files: Sequence[Path] | None = None
    hashed: Sequence[Path] = ()
    items: str = "images"

    def __post_init__(self) -> None:
        self.classes = list(self.classes) or sorted(set(self.labels or ()))

    def __len__(self) -> int:
        if self.length is None:
            raise AffscoreError(f"how many {self.items} {self.name!r} has depends on the network, or on what you ask")
        return self.length

    def prepared_for(self, preprocessing: Any) -> NamedData:
        """The same data for a network that expects this (:class:`affscore.models.Preprocessing`, or of token ids).

        Raises:
            AffscoreError: The network expects another kind of data.
        """
        ids = isinstance(preprocessing, TextPreprocessing)
        if ids != (self.items == "windows"):
            images = "images; an attribute preprocessing = affscore.models.TextPreprocessing(...) says token ids"
            expects = "token ids; give tokens:FILE, text:FILE or random" if ids else images
            raise AffscoreError(f"{self.name!r} holds {self.items}, and the network expects {expects}")
        return replace(self, preprocessing=preprocessing)

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
        order = self.order(images, seed, images)
        if files := self.hashed or (self.files and [self.files[index] for index in order]):
            return map(_hash_of, files)
        items = (self[index] for index in order)
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
class ImageSet(NamedData):
    """Images, which are brought to what a network expects when they are read.

    Indexing gives a tensor (C, H, W). Without a preprocessing an image comes as it is stored, with
    values in [0, 1].

    Attributes:
        read: Given an index and the preprocessing, the image. Where one image cannot be read it raises
            :class:`affscore.models.data.UnreadableImageError`, and the signature goes on with the others.

    >>> import torch
    >>> grey = ImageSet("grey", 3, lambda index, _: torch.full((1, 2, 2), index / 2), labels=["a", "b", "a"])
    >>> [float(image.mean()) for image in grey.only("a")]
    [0.0, 1.0]
    """

    read: Callable[[int, Any], Tensor]

    def __getitem__(self, index: int) -> Tensor:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.name!r} has {self.length} images")  # which ends a loop over them
        return self.read(index, self.preprocessing)

    def common_size(self, indices: Iterable[int]) -> int | None:
        """The height and width of these images in pixels, if all are square, of one size, and smaller than ImageNet's.

        Else None. Those that cannot be read do not count.
        """
        size = None
        for index in indices:
            with suppress(Exception):  # which is said when the image is read
                _, height, width = self.read(index, None).shape
                if height != width or height >= IMAGENET.size or size not in (None, height):
                    return None
                size = height
        return size

    def only(self, label: str) -> Self:
        """The images of one class, under the name ``NAME:CLASS`` (``folder:CLASS``).

        Raises:
            AffscoreError: The classes are not known, or there is none of this name.
        """
        labels, read = self.labels or (), self.read
        chosen = [index for index, found in enumerate(labels) if found == label]
        if not chosen:
            few = ", ".join(sorted(set(labels))[:20]) or "none"
            raise AffscoreError(f"{self.name!r} has no class {label!r}{near(label, labels, 1)} (known: {few})")
        name, files = f"{self.name.partition(':')[0]}:{label}", self.files and [self.files[index] for index in chosen]
        about: dict[str, Any] = {"name": name, "length": len(chosen), "labels": [label] * len(chosen), "files": files}
        return replace(self, read=lambda index, p: read(chosen[index], p), **about)


def load_data(spec: str, preprocessing: Expected | None = None, seed: int = 0) -> NamedData:
    """Data by name.

    ==================== ==========================================================================
    digits               597 held-out scans of handwritten digits, embedded
    random               standard normal noise of the network's input size, or uniform token ids;
                         as many as asked for
    cifar10, cifar100    test images; found below $AFFSCORE_DATA (~/.cache/affscore), or downloaded
    fashion-mnist        the same
    digits:3             the images of one class of the data sets above (``cifar10:cat``, ...)
    imagenet:DIR         the validation images below DIR/val, or DIR, in folders by class or not
    folder:DIR           every image below DIR; ``folder:DIR/CLASS`` for one class of them
    npz:FILE             samples in a .npz file, and perhaps their labels: images, or numbers as they are
    text:FILE            a text in UTF-8, tokenized as the network says and cut into windows of 128
                         tokens (or fewer, where the network takes fewer)
    text:FILE@TOKENIZER  the same with a tokenizer.json, or the folder that holds it
    tokens:FILE          token ids (N, length) in a .npy, .safetensors or .pt file
    ...                  and whatever another module of ``affscore.models.data`` brings; an unknown name
                         lists all
    ==================== ==========================================================================

    Images that cannot be read are left out of a signature, counted and named in its notes, and the next
    ones in the shuffled order take their places.

    Args:
        spec: One of the names above.
        preprocessing: What the network expects (:class:`affscore.models.Preprocessing` or
            :class:`affscore.models.TextPreprocessing`); a network's own is used when the data set is given to
            :func:`affscore.signature` without one.
        seed: Fixes the noise of ``random``.

    Returns:
        The data, as a map-style data set of tensors: images (C, H, W), or windows of token ids (length,).

    Raises:
        AffscoreError: An unknown name, a folder without images, data that is neither here nor can
            be downloaded, or data of another kind than the network expects.

    >>> load_data("digits")[0].shape, len(load_data("digits")), len(load_data("digits:3"))
    (torch.Size([1, 8, 8]), 597, 61)
    """
    seed = check_integer("seed", seed, 0)
    name, colon, argument = spec.partition(":")
    source = next((source for source in _sources() if source.name == name), None)
    if source is None:
        load_plugins(name)
        source = registered_data.get(name)
    if source is None or (colon and not source.takes):
        raise _unknown(spec)
    if source.takes in PATHS and not argument:
        raise AffscoreError(f"{name}: needs {PATHS[source.takes].format(name)}")
    data: Any = source.load(argument, seed)
    if source.takes == "CLASS" and colon:
        data = data.only(argument)
    return data if preprocessing is None else data.prepared_for(preprocessing)


def identity_of_data(spec: str, images: int | None, n: int, seed: int) -> dict[str, Any]:
    """What makes a data set by name another one, in the types that JSON knows and without a path.

    That is its name, how many images it has and how many of them are used, and the SHA-256 of those, in the
    order in which they are used: of files their bytes, else their pixels. So a folder of the same name
    with the same images is the same data set wherever it lies, and no other image of it is read. (One that takes the
    place of a file that is no readable image does not count.)

    Args:
        spec: SPEC (:func:`affscore.load_data`).
        images: How many images are used; None for all.
        n: Images in a batch: how many are used of a data set without end.
        seed: Fixes which images are used, in which order.

    Raises:
        AffscoreError: As :func:`affscore.load_data`; fewer images than asked for.

    >>> about = identity_of_data("digits", 64, 32, 0)
    >>> about["data"], about["of"], about["images"], len(about["content"])
    ('digits', 597, 64, 64)
    """
    data = load_data(spec, seed=seed)
    used = len(data.order(images, seed, default=n))
    about: dict[str, Any] = {"data": data.name, "of": data.length, "images": used}
    if (content := data.content(used, seed)) is not None:
        digest = hashlib.sha256()
        for part in content:
            digest.update(part)
        about["content"] = digest.hexdigest()
    return about


def _hash_of(file: Path) -> bytes:
    # a link may lead to nothing
    return _hash_of_state(file, file.stat().st_size, file.stat().st_ctime_ns) if file.is_file() else b"missing"


@lru_cache(maxsize=100_000)
def _hash_of_state(file: Path, size: int, changed: int) -> bytes:
    """A survey asks once for each network, and a file that was not touched is what it was."""
    return bytes.fromhex(file_hash(file))


registered_data: dict[str, DataSource] = {}
"""What other packages have registered, by its name."""


def register_data(source: DataSource) -> None:
    """Make the data of another package known by name, as SPEC.

    An entry point of the group ``affscore.sources`` that has this name may name the module that does it: it is imported
    when data of this name are asked for.

    Args:
        source: Where data of a name come from.
    """
    registered_data[source.name] = source


def _sources() -> Iterator[DataSource]:
    return chain(chain.from_iterable(found_in(__name__, "SOURCES")), registered_data.values())


def _unknown(spec: str) -> AffscoreError:
    """The error for a name that no source has, with what may have been meant."""
    sources = list(_sources())
    hint = near(spec.partition(":")[0], [source.name for source in sources], 1)
    if os.path.exists(spec):  # noqa: PTH110  # Path.exists raises where a name is too long
        hint = "; write folder: in front of a folder of images, text: of a text, tokens: of token ids"
    forms = [f"{one.name}:{one.takes}" if one.takes in PATHS else one.name for one in sources]
    return AffscoreError(f"unknown data set {spec!r}{hint} (known: {', '.join(forms)}, and NAME:CLASS for one class)")
