"""An affine function of PyTorch, as a network calls it for one sample, for many points at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from affscore.linear_regions.operations import ELEMENTWISE, RESHAPING, SAMPLE_BY_SAMPLE, Function, replaced

UNFOLDED = 2**17
"""Entries that a convolution on a CPU unfolds at once: in double precision PyTorch does so, and out of the cache."""


class Place:
    """Stands for features among the arguments of a function."""


def for_points(
    name: str, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], given: Sequence[Tensor], copied: bool
) -> Callable[..., Any]:
    """An affine function of each point by itself, computed by the shortest way that there is.

    Args:
        name: Of the function.
        function: What computes it for one sample.
        args: What it is called with; features are a :class:`Place`.
        kwargs: And by name.
        given: The features, in their order, (1, *shape).
        copied: Whether the function overwrites the first, of which it shall get a copy.

    Returns:
        A function of features, (points, *shape) each, that returns features or a tuple of them.

    >>> double = for_points("mul", torch.mul, (Place(), 2), {}, [torch.ones(1, 3)], copied=False)
    >>> double(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    x, rest = given[0], args[1:]
    alone = len(given) == 1 and bool(args) and isinstance(args[0], Place) and not copied
    if alone and name in RESHAPING:
        shape = function(x[0], *rest, **kwargs).shape
        return lambda x: x.reshape(len(x), *shape)
    if alone and name == "linear":
        return lambda x: function(x, *rest, **kwargs)
    # a batch of one in the network is a batch of points; there may be no axis of samples at all
    if alone and name in SAMPLE_BY_SAMPLE and x.shape[1] == 1 and SAMPLE_BY_SAMPLE[name] in (0, x.ndim - 3):
        return _of_batch(name, function, rest, kwargs, x.flatten(0, 1))

    def of_rows(*rows: Tensor) -> Any:
        rows = (rows[0].clone(), *rows[1:]) if copied else rows
        places = iter(rows)
        found = function(*replaced(args, Place, places), **replaced(kwargs, Place, places))
        return rows[0] if copied else found  # an assignment returns nothing

    return of_rows if name in ELEMENTWISE and _broadcasts((*args, *kwargs.values()), given) else torch.vmap(of_rows)


def _of_batch(
    name: str, function: Function, rest: tuple[Any, ...], kwargs: dict[str, Any], sample: Tensor
) -> Callable[[Tensor], Tensor]:
    """A function of a batch; a convolution on a CPU of as many points as stay in the cache."""
    most = 2**30
    if "conv" in name and sample.device.type == "cpu":
        windows = function(sample, *rest, **kwargs)[0, 0].numel()
        weight = rest[0] if rest else kwargs["weight"]
        most = max(1, UNFOLDED // (windows * weight[0].numel()))

    def compute(x: Tensor) -> Tensor:
        batch = x.flatten(0, 1)
        if len(batch) <= most:
            return function(batch, *rest, **kwargs).unsqueeze(1)
        return torch.cat([function(part, *rest, **kwargs) for part in batch.split(most)]).unsqueeze(1)

    return compute


def _broadcasts(values: tuple[Any, ...], given: Sequence[Tensor]) -> bool:
    """Whether an elementwise function broadcasts with the axis of points as it does without."""
    axes = {features.ndim for features in given}
    constants = [value.ndim for value in values if isinstance(value, Tensor)]
    return len(axes) == 1 and max(constants, default=0) < max(axes)
