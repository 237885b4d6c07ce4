"""What each axis of a tensor holds, and where a view, a copy in another shape or a mean leaves it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from torch import Tensor

from affscore.network.recorder.functions import REDUCTIONS

IMAGE, CHANNEL, ASSUMED, POSITION = "image", "channel", "assumed", ""
CHANNELS = (CHANNEL, ASSUMED)
_often = lru_cache(2**12)  # a network asks the same again for every chunk


class Part(NamedTuple):
    """A part of an axis: how long it is, and what it holds."""

    size: int
    role: str


Axes = tuple[tuple[Part, ...], ...]
"""For each axis of a tensor the parts that were merged into it, the slowest first."""


def has(parts: Iterable[Part], *roles: str) -> bool:
    """Whether one of the parts holds one of these."""
    return any(part.role in roles for part in parts)


def length(parts: Iterable[Part]) -> int:
    """The length of an axis."""
    return math.prod(part.size for part in parts)


def without(parts: tuple[Part, ...], *roles: str) -> tuple[Part, ...]:
    """The parts, those of these roles being positions now."""
    return tuple(Part(part.size, POSITION) if part.role in roles else part for part in parts)


def channels_last(features: Tensor, axes: Axes) -> Tensor:
    """A feature map (images, positions, ..., channels), whatever its axes have been merged from.

    >>> import torch
    >>> heads = torch.arange(12.0).reshape(4, 3)  # two images times two heads, and three features
    >>> parts = ((Part(2, "image"), Part(2, "channel")), (Part(3, "channel"),))
    >>> channels_last(heads, parts).tolist()
    [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]]
    """
    parts = [part for held in axes for part in held]
    images, positions, channels = (
        [place for place, part in enumerate(parts) if part.role in roles] for roles in ((IMAGE,), (POSITION,), CHANNELS)
    )
    apart = features.reshape([part.size for part in parts]).permute(images + positions + channels)
    apart = apart.flatten(-len(channels))
    return apart if images else apart.unsqueeze(0)


@_often
def settled(axes: Axes) -> Axes:
    """The axes without assumed channels, if the channels are known."""
    known = any(has(parts, CHANNEL) for parts in axes)
    return tuple(without(parts, ASSUMED) for parts in axes) if known else axes


@_often
def made(axes: Axes, shape: Sequence[int], axis: int) -> Axes:
    """After an operation that has made the channels of one axis; the heads stay if it mixed the features of each."""
    heads = len(axes) == len(shape) and has(axes[axis], CHANNEL)
    found = []
    for place, size in enumerate(shape):
        parts = axes[place] if place < len(axes) else ()
        if place == axis:
            parts = (Part(size, CHANNEL),)
        elif not parts or length(parts) != size:
            parts = (Part(size, POSITION),)
        elif not heads:
            parts = without(parts, *CHANNELS)
        found.append(parts)
    return tuple(found)


def resized(parts: tuple[Part, ...], size: int) -> tuple[Part, ...]:
    """An axis that was cut, pooled or lengthened; what was merged from several axes cannot be separated then."""
    if length(parts) == size:
        return parts
    roles = {part.role for part in parts}
    return (Part(size, roles.pop() if len(roles) == 1 else POSITION),)


@_often
def viewed(axes: Axes, steps: Sequence[int], shape: Sequence[int], strides: Sequence[int]) -> Axes | None:
    """The axes of a view: each part of what it views, with its strides, is found again by its stride."""
    pieces: list[tuple[int, Part]] = []
    for parts, step in zip(axes, steps, strict=True):
        for part in reversed(parts):
            pieces.append((step, part))
            step *= part.size
    found: list[tuple[Part, ...]] = []
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        held: tuple[Part, ...] = ()
        if size < 2:
            ones = [part for step, part in pieces if axis and step == stride and part.size == 1]
            held = (Part(size, next((part.role for part in ones if part.role in CHANNELS), POSITION)),)
        elif stride == 0:  # expanded
            held = resized(axes[axis] if len(axes) == len(shape) else (Part(1, POSITION),), size)
            size = 1
        while size > 1:
            piece = next((p for p in pieces if 0 < p[0] <= stride < p[0] * p[1].size and stride % p[0] == 0), None)
            if piece is None:
                return None
            among = min(size, -(-piece[0] * piece[1].size // stride))
            if size % among:
                return None
            held = (Part(among, piece[1].role), *held)
            size, stride = size // among, stride * among
        found.append(held)
    return tuple(found)


def regrouped(axes: Axes, shape: Sequence[int]) -> Axes | None:
    """The axes of a copy in another shape, which has its entries where a view of a contiguous tensor has them."""
    return viewed(axes, _contiguous([length(parts) for parts in axes]), shape, _contiguous(shape))


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def reduced(function: Any, axes: Axes, output: Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Axes | None:
    """The axes that a mean or a sum leaves, or that a stack adds to."""
    name = getattr(function, "__name__", "")
    dims = kwargs.get("dim", args[1] if len(args) > 1 else 0 if name == "stack" else None)
    dims = [dims] if isinstance(dims, int) else dims
    if not isinstance(dims, (list, tuple)) or not all(isinstance(dim, int) for dim in dims):
        return None
    if name == "stack" and output.ndim == len(axes) + 1:
        axis = dims[0] % output.ndim
        return (*axes[:axis], (Part(output.shape[axis], POSITION),), *axes[axis:])
    gone = {dim % len(axes) for dim in dims}
    if name in REDUCTIONS and output.ndim == len(axes) - len(gone):
        return tuple(parts for axis, parts in enumerate(axes) if axis not in gone)
    return None


def aligned(axes: Axes, output: Tensor) -> Axes | None:
    """Axes were merged, split, added or averaged away: what is next to the images, or last, stays there."""
    found: list[tuple[Part, ...]] = [(Part(size, POSITION),) for size in output.shape]
    if length(axes[-1]) == output.shape[-1] and has(axes[-1], *CHANNELS):
        found[-1] = axes[-1]
    for axis, parts in enumerate(axes[: min(2, output.ndim)]):
        if length(parts) == output.shape[axis] and not (axis and has(found[-1], *CHANNELS)):
            found[axis] = parts
    return tuple(found) if any(has(parts, *CHANNELS) for parts in found) else None
