"""What each axis of a tensor holds, and where a view, a copy in another shape, a mean or a product leaves it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters
from typing import Any, NamedTuple

import torch
from torch import Tensor

from affscore.recorder.functions import as_function, kind_of

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


@dataclass
class Place:
    """Where the images and the channels of a tensor are.

    Attributes:
        image_axis: The axis that counts the images.
        channel_axis: The axis of the channels; where several hold them (heads, and features), the last of these.
        positions: How many positions (pixels, tokens) of one image share a channel.
        guessed: Whether nothing that ran says where the channels are.
        axes: What the axes hold, where one axis for the images and one for the channels do not say it; else ().
        channels: How many channels there are.
    """

    image_axis: int
    channel_axis: int
    positions: int
    guessed: bool = False
    axes: Axes = ()
    channels: int = 1


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
    order = sorted(range(len(parts)), key=lambda place: (parts[place].role in CHANNELS, parts[place].role != IMAGE))
    apart = features.reshape([part.size for part in parts]).permute(order)
    apart = apart.flatten(-sum(part.role in CHANNELS for part in parts))
    return apart if has(parts, IMAGE) else apart.unsqueeze(0)


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
            ones = axes[axis] if sliced else [part for at, part in pieces if axis and at == stride and part.size == 1]
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


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
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
    lost, like = False, (source.shape, source.dtype)
    again = as_function(function, args, kwargs, lambda v: isinstance(v, Tensor) and (v.shape, v.dtype) == like)
    for axis, parts in enumerate(axes):
        if not has(parts, IMAGE, CLAIMED, *CHANNELS):
            continue
        count = torch.arange(float(length(parts)), device=source.device)
        count = count.view([-1 if place == axis else 1 for place in range(len(axes))]).expand(source.shape)
        try:
            moved = again(count)
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


Letters = Sequence[Any]
"""A letter for each axis of a tensor."""

Product = tuple[Sequence[Tensor], Sequence[Letters], Letters]
"""The operands of a product, the letters of each, and those of the output."""

_MATRICES = "...ij,...jk->...ik"
_EQUATIONS = dict.fromkeys("matmul bmm mm sparse_mm addmm baddbmm sparse_addmm mv dot addmv".split(), _MATRICES)
_EQUATIONS |= {"cdist": "...ic,...jc->...ij", "scaled_dot_product_attention": "...ic,...jc,...jd->...id"}
_EQUATIONS |= {"tensordot": "", "inner": ""}
_NAMED = "input query a mat1 batch1 mat x1 key other b mat2 batch2 vec x2 value dims".split()
_DIGITS = "987654321"
_STANDING = (POSITION, ASSUMED, CLAIMED, WEAK, CHANNEL)


@often
def product_name(function: Any) -> str:
    """The name of a product of tensors; empty for another function."""
    name = kind_of(function).removeprefix("linalg_")
    return name if name == "einsum" or name in _EQUATIONS else ""


def form(function: Any, inputs: Sequence[Tensor], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Product | None:
    """A product as an equation: its operands, the letters of each one's axes, and those of the output; else None.

    >>> import torch
    >>> a, b = torch.zeros(2, 7, 5), torch.zeros(5, 3)
    >>> form(torch.matmul, [a, b], (a, b), {})[1:]
    (['1ij', 'jk'], '1ik')
    >>> form(torch.einsum, [a, b], ("nvw,wc", a, b), {})[1:]
    (['nvw', 'wc'], 'cnv')
    >>> form(torch.tensordot, [a, b], (b, a, ([0], [2])), {})[1:]
    (['ab', 'ABa'], 'bAB')
    """
    name = product_name(function)
    if not name:
        return None
    if name == "einsum":
        return _lettered(args[0], inputs)  # PyTorch makes letters of lists of numbers
    given, equation = [*args, *(kwargs[key] for key in _NAMED if key in kwargs)], _EQUATIONS[name]
    operands = [value for value in given if isinstance(value, Tensor)]["add" in name : 3]
    if len(operands) < 2:
        return None
    left, right = operands[:2]
    if equation is _MATRICES:  # vectors have no rows, or no columns
        rows, columns = left.ndim > 1, right.ndim > 1
        equation = f"{'...i' * rows}j,{'...' * columns}j{'k' * columns}->...{'i' * rows}{'k' * columns}"
    elif not equation:
        dims = ([-1], [-1]) if name == "inner" else given[2] if len(given) > 2 else 2
        ours, theirs = [*ascii_letters[: left.ndim]], [*ascii_letters[26 : 26 + right.ndim]]
        for one, other in zip(*((range(-dims, 0), range(dims)) if isinstance(dims, int) else dims), strict=True):
            theirs[other] = ours[one]
        free = [letter for letter in (*ours, *theirs) if (letter in ours) != (letter in theirs)]
        equation = f"{''.join(ours)},{''.join(theirs)}->{''.join(free)}"
    return _lettered(equation, operands[: equation.count(",") + 1])


def _lettered(equation: str, operands: Sequence[Tensor]) -> Product:
    """The letters of an equation, digits for the axes of an ellipsis (counted from the right)."""
    left, arrow, right = equation.replace(" ", "").replace("...", ".").partition("->")
    if not arrow:
        right = "." + "".join(sorted(letter for letter in {*left} - {*".,"} if left.count(letter) == 1))
    terms = list(zip(left.split(","), operands, strict=True))
    spread = [_DIGITS[len(_DIGITS) - 1 + len(term) - operand.ndim :] if "." in term else "" for term, operand in terms]
    letters = [term.replace(".", digits) for (term, _), digits in zip(terms, spread, strict=True)]
    return operands, letters, right.replace(".", max(spread, key=len))


def standing(parts: Sequence[Part]) -> int:
    """How sure it is that an axis holds channels: 0 if it does not."""
    return max((_STANDING.index(part.role) for part in parts if part.role != IMAGE), default=0)


@often
def multiplied(data: Sequence[Any], constants: Sequence[Letters], output: Letters, shape: Sequence[int]) -> Axes:
    """Where a product of tensors, or a sum of tensors that were broadcast, has its channels.

    An axis of channels that is not contracted stays one. A constant brings in channels where it contracts some. Axes
    that are channels of all operands (heads) stay it. Else the operands compete: the channels that a layer made win
    against those that a product with a constant made, and those of a later operand against those of an earlier one (the
    values against the scores of attention), which leaves a doubt.

    Args:
        data: The axes of each operand that depends on the images, and their letters.
        constants: The letters of the others.
        output: The letters of the output.
        shape: Its shape.
    """
    sizes, weak = dict(zip(output, shape, strict=True)), _STANDING.index(WEAK)
    pairs = [zip(letters, axes, strict=True) for axes, letters in data]  # what was broadcast says nothing
    held = [{at: parts for at, parts in pair if sizes.get(at, -1) in (length(parts), -1)} for pair in pairs]
    claims = [_claims(operand, constants, sizes) for operand in held]
    ranks = {at: [claim[at] for claim in claims if at in claim] for at in sizes}
    kept = {at for at, said in ranks.items() if len(said) > 1 and min(said)}
    rivals = {at for at, said in ranks.items() if len(said) == 1}
    best = max((ranks[at][0] for at in rivals), default=0)
    if best:
        winner = [claim for claim in claims if any(claim.get(at) == best for at in rivals)][-1]
        kept |= {at for at in rivals if winner.get(at, 0) >= min(best, weak)}
    found = []
    for at, size in sizes.items():
        rank = max(ranks[at], default=0)
        options = [operand[at] for operand in held if at in operand] or [(Part(size, _STANDING[rank]),)]
        parts = max(options, key=lambda parts: (has(parts, IMAGE), standing(parts), -len(parts)))
        if at in kept:
            parts = without(parts, CLAIMED, to=CHANNEL)
        elif not has(parts, CLAIMED):
            parts = without(parts, *CHANNELS, to=CLAIMED if rank > 1 and rank >= best else POSITION)
        found.append(parts)
    if not any(has(parts, *CHANNELS) for parts in found):
        last = max((axis for axis, parts in enumerate(found) if not has(parts, IMAGE)), default=0)
        found[last] = without(found[last], POSITION, CLAIMED, to=ASSUMED)
    return tuple(found)


def _claims(operand: Mapping[Any, Any], constants: Sequence[Letters], sizes: Mapping[Any, int]) -> dict[Any, int]:
    """How sure it is that axes of the output are channels, after one operand, and constants that contract its axes."""
    ranks, claimed = {at: standing(parts) for at, parts in operand.items()}, _STANDING.index(CLAIMED)
    gone = {at: rank for at, rank in ranks.items() if at not in sizes}
    known = max(ranks.values(), default=0) >= claimed  # else it says of no axis that it holds positions
    found = {at: rank for at, rank in ranks.items() if at in sizes and (rank or known)}
    if claimed >= max(gone.values(), default=0):  # an axis that lost to others is heard again only if those are gone
        found = {at: rank if rank != claimed else 0 for at, rank in found.items()}
    left = max(found.values(), default=0) > claimed
    for letters in constants:
        lost = [gone[at] for at in letters if at in gone]
        if any(lost):  # of channels and positions together, the new axis may be either
            rank = _STANDING.index(WEAK) if max(lost) != claimed and (min(lost) or not left) else claimed
            found |= {at: rank for at in letters if at in sizes and at not in ranks}
    return found
