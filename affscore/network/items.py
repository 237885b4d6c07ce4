"""What a data set, a loader or a table gives, as inputs of the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import default_collate

from affscore.errors import AffscoreError, guarded
from affscore.network.feeding import Feeding
from affscore.network.inputs import Inputs, check_inputs
from affscore.zoo.preprocessing import Preprocessing, assumed_preprocessing
from affscore.zoo.text import Expected, TextPreprocessing

_END = object()


class Pictures:
    """Puts items of a data set into a batch; pictures are brought to what the network expects.

    Args:
        expected: What the network expects.
        known: Whether the network says so; else it is taken to expect the size of the first picture.

    Attributes:
        sizes: The sizes of the pictures so far.

    >>> images, labels = Pictures(Preprocessing(size=8, resize=8))([(Image.new("L", (5, 5)), 3)] * 2)
    >>> images.shape, labels
    (torch.Size([2, 3, 8, 8]), tensor([3, 3]))
    """

    def __init__(self, expected: Expected, known: bool = True) -> None:
        self.expected = expected
        self.known = known
        self.sizes: set[tuple[int, int]] = set()

    def __call__(self, items: list[Any]) -> Any:
        """The batch."""
        return default_collate([self._prepared(item) for item in items])

    def _prepared(self, item: Any) -> Any:
        if isinstance(item, Image.Image):
            if not isinstance(self.expected, Preprocessing):
                raise AffscoreError("the network expects token ids, and the data holds pictures")
            if not self.known and not self.sizes:
                self.expected = assumed_preprocessing(item.width if item.width == item.height else None)
            self.sizes.add(item.size)
            return self.expected(item)
        if isinstance(item, Mapping):
            return {name: self._prepared(value) for name, value in item.items()}
        if isinstance(item, (tuple, list)) and any(isinstance(value, Image.Image) for value in item):
            return [self._prepared(value) for value in item]
        return item


def is_table(data: Any) -> bool:
    """Whether these are lists of numbers in a list, and not a list of samples."""

    def numbers(row: Any) -> bool:
        return isinstance(row, Number) or (isinstance(row, (list, tuple)) and len(row) > 0 and all(map(numbers, row)))

    return isinstance(data, list) and len(data) > 0 and isinstance(data[0], (list, tuple)) and numbers(data[0])


def as_tensors(data: Any) -> Any:
    """Tensors for arrays and tables, in a dictionary or a tuple too."""
    if isinstance(data, Mapping):
        return {name: as_tensors(value) for name, value in data.items()}
    if isinstance(data, tuple):
        return tuple(as_tensors(value) for value in data)
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


def inputs_of(loader: Iterable[Any], expected: Expected, feeding: Feeding) -> Iterator[Inputs]:
    """What goes into the network, batch by batch of a loader of tensors, or tuples or dictionaries of tensors."""
    what = "the data cannot be read in batches"  # the data set's own errors, or PyTorch's of items of several sizes
    items = guarded(lambda: iter(loader), what)
    while (item := guarded(lambda: next(items, _END), what)) is not _END:
        mask = item.get("attention_mask") if isinstance(item, Mapping) else None
        if isinstance(expected, TextPreprocessing) and isinstance(mask, Tensor) and not bool(mask.bool().all()):
            raise AffscoreError(
                "the data marks padding (attention_mask), which the network would take for text; "
                "give windows of the same length without padding"
            )
        yield check_inputs(feeding(item), expected)
