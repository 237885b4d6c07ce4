"""Whatever a caller calls data, as a stream of chunks of images, or of windows of token ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import islice
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset

from affscore.errors import AffscoreError
from affscore.network.feeding import Feeding
from affscore.network.inputs import Inputs
from affscore.network.items import Pictures, inputs_of
from affscore.zoo.datasets import load_data
from affscore.zoo.named_data import ImageSet, NamedData, UnreadableImageError
from affscore.zoo.preprocessing import assumed_preprocessing
from affscore.zoo.text import Expected, TextPreprocessing

__all__ = ["ImageStream", "image_stream"]

NAMED_AT_MOST = 5
"""How many unreadable images a note names."""


@dataclass
class ImageStream:
    """Images in chunks; for a network of token ids, windows of them.

    Attributes:
        name: The name that results carry: a SPEC without its path, or what kind of object it was.
        chunks: What goes into the network for at most batch_size images at a time, on the CPU.
        total: How many images the chunks hold together, or None where that is not known beforehand;
            fewer, where images cannot be read and there are no others.
        preprocessing: What images were brought to, here; None where they are taken as they are.
        notes: What the reader should be told; complete when the chunks have been read.
        assumed: Whether that was assumed, since the network does not say it.
        classes: The names of the classes that labels stand for; None where these are numbers only.
    """

    name: str
    chunks: Iterable[Inputs]
    total: int | None
    preprocessing: Expected | None = None
    notes: list[str] = field(default_factory=list)
    assumed: bool = False
    classes: Sequence[str] | None = None

    @property
    def prepared(self) -> bool:
        """Whether images were brought to what the network expects, here."""
        return self.preprocessing is not None


def image_stream(
    data: Any,
    preprocessing: Expected,
    images: int | None,
    n: int,
    batch_size: int,
    seed: int,
    feeding: Feeding | None = None,
    known: bool = True,
) -> ImageStream:
    """A stream of images from a SPEC, tensors, arrays, a table, a Dataset or a DataLoader.

    A data set by name is brought to what the network expects, and shuffled by the seed; images of it that
    cannot be read are left out, the next ones take their places, and a note names them. Objects are taken
    as they are and in their order; only pictures (of Pillow) in a Dataset are brought to what the network
    expects.

    Args:
        data: SPEC, tensor or array (N, ...), a tuple or dictionary of these, a table (DataFrame, list of
            lists), a Dataset or a DataLoader. Items of the last two may be tuples or dictionaries.
        preprocessing: What the network expects.
        images: How many images to use; None for all.
        n: How many to take where a data set has no end.
        batch_size: Images in a chunk (a DataLoader decides for itself).
        seed: Fixes the shuffle and the noise.
        feeding: Which entries of the data go into the network; None for a network of one input.
        known: Whether the network says what it expects; else images keep the size that they all have, where
            that is smaller (:func:`affscore.zoo.preprocessing.assumed_preprocessing`).

    Raises:
        AffscoreError: No data of these kinds, another kind than the network expects, or fewer images than
            asked for.
    """
    if isinstance(data, str):
        data = load_data(data, seed=seed)
    feeding = feeding or Feeding(nn.Identity())
    if isinstance(data, NamedData):
        return _named(data, preprocessing, images, n, batch_size, seed, feeding, known)
    _refuse_wrapped(data)
    if isinstance(data, DataLoader):
        total = _length(data.dataset) if isinstance(data.dataset, Sized) and not data.drop_last else None
        chunks = _limited(inputs_of(data, preprocessing, feeding), images)
        total = _smaller(total, images)
        return ImageStream(_name(data.dataset), chunks, total, notes=feeding.notes, classes=_classes(data))
    if isinstance(data, (Tensor, np.ndarray, pd.DataFrame, pd.Series, tuple, Mapping)) or _is_table(data):
        tensors = _as_tensors(data)
        if _is_table(data) and not isinstance(preprocessing, TextPreprocessing):
            tensors = tensors.double()  # numbers, as those of a DataFrame
        (inputs,) = inputs_of([tensors], preprocessing, feeding)
        total = _enough(len(inputs), images)
        parts = (inputs[start : min(start + batch_size, total)] for start in range(0, total, batch_size))
        return ImageStream(type(data).__name__.lower(), parts, total, notes=feeding.notes)
    if isinstance(data, Dataset) or (hasattr(data, "__getitem__") and hasattr(data, "__len__")):
        pictures = Pictures(preprocessing, known)
        if isinstance(data, IterableDataset):
            loader: DataLoader[Any] = DataLoader(data, batch_size=batch_size, collate_fn=pictures)
            total = _smaller(_length(data) if isinstance(data, Sized) else None, images)
            chunks = _limited(inputs_of(loader, preprocessing, feeding), images)
        else:
            total = _enough(_length(data), images)
            loader = DataLoader(Subset(data, range(total)), batch_size=batch_size, collate_fn=pictures)
            chunks = inputs_of(loader, preprocessing, feeding)
        stream = ImageStream(_name(data), chunks, total, notes=feeding.notes, classes=_classes(data))
        stream.chunks = _noting_pictures(stream, chunks, pictures)
        return stream
    raise AffscoreError(
        "data must be the name of a data set, a tensor or array (N, ...), a tuple or dictionary of these, a table, "
        f"a Dataset or a DataLoader, got {type(data).__name__}"
        + (f"; for a folder of images give the text 'folder:{data}'" if isinstance(data, os.PathLike) else "")
    )


def _named(
    data: NamedData,
    preprocessing: Expected,
    images: int | None,
    n: int,
    batch_size: int,
    seed: int,
    feeding: Feeding,
    known: bool,
) -> ImageStream:
    chosen = data.order(images, seed, default=n)
    assumed = data.preprocessing is None and not known
    if assumed:
        preprocessing = assumed_preprocessing(data.common_size(chosen) if isinstance(data, ImageSet) else None)
    prepared = data.prepared_for(data.preprocessing or preprocessing)
    candidates = prepared.order(None, seed, default=len(chosen))  # begins with the chosen ones
    stream = ImageStream(data.name, (), len(chosen), prepared.preprocessing, list(prepared.notes), assumed)
    used: list[int] = []
    read = _readable(prepared, candidates, len(chosen), batch_size, stream.notes, used)
    stream.chunks = inputs_of(read, preprocessing, feeding)
    if data.labels is not None:
        stream.classes = data.classes
        numbers = {name: number for number, name in enumerate(data.classes)}
        stream.chunks = _labelled(stream.chunks, [numbers[label] for label in data.labels], used)
    return stream


def _labelled(chunks: Iterable[Inputs], labels: Sequence[int], used: Sequence[int]) -> Iterator[Inputs]:
    """The same chunks, with the labels of the images that were used for them."""
    for chunk in chunks:
        chunk.labels = torch.tensor([labels[index] for index in used[-len(chunk) :]])
        yield chunk


def _readable(
    data: NamedData, candidates: Sequence[int], wanted: int, batch_size: int, notes: list[str], used: list[int]
) -> Iterator[Tensor]:
    """The first images of these that can be read, as many as are wanted, and which these are."""
    unreadable: list[UnreadableImageError] = []

    def read() -> Iterator[Tensor]:
        for index in candidates:
            try:
                image = data[index]
            except UnreadableImageError as error:
                unreadable.append(error)
            else:
                used.append(index)
                yield image

    left = wanted
    for chunk in _batches(read(), wanted, batch_size):
        left -= len(chunk)
        yield chunk
    if not unreadable:
        return
    if left == wanted:
        raise AffscoreError(f"none of the {len(unreadable)} images of {data.name} can be read; {unreadable[0]}")
    named = ", ".join(error.file for error in unreadable[:NAMED_AT_MOST])
    more = f" and {len(unreadable) - NAMED_AT_MOST} more" if len(unreadable) > NAMED_AT_MOST else ""
    rest = f"{wanted - left} images are left of the {wanted}" if left else "the next ones took their places"
    notes.append(
        f"{len(unreadable)} image{'s' if len(unreadable) > 1 else ''} of {data.name} could not be read: "
        f"{named}{more}; {rest}"
    )


def _batches(images: Iterator[Tensor], wanted: int, batch_size: int) -> Iterator[Tensor]:
    for start in range(0, wanted, batch_size):
        batch = list(islice(images, min(batch_size, wanted - start)))
        if batch:  # else there were no others in the place of unreadable ones
            yield torch.stack(batch)


def _noting_pictures(stream: ImageStream, chunks: Iterable[Inputs], pictures: Pictures) -> Iterator[Inputs]:
    """The same chunks; the stream says as soon as it is known that it was pictures, which were prepared."""
    for chunk in chunks:
        if pictures.sizes:
            stream.preprocessing = pictures.expected
            stream.assumed = not pictures.known
        yield chunk
    if stream.assumed and len(pictures.sizes) > 1:
        stream.notes.append("the pictures have several sizes, and the first one decided to which all were brought")


def _refuse_wrapped(data: Any) -> None:
    """A named data set inside a Subset or a DataLoader would come as it is stored, not as the network expects it."""
    inner = data
    while isinstance(inner, (DataLoader, Subset)):
        inner = inner.dataset
    if isinstance(inner, NamedData) and inner is not data and inner.preprocessing is None:
        raise AffscoreError(
            f"the data set {inner.name!r} is wrapped in a {type(data).__name__} and would not be prepared for the "
            "network; give load_data(...) itself, or load_data(SPEC, preprocessing)"
        )


def _is_table(data: Any) -> bool:
    """Whether these are lists of numbers in a list, and not a list of samples."""

    def numbers(row: Any) -> bool:
        return isinstance(row, Number) or (isinstance(row, (list, tuple)) and len(row) > 0 and all(map(numbers, row)))

    return isinstance(data, list) and len(data) > 0 and isinstance(data[0], (list, tuple)) and numbers(data[0])


def _as_tensors(data: Any) -> Any:
    """Tensors for arrays and tables, in a dictionary or a tuple too."""
    if isinstance(data, Mapping):
        return {name: _as_tensors(value) for name, value in data.items()}
    if isinstance(data, tuple):
        return tuple(_as_tensors(value) for value in data)
    if isinstance(data, Tensor):
        return data.detach()
    if isinstance(data, pd.DataFrame):
        if others := [str(name) for name, kind in data.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]:
            raise AffscoreError(f"the columns of a table must be numbers, {', '.join(others)} are not; leave them out")
        data = data.to_numpy(np.float64, na_value=np.nan)
    if not isinstance(data, (np.ndarray, pd.Series, list)):
        raise AffscoreError(
            f"data in a tuple or dictionary must be tensors, arrays or tables (N, ...), got {type(data).__name__}; "
            "a data set of samples is a list"
        )
    try:
        array = np.array(data, order="C")  # a copy: PyTorch takes no negative strides, and warns of read-only memory
    except ValueError as error:
        raise AffscoreError(f"the rows of a table must have the same length ({error})") from error
    if array.dtype.kind not in "biuf":
        raise AffscoreError(f"the data must be floating point numbers, got an array of type {array.dtype}")
    return torch.from_numpy(array)


def _limited(chunks: Iterable[Inputs], images: int | None) -> Iterator[Inputs]:
    left = images
    for chunk in chunks:
        if left is None:
            yield chunk
            continue
        if left <= 0:
            return
        yield chunk[:left]
        left -= len(chunk)
    if left is not None and left > 0:
        raise AffscoreError(f"the data has {images - left if images else 0} samples, {images} were asked for")


def _length(data: Any) -> int:
    try:
        return len(data)
    except Exception as error:  # the data set's own
        raise AffscoreError(f"the data does not say how long it is: {type(error).__name__}: {error}") from error


def _enough(available: int, images: int | None) -> int:
    if images is not None and images > available:
        raise AffscoreError(f"the data has {available} samples, {images} were asked for")
    return available if images is None else images


def _smaller(total: int | None, images: int | None) -> int | None:
    return images if total is None or (images is not None and images < total) else total


def _classes(data: Any) -> list[str] | None:
    """The names of the classes, where a data set has them as those of torchvision do."""
    while isinstance(data, (DataLoader, Subset)):
        data = data.dataset
    classes = getattr(data, "classes", None)
    named = isinstance(classes, (list, tuple)) and all(isinstance(name, str) for name in classes)
    return list(classes) if named and classes else None


def _name(data: Any) -> str:
    return data.name if isinstance(data, NamedData) else type(data).__name__
