"""Whatever a caller calls data, as a stream of chunks of images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset

from affscore.errors import AffscoreError
from affscore.zoo.datasets import ImageSet, load_data
from affscore.zoo.preprocessing import Preprocessing

__all__ = ["ImageStream", "image_stream"]


@dataclass(frozen=True)
class ImageStream:
    """Images in chunks.

    Attributes:
        name: The name that results carry: a SPEC without its path, or what kind of object it was.
        chunks: Tensors (at most batch_size, ...), on the CPU.
        total: How many images the chunks hold together, or None where that is not known beforehand.
        prepared: Whether images were brought to what the network expects, here.
    """

    name: str
    chunks: Iterable[Tensor]
    total: int | None
    prepared: bool = False


def image_stream(
    data: Any, preprocessing: Preprocessing, images: int | None, n: int, batch_size: int, seed: int
) -> ImageStream:
    """A stream of images from a SPEC, a tensor or array, a Dataset or a DataLoader.

    A data set by name is brought to what the network expects, and shuffled by the seed. Objects are
    taken as they are and in their order.

    Args:
        data: SPEC, tensor or array (N, ...), map-style Dataset or DataLoader. Items of the last two may
            be tuples or dictionaries, whose first tensor is the image.
        preprocessing: What the network expects.
        images: How many images to use; None for all.
        n: How many to take where a data set has no end.
        batch_size: Images in a chunk (a DataLoader decides for itself).
        seed: Fixes the shuffle and the noise.

    Raises:
        AffscoreError: No data of these kinds, or fewer images than asked for.
    """
    if isinstance(data, str):
        data = load_data(data, seed=seed)
    if isinstance(data, ImageSet):
        chosen = data.order(images, seed, default=n)
        prepared = data if data.preprocessing else data.prepared_for(preprocessing)
        loader: Iterable[Any] = DataLoader(Subset(prepared, chosen), batch_size=batch_size)
        return ImageStream(data.name, _first_tensors(loader), len(chosen), prepared=True)
    _refuse_wrapped(data)
    if isinstance(data, DataLoader):
        total = len(data.dataset) if isinstance(data.dataset, Sized) and not data.drop_last else None
        return ImageStream(_name(data.dataset), _limited(_first_tensors(data), images), _smaller(total, images))
    if isinstance(data, (Tensor, np.ndarray)):
        tensor = _as_tensor(data).detach()
        _check_images(tensor)
        total = _enough(len(tensor), images)
        return ImageStream(type(data).__name__.lower(), tensor[:total].split(batch_size), total)
    if isinstance(data, Dataset) or (hasattr(data, "__getitem__") and hasattr(data, "__len__")):
        if isinstance(data, IterableDataset):
            return image_stream(DataLoader(data, batch_size=batch_size), preprocessing, images, n, batch_size, seed)
        total = _enough(len(cast(Sized, data)), images)
        loader = DataLoader(Subset(data, range(total)), batch_size=batch_size)
        return ImageStream(_name(data), _first_tensors(loader), total)
    raise AffscoreError(
        "data must be the name of a data set, a tensor or array (N, ...), a Dataset or a DataLoader, "
        f"got {type(data).__name__}"
    )


def _refuse_wrapped(data: Any) -> None:
    """An ImageSet inside a Subset or a DataLoader would come as it is stored, and not as the network expects it."""
    inner = data
    while isinstance(inner, (DataLoader, Subset)):
        inner = inner.dataset
    if isinstance(inner, ImageSet) and inner is not data and inner.preprocessing is None:
        raise AffscoreError(
            f"the data set {inner.name!r} is wrapped in a {type(data).__name__} and would not be prepared for the "
            "network; give load_data(...) itself, or load_data(SPEC, preprocessing)"
        )


def _first_tensors(loader: Iterable[Any]) -> Iterator[Tensor]:
    chunks = iter(loader)
    while True:
        try:
            item = next(chunks)
        except StopIteration:
            return
        except AffscoreError:
            raise
        except Exception as error:  # the data set's own, or PyTorch's of items that are no tensors or of several sizes
            message = (str(error).splitlines() or ["no message"])[0]
            raise AffscoreError(f"the data cannot be read in batches: {type(error).__name__}: {message}") from error
        values = list(item.values()) if isinstance(item, Mapping) else item
        images = next((v for v in values if isinstance(v, Tensor)), None) if isinstance(values, (list, tuple)) else item
        if not isinstance(images, Tensor):
            raise AffscoreError(f"the data must give tensors of images, got {type(item).__name__}")
        _check_images(images)
        yield images


def _as_tensor(data: Tensor | np.ndarray) -> Tensor:
    if isinstance(data, np.ndarray):
        if data.dtype.kind not in "biuf":
            raise AffscoreError(f"images must be floating point numbers, got an array of type {data.dtype}")
        data = torch.from_numpy(np.array(data))  # PyTorch takes no negative strides, and warns of read-only memory
    return data


def _limited(chunks: Iterable[Tensor], images: int | None) -> Iterator[Tensor]:
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
        raise AffscoreError(f"the data has {images - left if images else 0} images, {images} were asked for")


def _check_images(images: Tensor) -> None:
    if images.ndim < 2:
        raise AffscoreError(f"images must have shape (N, ...), got {tuple(images.shape)}")
    if not images.is_floating_point():
        raise AffscoreError(
            f"images must be floating point numbers as the network expects them, got {images.dtype}; "
            "scale and normalise them first"
        )
    # a sum is one fast pass, and finite only if every number is (or, rarely, where large numbers overflow)
    if not bool(torch.isfinite(images.sum())) and (bad := int((~torch.isfinite(images)).sum())):
        raise AffscoreError(f"the images hold {bad} NaN or infinite values; remove those images")


def _enough(available: int, images: int | None) -> int:
    if images is not None and images > available:
        raise AffscoreError(f"the data has {available} images, {images} were asked for")
    return available if images is None else images


def _smaller(total: int | None, images: int | None) -> int | None:
    return images if total is None or (images is not None and images < total) else total


def _name(data: Any) -> str:
    return data.name if isinstance(data, ImageSet) else type(data).__name__
