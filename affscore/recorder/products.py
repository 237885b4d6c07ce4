"""Products of tensors in one form, an equation of letters, and one rule for where their channels are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters
from typing import Any

from torch import Tensor

from affscore.recorder.axes import (
    ASSUMED,
    CHANNEL,
    CHANNELS,
    CLAIMED,
    IMAGE,
    POSITION,
    WEAK,
    Axes,
    Part,
    has,
    length,
    often,
    without,
)  # fmt: skip
from affscore.recorder.functions import kind_of

Letters = tuple[Any, ...]
"""A letter (or a number, for those of an ellipsis) for each axis of a tensor; None where it only repeats entries."""

Product = tuple[Sequence[Tensor], list[Letters], Letters]
"""The operands of a product, the letters of each, and those of the output."""

_MATRICES = "...ij,...jk->...ik"
_EQUATIONS = {
    **dict.fromkeys("matmul bmm mm sparse_mm addmm baddbmm sparse_addmm mv dot addmv".split(), _MATRICES),
    **{"cdist": "...ic,...jc->...ij", "scaled_dot_product_attention": "...ic,...jc,...jd->...id"},
    **dict.fromkeys(("tensordot", "inner"), ""),
}
_NAMED = "input query a mat1 batch1 mat x1 key other b mat2 batch2 vec x2 value dims".split()
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
    ([(1, 'i', 'j'), ('j', 'k')], (1, 'i', 'k'))
    >>> form(torch.einsum, [a, b], ("nvw,wc", a, b), {})[1:]
    ([('n', 'v', 'w'), ('w', 'c')], ('c', 'n', 'v'))
    >>> form(torch.tensordot, [a, b], (b, a, ([0], [2])), {})[1:]
    ([('a', 'b'), ('A', 'B', 'a')], ('b', 'A', 'B'))
    """
    name = product_name(function)
    if not name:
        return None
    if name == "einsum":
        return _lettered(args[0] if isinstance(args[0], str) else _of_numbers(args), inputs)
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


def _of_numbers(args: Sequence[Any]) -> str:
    """The equation of operands and lists of numbers in turn."""
    terms = ["".join("..." if n is Ellipsis else ascii_letters[n] for n in term) for term in (*args[1::2], args[-1])]
    return ",".join(terms[:-1]) + (f"->{terms[-1]}" if len(args) % 2 else "")


def _lettered(equation: str, operands: Sequence[Tensor]) -> Product:
    """The letters of an equation, numbers for the axes of an ellipsis (counted from the right)."""
    left, arrow, right = equation.replace(" ", "").replace("...", ".").partition("->")
    if not arrow:
        right = "." + "".join(sorted(letter for letter in {*left} - {*".,"} if left.count(letter) == 1))
    terms = list(zip(left.split(","), operands, strict=True))
    counts = [operand.ndim - len(term) + 1 for term, operand in terms if "." in term]
    letters = [_spread(term, operand.ndim - len(term) + 1) for term, operand in terms]
    return operands, letters, _spread(right, max(counts, default=0))


def _spread(term: str, count: int) -> Letters:
    before, dots, after = term.partition(".")
    return (*before, *range(count if dots else 0, 0, -1), *after)


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
