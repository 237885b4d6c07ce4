"""Short chains of affine operations as one matrix each, which is quicker for many points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from affscore.linear_regions.operations import RESHAPING
from affscore.linear_regions.program import Affine, Operation

MOST_ENTRIES = 2**17
"""Of a matrix. A convolution of small maps is no larger, and a product of matrices runs at the machine's full speed."""

MOST_INPUTS, MOST_FEATURES = 2**10, 2**12
"""Of a chain: its matrix is computed from as many points as it has inputs, at once."""


def folded(operations: Sequence[Operation], shapes: Sequence[torch.Size], output: int, like: Tensor) -> list[Operation]:
    """The same operations, with a matrix in the place of each chain of affine ones that is small enough.

    Args:
        operations: Of a network.
        shapes: The shapes of its features, by their numbers.
        output: The features that the network returns.
        like: A tensor of the type and on the device of features.
    """
    readers = Counter(number for operation in operations for number in operation.inputs)
    readers[output] += 1
    chains: list[list[Operation]] = [[operation] for operation in operations[:1]]
    for before, operation in pairwise(operations):
        linked = len(before.outputs) == 1 and operation.inputs == before.outputs and readers[before.outputs[0]] == 1
        if linked and isinstance(before.what, Affine) and isinstance(operation.what, Affine):
            chains[-1].append(operation)
        else:
            chains.append([operation])
    return [one for chain in chains for one in _shorter(chain, shapes, like)]


def _shorter(chain: list[Operation], shapes: Sequence[torch.Size], like: Tensor) -> list[Operation]:
    """A chain as one matrix, or as it is."""
    first, last = chain[0], chain[-1]
    names = {one.what.name for one in chain if isinstance(one.what, Affine)}
    if names <= RESHAPING | {"linear"} or len(first.inputs) != 1 or len(last.outputs) != 1:
        return chain
    inside, outside = shapes[first.inputs[0]], shapes[last.outputs[0]]
    widest = max(shapes[number].numel() for one in chain for number in one.outputs)
    entries = inside.numel() * outside.numel()
    if inside.numel() > MOST_INPUTS or entries > MOST_ENTRIES or widest > MOST_FEATURES:
        return chain
    points = torch.eye(inside.numel() + 1, inside.numel(), dtype=like.dtype, device=like.device).view(-1, *inside)
    for operation in chain:
        assert isinstance(operation.what, Affine)
        found = operation.what.compute(points)
        points = found if isinstance(found, Tensor) else found[0]
    constant = points[-1].flatten()
    matrix = points[:-1].reshape(inside.numel(), outside.numel()) - constant  # the last point is zero

    def compute(x: Tensor) -> Tensor:
        return torch.addmm(constant, x.reshape(len(x), inside.numel()), matrix).view(len(x), *outside)

    return [Operation(Affine("matrix", compute), first.inputs, last.outputs)]
