"""From a batch of the data to what goes into a network: tensors, checked, and which of their tokens are padding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import default_collate

from affscore.errors import AffscoreError, form_of, guarded
from affscore.models.preprocessing import (
    Expected,
    Preprocessing,
    TextPreprocessing,
    assumed_preprocessing,
    check_token_ids,
)
from affscore.network.inputs import Feeding, Inputs
from affscore.options import MASK
from affscore.recorder.dataflow import mapped
from affscore.transport.samples import check_plain

PADDING = "the padding that the data marks counts for no reduction and no criterion"

_ADVICE = "give windows of the same length without padding"


def inputs_of(loader: Iterable[Any], expected: Expected, feeding: Feeding, mask: str | None) -> Iterator[Inputs]:
    """What goes into the network, batch by batch of a loader of tensors, or tuples or dictionaries of tensors."""
    what = "the data cannot be read in batches"  # the data set's own errors, or PyTorch's of items of several sizes
    items = guarded(lambda: iter(loader), what)
    while (item := guarded(lambda: next(items, None), what)) is not None:
        inputs = feeding(item)
        entries = inputs.batch if inputs.forward is not None else inputs.batch[1]
        inputs.text, inputs.doubt = tokens_of_text(entries, item, mask), unread_masks(entries, mask)
        yield check_inputs(inputs, expected)


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
    tensors, named = inputs.tensors, inputs.batch[1] if inputs.forward is None else {}
    embedded = bool(named) and "input_ids" not in named and tensors[0].is_floating_point()
    if len(tensors) == 1 and inputs.forward is None and not embedded:
        inputs = replace(inputs, batch=mapped(inputs.batch, lambda images: _check_images(images, expected)))
    elif len({tensor.shape[:1] for tensor in tensors}) > 1 or not tensors[0].ndim:
        raise AffscoreError(f"every input needs the samples along its first axis, as many of each; got {inputs}")
    elif isinstance(expected, TextPreprocessing) and "input_ids" in named:
        check_token_ids(named["input_ids"], expected)
    for tensor in tensors:
        check_plain(tensor)
        # a sum is one fast pass, and finite only if every number is (or, rarely, where large numbers overflow)
        if not bool(torch.isfinite(tensor.sum())) and (bad := int((~torch.isfinite(tensor)).sum())):
            raise AffscoreError(f"the data holds {bad} NaN or infinite values; remove those samples")
    return inputs


def _check_images(images: Tensor, expected: Expected) -> Tensor:
    if isinstance(expected, TextPreprocessing):
        check_token_ids(images, expected)
        return images.long()
    if images.ndim < 2:
        advice = "of one number a sample it is (N, 1), and a sample x alone is x[None]"
        raise AffscoreError(f"samples must have shape (N, ...), got {tuple(images.shape)}: {advice}")
    if not images.is_floating_point() or images.element_size() < 2:  # PyTorch stores in 8 bits, and computes nothing
        wrong = f"samples must be floating point numbers scaled and normalised for the network, got {images.dtype}"
        advice = "give a network of token ids an attribute preprocessing = affscore.models.TextPreprocessing(...)"
        ids = images.ndim == 2 and images.dtype in (torch.int64, torch.int32)
        raise AffscoreError(f"{wrong}; or {advice}" if ids else wrong)
    return images


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
    # a copy: PyTorch takes no negative strides, and warns of read-only memory
    array = guarded(lambda: np.array(data, order="C"), "the rows of a table must have the same length")
    if array.dtype.kind not in "biuf":
        raise AffscoreError(f"the data must be numbers, got {type(data).__name__} of type {array.dtype}")
    return torch.from_numpy(array)


def tokens_of_text(entries: Any, unused: Any, name: str | None = MASK) -> Tensor | None:
    """Which tokens are of the text, tensor (N, length) of booleans; None where all are.

    Args:
        entries: What goes into the network, by name.
        unused: All entries of the data.
        name: Which entry is the mask: its ones are text, or padding where its name has "pad" in it, as
            ``key_padding_mask`` in PyTorch. None for no entry.

    Raises:
        AffscoreError: The data has padding, and the mask does not go into the network, or its decoder has other tokens;
            a sample is all padding; the mask is no tensor (N, length) of zeros and ones; or there is none of this name.

    >>> tokens_of_text({"attention_mask": torch.tensor([[1, 1], [1, 0]])}, {})
    tensor([[ True,  True],
            [ True, False]])
    >>> tokens_of_text({"pad_mask": torch.tensor([[0, 1]])}, {}, "pad_mask")
    tensor([[ True, False]])
    """
    if name is None:
        return None
    ones, zeros = ("padding", "text") if "pad" in name.lower() else ("text", "padding")
    mask = entries.get(name) if isinstance(entries, Mapping) else None
    if mask is None:
        mask = unused.get(name) if isinstance(unused, Mapping) else None
        if isinstance(mask, Tensor) and bool((mask.bool() == (ones == "padding")).any()):
            raise AffscoreError(f"the data marks padding ({name}), and the network does not take the mask; {_ADVICE}")
        if mask is None and name != MASK:
            raise AffscoreError(f"the data has no entry {name!r}, which is to be the mask of padding")
        return None
    if not isinstance(mask, Tensor) or mask.ndim != 2 or not bool(((mask == 0) | (mask == 1)).all()):
        wanted = f"a tensor (N, length) of 1 for {ones} and 0 for {zeros}"
        raise AffscoreError(f"{name} must be {wanted}, got {form_of(mask)} (mask=None reads none)")
    text = mask.bool() == (ones == "text")
    if bool(text.all()):
        return None
    if not bool(text.any(dim=1).all()):
        raise AffscoreError(f"a sample of the data is all padding by its {name}; leave it out")
    for other, same in {"decoder_input_ids": entries.get("input_ids"), f"decoder_{name}": mask}.items():
        given = entries.get(other)
        if isinstance(given, Tensor) and not (isinstance(same, Tensor) and torch.equal(given, same)):
            raise AffscoreError(f"the data marks padding ({name}) of other tokens than those of {other}; {_ADVICE}")
    return text


def unread_masks(entries: Any, name: str | None = MASK) -> str:
    """The note on entries that may mark padding which counts all the same; empty where there is none.

    Args:
        entries: What goes into the network, by name.
        name: The mask that :func:`tokens_of_text` reads; of None nobody wants a note.

    Returns:
        It names those that end in "mask" and are tensors (N, length, ...) of zeros and ones.

    >>> unread_masks({"pad_mask": torch.tensor([[0, 1]])})
    "the padding that pad_mask may mark counts in scores and criteria: mask='pad_mask' leaves it out"
    >>> unread_masks({"attention_mask": torch.tensor([[0, 1]])})
    ''
    """
    given = entries if name is not None and isinstance(entries, Mapping) else {}
    masks = {name: value for name, value in given.items() if str(name).endswith("mask") and _marks(value)}
    names = [one for one, value in masks.items() if name not in masks or not torch.equal(value, masks[name])]
    count = "may mark counts in scores and criteria"
    return f"the padding that {', '.join(names)} {count}: mask={names[0]!r} leaves it out" if names else ""


def _marks(value: Any) -> bool:
    """Whether these are zeros and ones, some of each."""
    two_axes = isinstance(value, Tensor) and value.ndim > 1
    return two_axes and torch.equal(value * value, value) and bool(value.any()) and not bool(value.all())
