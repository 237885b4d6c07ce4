"""A network as a list of operations: what is affine, and where it bends, at units and in the windows of max pooling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from affscore.recorder.dataflow import tensors_in
from affscore.recorder.functions import CASTS, DROPOUTS, RESHAPES, set_of

KEEPING = RESHAPES | CASTS | DROPOUTS | set_of("squeeze unsqueeze")
"""Functions that keep the numbers, and their order."""

MOST_ENTRIES = 2**17
"""Of a matrix. A convolution of small maps is no larger, and a product of matrices runs at the machine's full speed."""

MOST_INPUTS, MOST_FEATURES = 2**10, 2**12
"""Of a chain: its matrix is computed from as many points as it has inputs, at once."""


@dataclass(frozen=True)
class Affine:
    """An affine function of each point.

    Attributes:
        name: Of the function.
        compute: Of features (points, *shape), one or several; returns features, or a tuple of them.
    """

    name: str
    compute: Callable[..., Any]


@dataclass(frozen=True)
class Activation:
    """ReLU, LeakyReLU or PReLU.

    Attributes:
        slope: Below zero: 0.0 for ReLU, else a number or one for each unit, (units,).
        linear: The units that it leaves as they are, whose slope is 1; None for none.
    """

    slope: float | Tensor
    linear: Tensor | None = None

    @classmethod
    def of(cls, slope: float | Tensor, shape: torch.Size) -> Activation:
        """With a slope as PyTorch takes it: a number, or one for each channel.

        Args:
            slope: The slope.
            shape: Of the features of a sample in the network, (samples, channels, ...).
        """
        if isinstance(slope, Tensor) and slope.numel() > 1:
            slope = slope.detach().reshape(-1, *[1] * max(len(shape) - 2, 0)).expand(shape).flatten()
            return cls(slope, slope == 1 if bool((slope == 1).any()) else None)
        return cls(float(slope), torch.tensor(True) if float(slope) == 1 else None)

    def bent(self, units: Tensor) -> Tensor:
        """What it makes of features, (points, units)."""
        return F.leaky_relu(units, self.slope) if isinstance(self.slope, float) else F.prelu(units, self.slope)


@dataclass(frozen=True)
class MaxPool:
    """A max pooling over the last axes of features.

    Attributes:
        name: max_pool1d, max_pool2d or max_pool3d.
        window: Size, stride, padding, dilation, ceil_mode, as PyTorch takes them.
        positions: The size of a channel, along the axes of the pooling.
        table: For each window of a channel the positions in it, one of them again for padding, (windows, entries).

    >>> MaxPool.of("max_pool1d", (2, 2, 1, 1, False), torch.zeros(1, 1, 4)).table
    tensor([[0, 0],
            [1, 2],
            [3, 3]])
    """

    name: str
    window: tuple[Any, ...]
    positions: torch.Size
    table: Tensor

    @classmethod
    def of(cls, name: str, window: tuple[Any, ...], features: Tensor) -> MaxPool:
        """The pooling of features, (..., *positions)."""
        axes = int(name[-2])
        positions = features.shape[-axes:]
        table = torch.arange(positions.numel(), device=features.device).view(positions)
        windows = cls(name, window, positions, table)(features)[0].shape[-axes:]
        for axis in range(axes):
            size, stride, padding, dilation = (int(torch.tensor(one).expand(axes)[axis]) for one in window[:4])
            reach = dilation * (size - 1) + 1
            padded = F.pad(table.movedim(axis, -1), (padding, stride + reach), value=-1)
            table = padded.unfold(-1, reach, stride)[..., : windows[axis], ::dilation].movedim(-2, axis)
        table = table.reshape(windows.numel(), -1)
        return cls(name, window, positions, table.where(table >= 0, table.amax(1, keepdim=True)))

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Largest entries, and their positions.

        Args:
            x: Features (n, ..., *positions).

        Returns:
            Two tensors (n, ..., *windows).
        """
        *window, ceil_mode = self.window
        lead = x.shape[: -len(self.positions)]
        pool = getattr(F, self.name)
        largest, chosen = pool(x.reshape(-1, 1, *self.positions), *window, ceil_mode=ceil_mode, return_indices=True)
        return largest.reshape(*lead, *largest.shape[2:]), chosen.reshape(*lead, *chosen.shape[2:])

    def entries(self, x: Tensor, point: Tensor, window: Tensor) -> Tensor:
        """The entries of some windows at some points.

        Args:
            x: Features (points, ..., *positions).
            point: Which points.
            window: And which windows there, counted through all channels.

        Returns:
            Tensor (len(point), entries).
        """
        channel, places = window[:, None] // len(self.table), self.table[window % len(self.table)]
        return x.reshape(len(x), -1, self.positions.numel())[point[:, None], channel, places]

    def all_entries(self, x: Tensor) -> Tensor:
        """The entries of all windows, (points, windows, entries)."""
        return x.reshape(len(x), -1, self.positions.numel())[..., self.table].flatten(1, 2)


def largest_of_all(left: Tensor, right: Tensor, zero: Tensor) -> Tensor:
    """Which entries of windows are the largest all over an interval on which all are affine.

    Args:
        left: Entries at its left end, (windows, entries).
        right: At its right end.
        zero: Differences of no more than this are rounding, (windows, 1).

    Returns:
        Booleans of the same shape; none in a row where the largest entry changes inside.
    """
    return (left >= left.amax(1, keepdim=True) - zero) & (right >= right.amax(1, keepdim=True) - zero)


def takeovers(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Where inside an interval another entry of a window becomes the largest: the bends of the upper envelope.

    Args:
        left: Entries at the left end, (windows, entries).
        right: At the right end.

    Returns:
        Windows, and fractions of the interval in (0, 1), one for each change.

    >>> takeovers(torch.tensor([[0.0, -1.0, -9.0]]), torch.tensor([[0.0, 1.0, 1.0]]))
    (tensor([0]), tensor([0.5000]))
    >>> takeovers(torch.tensor([[1.0, 0.0, 0.75]]), torch.tensor([[0.0, 1.0, 0.75]]))
    (tensor([0, 0]), tensor([0.2500, 0.7500]))
    """
    rate, windows = right - left, torch.arange(len(left), device=left.device)
    # the largest at the left end; of several, the one that grows most
    leader = rate.masked_fill(left < left.amax(1, keepdim=True), -torch.inf).argmax(1, keepdim=True)
    found_windows, found = [windows[:0]], [left[:0, 0]]
    while len(windows):
        closing = rate - rate.gather(1, leader)
        meets = ((left.gather(1, leader) - left) / closing).masked_fill(closing <= 0, torch.inf)
        first = meets.amin(1, keepdim=True)
        inside = first[:, 0] < 1
        windows, left, rate, first, meets = (x[inside] for x in (windows, left, rate, first, meets))
        # of those that meet it there, the one that grows most
        leader = rate.masked_fill(meets > first, -torch.inf).argmax(1, keepdim=True)
        found_windows.append(windows[first[:, 0] > 0])
        found.append(first[first > 0])
    return torch.cat(found_windows), torch.cat(found)


class Operation(NamedTuple):
    """What is done with features; they have numbers, those of the input 0.

    Attributes:
        what: The function.
        inputs: The features that it reads.
        outputs: Those that it makes.
    """

    what: Affine | Activation | MaxPool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Program:
    """The operations of a network, and when features are no longer needed.

    Args:
        operations: In the order in which they run.
        output: The features that the network returns.
        widest: The most features that a sample has anywhere.

    Attributes:
        steps: The operations, each with the features that nothing reads after it.
    """

    def __init__(self, operations: Sequence[Operation], output: int, widest: int) -> None:
        self.output, self.widest = output, widest
        last = {number: step for step, one in enumerate(operations) for number in (*one.inputs, *one.outputs)}
        last.pop(output, None)
        unused = [[number for number, at in last.items() if at == step] for step in range(len(operations))]
        self.steps = list(zip(operations, unused, strict=True))

    def run(self, known: dict[int, Tensor], bends: Mapping[type, Callable[..., Tensor]]) -> Tensor:
        """What becomes of the input, step by step.

        Args:
            known: The features of the input, as number 0; during a step, those that are read after it.
            bends: What computes an :class:`Activation` of features, and what a :class:`MaxPool`.
        """
        for (what, inputs, outputs), unused in self.steps:
            given = [known[number] for number in inputs]
            for number in unused:
                known.pop(number, None)
            found = what.compute(*given) if isinstance(what, Affine) else bends[type(what)](*given, what)
            made = zip(outputs, tensors_in(found), strict=True)
            known.update((number, features) for number, features in made if number not in unused)
        return known[self.output]


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
    affine = [one.what for one in chain if isinstance(one.what, Affine)]
    if {what.name for what in affine} <= KEEPING | {"linear"} or len(first.inputs) != 1 or len(last.outputs) != 1:
        return chain
    inside, outside = shapes[first.inputs[0]], shapes[last.outputs[0]]
    widest = max(shapes[number].numel() for one in chain for number in one.outputs)
    entries = inside.numel() * outside.numel()
    if inside.numel() > MOST_INPUTS or entries > MOST_ENTRIES or widest > MOST_FEATURES:
        return chain
    points = torch.eye(inside.numel() + 1, inside.numel(), dtype=like.dtype, device=like.device).view(-1, *inside)
    for what in affine:
        (points,) = tensors_in(what.compute(points))
    constant = points[-1].flatten()
    matrix = points[:-1].reshape(inside.numel(), outside.numel()) - constant  # the last point is zero

    def compute(x: Tensor) -> Tensor:
        return torch.addmm(constant, x.reshape(len(x), inside.numel()), matrix).view(len(x), *outside)

    return [Operation(Affine("matrix", compute), first.inputs, last.outputs)]
