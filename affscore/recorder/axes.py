"""What each axis of a tensor holds, and where a view, a copy in another shape or a mean leaves it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

IMAGE, CHANNEL, ASSUMED, POSITION = "image", "channel", "assumed", ""
WEAK, CLAIMED = "channel of a product", "claimed"
KNOWN = (CHANNEL, WEAK)
"""Channels that a layer made, and that a product with a constant made."""
CHANNELS = (*KNOWN, ASSUMED)
"""These, and channels that nothing has said to be some. A CLAIMED axis holds positions unless it holds the channels."""
often = lru_cache(2**12)  # a network asks the same again for every chunk


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


def without(parts: tuple[Part, ...], *roles: str, to: str = POSITION) -> tuple[Part, ...]:
    """The parts, those of these roles being positions now, or something else."""
    return tuple(Part(part.size, to) if part.role in roles else part for part in parts)


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


@often
def made(axes: Axes, shape: Sequence[int], axis: int, norm: bool = False) -> Axes:
    """After an operation that has made the channels of one axis; the heads stay if it mixed the features of each.

    What is behind the channels are positions. A norm takes the channels that are there.
    """
    heads = len(axes) == len(shape) and has(axes[axis], *KNOWN)
    found = []
    for place, size in enumerate(shape):
        parts = axes[place] if place < len(axes) else ()
        if place == axis and not (heads and norm):
            parts = (Part(size, CHANNEL),)
        elif not parts or length(parts) != size:
            parts = (Part(size, POSITION),)
        else:
            parts = without(parts, CLAIMED, *((ASSUMED,) if heads and place <= axis else CHANNELS))
        found.append(parts)
    return tuple(found)


def resized(parts: tuple[Part, ...], size: int) -> tuple[Part, ...]:
    """An axis that was cut, pooled or lengthened; what was merged from several axes cannot be separated then."""
    if length(parts) == size:
        return parts
    roles = {part.role for part in parts}
    return (Part(size, roles.pop() if len(roles) == 1 else POSITION),)


@often
def viewed(axes: Axes, steps: Sequence[int], shape: Sequence[int], strides: Sequence[int]) -> Axes | None:
    """The axes of a view: each part of what it views, with its strides, is found again by its stride."""
    pieces: list[tuple[int, Part]] = []
    for parts, step in zip(axes, steps, strict=True):
        for part in reversed(parts):
            pieces.append((step, part))
            step *= part.size
    found: list[tuple[Part, ...]] = []
    sliced = len(steps) > 1 and tuple(steps) == tuple(strides)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        held: tuple[Part, ...] = ()
        if size < 2:
            ones = [part for step, part in pieces if axis and step == stride and part.size == 1]
            ones = [*axes[axis]] if sliced else ones
            held = (Part(size, next((part.role for part in ones if part.role in CHANNELS), POSITION)),)
        elif stride == 0:  # expanded
            was = axes[axis] if len(axes) == len(shape) else (Part(1, POSITION),)
            again = (parts for parts, step in zip(axes, steps, strict=True) if not step and length(parts) == size)
            held = next(again, resized(was, size))
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


def reduced(axes: Axes, output: Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Axes | None:
    """The axes that are left where those were averaged away that an argument names."""
    for given in (kwargs.get("dim", kwargs.get("axis")), *args[1:]):
        dims = [given] if type(given) is int else given
        if isinstance(dims, (list, tuple)) and all(type(dim) is int for dim in dims):
            gone = {dim % len(axes) for dim in dims}
            found = tuple(parts for axis, parts in enumerate(axes) if axis not in gone)
            if [length(parts) for parts in found] == [*output.shape]:
                return found
    return None


def unsure(axes: Axes) -> Axes:
    """The same channels, which are a guess now."""
    return tuple(without(parts, *KNOWN, to=ASSUMED) for parts in axes)


def traced(function: Any, axes: Axes, source: Tensor, output: Tensor, args: Any, kwargs: Any) -> Axes | None:
    """The axes after a function that only moves entries: numbers that count along an axis show where it goes."""
    found: list[tuple[Part, ...]] = [(Part(size, POSITION),) for size in output.shape]
    lost = False
    for axis, parts in enumerate(axes):
        if not has(parts, IMAGE, CLAIMED, *CHANNELS):
            continue
        count = torch.arange(float(length(parts)), device=source.device)
        count = count.view([-1 if place == axis else 1 for place in range(len(axes))]).expand(source.shape)
        try:
            given, named = _in_place_of(source, count, (args, dict(kwargs)))
            moved = function(*given, **named)
            along = [place for place in range(output.ndim) if moved.diff(dim=place).any()]
        except Exception:  # noqa: BLE001  # it moves entries of other types alone, or none
            return None
        if len(along) != 1 and len(axes) == output.ndim and (axis in along or not along or output.shape[axis] == 1):
            along = [axis]
        if len(along) == 1 and not has(found[along[0]], IMAGE, *CHANNELS):
            found[along[0]] = resized(parts, output.shape[along[0]])
        else:
            lost |= has(parts, *CHANNELS)
    return unsure(tuple(found)) if lost else tuple(found)


def _in_place_of(source: Tensor, counts: Tensor, values: Any) -> Any:
    """The same arguments, with the counts for every tensor like the source."""
    like = (source.shape, source.dtype)
    return tree_map(lambda v: counts if isinstance(v, Tensor) and (v.shape, v.dtype) == like else v, values)
