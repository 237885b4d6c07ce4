"""The paths through products: of numbers with gates, and of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from affscore.nonlinear_advantage.counts import Call, Counts


def product_of(one: Counts, other: Counts) -> Counts:
    """Of a gate and what it scales the latter counts; else both factors are branches, as in the derivative."""
    if one.weights != other.weights:
        kept = other if one.weights else one
        return kept.expand(torch.broadcast_shapes(one.shape, other.shape))
    return replace(one.merged(other), weights=one.weights)


def matrices_of(call: Call) -> Counts | None:
    """Of a product of matrices: it mixes the columns of the left one, and the rows of the right one.

    Where one of them is weights (attention) the paths go through the other, whose positions it brings together.
    """
    args = call.args if not call.name.startswith(("add", "badd")) else call.args[1:]
    factors = [args[1], args[0]] if call.name == "rmatmul" else list(args[:2])
    if len(factors) < 2 or min(one.ndim for one in factors) < 2:
        return None
    left, right = (call.counts_of(one) for one in factors)
    attention = bool(left and right and left.weights != right.weights)
    ways = []
    for one, axis in ((left, -1), (right, -2)):
        if one is not None and not (attention and one.weights):
            ways.append((one.averaged([axis]) if attention else one.mixed([axis])).expand(call.output.shape))
    if added := call.counts_of(call.args[0]) if len(args) < len(call.args) else None:
        ways.append(added.expand(call.output.shape))
    return _together(ways)


def einsum_of(call: Call) -> Counts | None:
    """Of ``torch.einsum``, as of products of matrices; None for an equation with dots or a letter twice in a term."""
    equation = call.args[0].replace(" ", "") if isinstance(call.args[0], str) else ""
    left, _, right = equation.partition("->")
    operands = call.args[1:] if len(call.args) != 2 or isinstance(call.args[1], Tensor) else call.args[1]
    terms = left.split(",")
    if not right or "." in equation or any(len(set(term)) < len(term) for term in terms):
        return None
    found = [(term, counts) for term, one in zip(terms, operands, strict=True) if (counts := call.counts_of(one))]
    attention = len({counts.weights for _, counts in found}) == 2
    ways = []
    for term, counts in found:
        if attention and counts.weights:
            continue
        gone = [axis for axis, letter in enumerate(term) if letter not in right]
        one = (counts.averaged if attention else counts.mixed)(gone, keepdim=False) if gone else counts
        letters = [letter for letter in term if letter in right]
        order = [letters.index(letter) for letter in right if letter in letters]
        new = tuple(slice(None) if letter in letters else None for letter in right)
        ways.append(one.each(_arranged(order, new)).expand(call.output.shape))
    return _together(ways)


def _arranged(order: list[int], new: tuple[slice | None, ...]) -> Callable[[Tensor], Tensor]:
    return lambda tensor: tensor.permute(order)[new]


def _together(ways: Sequence[Counts]) -> Counts | None:
    """After an addition of one branch or more."""
    result = None
    for one in ways:
        result = one if result is None else result.merged(one)
    return result
