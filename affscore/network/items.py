"""What a data set or a loader gives, as inputs of the network, and whether the network can be fed with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import default_collate

from affscore.errors import AffscoreError
from affscore.network.feeding import Feeding
from affscore.network.inputs import Inputs
from affscore.zoo.preprocessing import Preprocessing, assumed_preprocessing
from affscore.zoo.text import Expected, TextPreprocessing, check_plain, check_token_ids

__all__ = ["Pictures", "check_inputs", "inputs_of"]


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


def inputs_of(loader: Iterable[Any], expected: Expected, feeding: Feeding) -> Iterator[Inputs]:
    """What goes into the network, batch by batch of a loader.

    Args:
        loader: Gives tensors, or tuples or dictionaries of tensors.
        expected: What the network expects.
        feeding: Knows which entries the network takes.

    Raises:
        AffscoreError: The loader fails, or gives something else.
    """
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
        mask = item.get("attention_mask") if isinstance(item, Mapping) else None
        if isinstance(expected, TextPreprocessing) and isinstance(mask, Tensor) and not bool(mask.bool().all()):
            raise AffscoreError(
                "the data marks padding (attention_mask), which the network would take for text; "
                "give windows of the same length without padding"
            )
        yield check_inputs(feeding(item), expected)


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
    if len(inputs.tensors) == 1 and inputs.forward is None:
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
            f"samples must have shape (N, ...), got {tuple(images.shape)}; of one number a sample it is (N, 1)"
        )
    if not images.is_floating_point() or images.element_size() < 2:  # PyTorch stores in 8 bits, and computes nothing
        tokens = images.ndim == 2 and images.dtype in (torch.int64, torch.int32)
        advice = (
            ", or .astype(float) where they are plain numbers, or give a network of token ids an attribute "
            "preprocessing = affscore.zoo.TextPreprocessing(...)"
            if tokens
            else ""
        )
        raise AffscoreError(
            f"the data must be floating point numbers as the network expects them, got {images.dtype}; "
            f"scale and normalise them first{advice}"
        )
    _check_finite(images)
    return images


def _check_finite(tensor: Tensor) -> None:
    # a sum is one fast pass, and finite only if every number is (or, rarely, where large numbers overflow)
    if not bool(torch.isfinite(tensor.sum())) and (bad := int((~torch.isfinite(tensor)).sum())):
        raise AffscoreError(f"the data holds {bad} NaN or infinite values; remove those samples")
