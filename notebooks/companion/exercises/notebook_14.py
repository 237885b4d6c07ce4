"""The exercises of notebook 14, *Language models*."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from affscore.network.reduction import reduce_text
from companion.exercises.answers import as_function, call
from companion.exercises.registry import Hints, exercise, right


@exercise("14.1", as_function)
def average_without_padding(function: Callable[..., Any]) -> Hints:
    """20.2: the average over the tokens of a text."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(6, 5, 3, generator=generator)
    mask = (torch.arange(5) < torch.tensor([5, 4, 3, 2, 1, 3])[:, None]).long()
    expected = reduce_text(features, mask.bool(), "mean")
    found = call(function, features.clone(), mask.clone())
    yield not isinstance(found, Tensor), f"Expected a tensor (n, c), got {type(found).__name__}."
    yield found.shape != expected.shape, f"Expected the shape {tuple(expected.shape)}, got {tuple(found.shape)}."
    yield _same(found, features.mean(dim=1)), "Padding counts still: the mean is over all positions."
    zeros = torch.where(mask.bool()[:, :, None], features, 0)
    yield _same(found, zeros.mean(dim=1)), "The sum is right. By how many tokens is it to be divided?"
    yield not _same(found, expected), "These are not the means over the tokens whose mask is 1."
    spoiled = torch.where(mask.bool()[:, :, None], features, float("nan"))
    again = call(function, spoiled, mask.clone())
    yield not isinstance(again, Tensor) or not _same(again, expected), "Where padding holds NaN, so does the answer."
    yield True, right("The library does the same where the data has an attention_mask.")


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one.float(), other.float(), atol=1e-5)
