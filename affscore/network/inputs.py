"""What goes into a network: what a data set, a loader or a table gives, as batches of one input or several.

The inputs of a batch are cut, moved and checked together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import default_collate

from affscore.errors import AffscoreError, guarded
from affscore.models.preprocessing import Preprocessing, assumed_preprocessing
from affscore.models.text import Expected, TextPreprocessing, check_token_ids
from affscore.network.padding import tokens_of_text, unread_masks
from affscore.options import MASK
from affscore.recorder.dataflow import mapped, tensors_in
from affscore.transport.plain import check_plain

Forward = Callable[[nn.Module, Any], Any]

_END = object()


@dataclass(eq=False)
class Inputs:
    """What goes into a network for some samples; the first axis of every tensor counts these.

    Args:
        batch: Positional and keyword arguments of the network, or whatever ``forward`` takes.
        forward: ``forward(network, batch)`` runs the network; None for ``network(*batch[0], **batch[1])``.
        labels: The class of each sample, tensor (N,) of integers, where the data has it.
        source: Which entry of the data was taken, where no name said so.
        text: Which tokens are of the text, tensor (N, length) of booleans, where others are padding.
        doubt: A sentence on padding that may count; empty where there is none.

    >>> inputs = Inputs(((torch.zeros(4, 3),), {"mask": torch.ones(4, 2)}))
    >>> len(inputs), inputs[1:3].form
    (4, '(3,) torch.float32, (2,) torch.float32')
    """

    batch: Any
    forward: Forward | None = None
    labels: Tensor | None = None
    source: str = ""
    text: Tensor | None = None
    doubt: str = ""

    @cached_property
    def tensors(self) -> list[Tensor]:
        """All tensors of the batch."""
        return tensors_in(self.batch)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, part: slice | list[int]) -> Inputs:
        labels, text = (None if one is None else one[part] for one in (self.labels, self.text))
        text = None if text is None or bool(text.all()) else text
        return replace(self.each(lambda tensor: tensor[part]), labels=labels, text=text)

    def each(self, function: Callable[[Tensor], Tensor]) -> Inputs:
        """The same samples, with this function of every tensor in its place."""
        return replace(self, batch=mapped(self.batch, function))

    def through(self, network: nn.Module) -> Any:
        """The network's output. An encoder with a decoder reads the same token ids in both."""
        if self.forward is not None:
            return self.forward(network, self.batch)
        arguments, named = self.batch
        if "input_ids" in named and has_decoder(network):
            named = {"decoder_input_ids": named["input_ids"], **named}
        return network(*arguments, **named)

    @property
    def numbers(self) -> Tensor:
        """All numbers, sample after sample, for a fingerprint: the input, or the bytes of several side by side."""
        if len(self.tensors) == 1:
            return self.tensors[0]
        return torch.cat([t.contiguous().view(len(t), -1).view(torch.uint8) for t in self.tensors], dim=1)

    @property
    def form(self) -> str:
        """Shape and type of the tensors of one sample."""
        return ", ".join(f"{tuple(tensor.shape[1:])} {tensor.dtype}" for tensor in self.tensors)

    @property
    def items(self) -> str:
        """What the samples are called: images where the input is (N, C, H, W)."""
        return "images" if len(self.tensors) == 1 and self.tensors[0].ndim == 4 else "samples"

    def __str__(self) -> str:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in self.tensors)
        source = f", from {self.source}" if self.source else ""
        return f"{self.items} of shape {shapes}{source}" if len(self.tensors) == 1 else f"inputs of shapes {shapes}"


def joined(parts: Sequence[Inputs]) -> Inputs:
    """The samples of several batches as one, without their labels and with their padding.

    Raises:
        AffscoreError: They have several sizes.
    """
    tensors = zip(*(part.tensors for part in parts), strict=True)
    whole = guarded(lambda: parts[0].each(lambda _: torch.cat(next(tensors))), "the samples have several sizes")
    return replace(whole, labels=None, text=None)


def has_decoder(network: nn.Module) -> bool:
    """Whether this is an encoder with a decoder, as transformers say it."""
    return bool(getattr(getattr(network, "config", None), "is_encoder_decoder", False))


def check_inputs(inputs: Inputs, expected: Expected) -> Inputs:
    """The inputs, if a network that expects this can be fed with them.

    Args:
        inputs: Images (N, ...), or token ids (N, length). Of several inputs, or where the caller's function
            feeds them, any tensors (N, ...) of real numbers, integers or booleans.
        expected: What the network expects.

    Returns:
        The inputs; token ids as int64.

    Raises:
        AffscoreError: Another shape or type, NaN or infinity, or ids outside the vocabulary.
    """
    named = inputs.batch[1] if inputs.forward is None else {}
    embedded = bool(named) and "input_ids" not in named and inputs.tensors[0].is_floating_point()
    if len(inputs.tensors) == 1 and inputs.forward is None and not embedded:
        return inputs.each(lambda images: _check_images(images, expected))
    for tensor in inputs.tensors:
        check_plain(tensor)
        _check_finite(tensor)
    lengths = {tuple(tensor.shape[:1]) for tensor in inputs.tensors}
    if len(lengths) > 1 or () in lengths:
        raise AffscoreError(f"every input needs the samples along its first axis, as many of each; got {inputs}")
    if isinstance(expected, TextPreprocessing) and inputs.forward is None and "input_ids" in inputs.batch[1]:
        check_token_ids(inputs.batch[1]["input_ids"], expected)
    return inputs


def _check_images(images: Tensor, expected: Expected) -> Tensor:
    if isinstance(expected, TextPreprocessing):
        check_token_ids(images, expected)
        return images.long()
    check_plain(images)
    if images.ndim < 2:
        raise AffscoreError(
            f"samples must have shape (N, ...), got {tuple(images.shape)}: of one number a sample it is (N, 1); a "
            "sample x alone is x[None], and a score needs many"
        )
    if not images.is_floating_point() or images.element_size() < 2:  # PyTorch stores in 8 bits, and computes nothing
        advice = "scale and normalise them first"
        if images.ndim == 2 and images.dtype in (torch.int64, torch.int32):
            advice += (
                ", or .astype(float) where they are plain numbers, or give a network of token ids an attribute "
                "preprocessing = affscore.models.TextPreprocessing(...)"
            )
        raise AffscoreError(
            f"the data must be floating point numbers as the network expects them, got {images.dtype}; {advice}"
        )
    _check_finite(images)
    return images


def _check_finite(tensor: Tensor) -> None:
    # a sum is one fast pass, and finite only if every number is (or, rarely, where large numbers overflow)
    if not bool(torch.isfinite(tensor.sum())) and (bad := int((~torch.isfinite(tensor)).sum())):
        raise AffscoreError(f"the data holds {bad} NaN or infinite values; remove those samples")


class Pictures:
    """Puts items of a data set into a batch; pictures are brought to what the network expects.

    Args:
        expected: What the network expects.
        known: Whether the network says so; else it is taken to expect the size of the first picture.
        size: Or this size.

    Attributes:
        sizes: The sizes of the pictures so far.

    >>> images, labels = Pictures(Preprocessing(size=8, resize=8))([(Image.new("L", (5, 5)), 3)] * 2)
    >>> images.shape, labels
    (torch.Size([2, 3, 8, 8]), tensor([3, 3]))
    """

    def __init__(self, expected: Expected, known: bool = True, size: int | None = None) -> None:
        self.expected, self.known, self.size = expected, known, size
        self.sizes: set[tuple[int, int]] = set()

    def __call__(self, items: list[Any]) -> Any:
        """The batch."""
        return default_collate([self._prepared(item) for item in items])

    def _prepared(self, item: Any) -> Any:
        if isinstance(item, Image.Image):
            if not isinstance(self.expected, Preprocessing):
                raise AffscoreError("the network expects token ids, and the data holds pictures")
            if not self.known and not self.sizes:
                self.expected = assumed_preprocessing(item.width if item.width == item.height else None, self.size)
            self.sizes.add(item.size)
            return self.expected(item)
        if isinstance(item, Mapping):
            return {name: self._prepared(value) for name, value in item.items()}
        if isinstance(item, (tuple, list)) and any(isinstance(value, Image.Image) for value in item):
            return [self._prepared(value) for value in item]
        check_plain(item)  # before they are put into a batch, which drops masks
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
    check_plain(data)
    if isinstance(data, Tensor):
        return data.detach()
    if isinstance(data, pd.DataFrame):
        numeric = pd.api.types.is_numeric_dtype
        if others := [str(name) for name, kind in data.dtypes.items() if not numeric(kind) or kind.kind == "c"]:
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


def inputs_of(
    loader: Iterable[Any], expected: Expected, feeding: Callable[[Any], Inputs], mask: str | None = MASK
) -> Iterator[Inputs]:
    """What goes into the network, batch by batch of a loader of tensors, or tuples or dictionaries of tensors."""
    what = "the data cannot be read in batches"  # the data set's own errors, or PyTorch's of items of several sizes
    items = guarded(lambda: iter(loader), what)
    while (item := guarded(lambda: next(items, _END), what)) is not _END:
        inputs = feeding(item)
        entries = inputs.batch if inputs.forward is not None else inputs.batch[1]
        inputs.text, inputs.doubt = tokens_of_text(entries, item, mask), unread_masks(entries, mask)
        yield check_inputs(inputs, expected)
