"""What a data set or a loader gives: which tensor of it the network is fed, and whether it can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import default_collate

from affscore.errors import AffscoreError
from affscore.zoo.preprocessing import Preprocessing
from affscore.zoo.text import Expected, TextPreprocessing, check_plain, check_token_ids

__all__ = ["Pictures", "check_inputs", "first_tensors"]

_INPUTS = ("pixel_values", "input_ids")
"""What transformers call the tensor that goes into a network."""


class Pictures:
    """Puts items of a data set into a batch; pictures are brought to what the network expects.

    Args:
        expected: What the network expects.

    >>> images, labels = Pictures(Preprocessing(size=8, resize=8))([(Image.new("L", (5, 5)), 3)] * 2)
    >>> images.shape, labels
    (torch.Size([2, 3, 8, 8]), tensor([3, 3]))
    """

    def __init__(self, expected: Expected) -> None:
        self.expected = expected
        self.met = False

    def __call__(self, items: list[Any]) -> Any:
        """The batch."""
        return default_collate([self._prepared(item) for item in items])

    def _prepared(self, item: Any) -> Any:
        if isinstance(item, Image.Image):
            if not isinstance(self.expected, Preprocessing):
                raise AffscoreError("the network expects token ids, and the data holds pictures")
            self.met = True
            return self.expected(item)
        if isinstance(item, Mapping):
            return {name: self._prepared(value) for name, value in item.items()}
        if isinstance(item, (tuple, list)) and any(isinstance(value, Image.Image) for value in item):
            return [self._prepared(value) for value in item]
        return item


def first_tensors(loader: Iterable[Any], expected: Expected) -> Iterator[Tensor]:
    """The tensors of a loader that go into the network.

    Args:
        loader: Gives tensors, or tuples or dictionaries of which the first tensor is meant (or the one under
            a name of transformers).
        expected: What the network expects.

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
        tensor = _input_in(item, expected)
        if not isinstance(tensor, Tensor):
            raise AffscoreError(f"the data must give tensors of images, got {type(item).__name__}")
        yield check_inputs(tensor, expected)


def _input_in(item: Any, expected: Expected) -> Any:
    if not isinstance(item, Mapping):
        return next((v for v in item if isinstance(v, Tensor)), None) if isinstance(item, (list, tuple)) else item
    mask = item.get("attention_mask")
    if isinstance(expected, TextPreprocessing) and isinstance(mask, Tensor) and not bool(mask.bool().all()):
        raise AffscoreError(
            "the data marks padding (attention_mask), which the network would take for text; "
            "give windows of the same length without padding"
        )
    named = [item[name] for name in _INPUTS if isinstance(item.get(name), Tensor)]
    return next((v for v in [*named, *item.values()] if isinstance(v, Tensor)), None)


def check_inputs(images: Tensor, expected: Expected) -> Tensor:
    """The images, if a network that expects this can be fed with them.

    Args:
        images: Tensor (N, ...) of images, or (N, length) of token ids.
        expected: What the network expects.

    Returns:
        The images; token ids as int64.

    Raises:
        AffscoreError: Another shape or type, NaN or infinity, or ids outside the vocabulary.
    """
    if isinstance(expected, TextPreprocessing):
        check_token_ids(images, expected)
        return images.long()
    check_plain(images)
    if images.ndim < 2:
        raise AffscoreError(f"images must have shape (N, ...), got {tuple(images.shape)}")
    if not images.is_floating_point() or images.element_size() < 2:  # PyTorch stores in 8 bits, and computes nothing
        tokens = images.ndim == 2 and images.dtype in (torch.int64, torch.int32)
        advice = (
            ", or give a network of token ids an attribute preprocessing = affscore.zoo.TextPreprocessing(...)"
            if tokens
            else ""
        )
        raise AffscoreError(
            f"images must be floating point numbers as the network expects them, got {images.dtype}; "
            f"scale and normalise them first{advice}"
        )
    # a sum is one fast pass, and finite only if every number is (or, rarely, where large numbers overflow)
    if not bool(torch.isfinite(images.sum())) and (bad := int((~torch.isfinite(images)).sum())):
        raise AffscoreError(f"the images hold {bad} NaN or infinite values; remove those images")
    return images
