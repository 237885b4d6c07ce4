"""How many paths lead from the input to each entry of a tensor, how many units they meet, and what a function got."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from affscore.recorder.functions import Function

NUMBERS = {"paths": -torch.inf, "length": 0.0, "expected": 0.0}
"""What is counted, and what it is where no path leads."""


@dataclass(frozen=True)
class Counts:
    """Of each entry of a tensor, with its shape, in float64.

    Attributes:
        paths: The logarithm of the number of paths that end here; minus infinity for an entry that no path reaches.
        length: The mean number of units over these paths, each counting the same: the total over the number, T / P.
        expected: The mean over a walk back to the input that takes each branch of an addition with the same
            probability, and each channel that is mixed, N.
        weights: Whether these are weights by which something else is multiplied: outputs of softmax or a sigmoid.
        lost: The operation after which nobody knows; the numbers mean nothing then.

    >>> both = Counts.start(torch.zeros(2)).met(torch.ones(2)).merged(Counts.start(torch.zeros(2)))
    >>> both.paths.exp().tolist(), both.length.tolist(), both.expected.tolist()
    ([2.0, 2.0], [0.5, 0.5], [0.5, 0.5])
    """

    paths: Tensor
    length: Tensor
    expected: Tensor
    weights: bool = False
    lost: str = ""

    @classmethod
    def start(cls, x: Tensor, lost: str = "") -> Counts:
        """Those of the input: one path, which has met nothing."""
        zeros = torch.zeros(x.shape, dtype=torch.float64, device=x.device)
        return cls(zeros, zeros, zeros, lost=lost)

    @property
    def shape(self) -> torch.Size:
        """That of the tensor."""
        return self.paths.shape

    def each(self, function: Callable[[Tensor], Tensor]) -> Counts:
        """The same function of the three."""
        return replace(self, paths=function(self.paths), length=function(self.length), expected=function(self.expected))

    def met(self, units: Tensor | float) -> Counts:
        """After units, 1 where one is non-linear and 0 where it is linear."""
        return replace(self, length=self.length + units, expected=self.expected + units, weights=False)

    def expand(self, shape: Sequence[int]) -> Counts:
        """Broadcast to a shape."""
        return self.each(lambda one: one.expand(shape))

    def merged(self, other: Counts) -> Counts:
        """After an addition of two branches: P and T add up, N is the mean over the branches that a path reaches."""
        shape = torch.broadcast_shapes(self.shape, other.shape)
        ours, theirs = self.expand(shape), other.expand(shape)
        both = [torch.stack([getattr(one, name) for one in (ours, theirs)]) for name in NUMBERS]
        return Counts(both[0], both[1], both[2], lost=self.lost or other.lost).mixed([0], keepdim=False)

    def mixed(self, axes: Sequence[int], keepdim: bool = True) -> Counts:
        """After entries were added up along axes: P and T add up, N is the mean over those that a path reaches."""
        return replace(self._over(axes, keepdim, torch.logsumexp(self.paths, list(axes), keepdim)), weights=False)

    def averaged(self, axes: Sequence[int], keepdim: bool = True) -> Counts:
        """After entries were brought together along axes of positions, which multiply no paths: P is the mean, too."""
        reached = self._reached.sum(list(axes), keepdim=keepdim).clamp_min(1)
        return self._over(axes, keepdim, torch.logsumexp(self.paths, list(axes), keepdim) - reached.log())

    @property
    def _reached(self) -> Tensor:
        return (self.paths > -torch.inf).double()

    def _over(self, axes: Sequence[int], keepdim: bool, paths: Tensor) -> Counts:
        axes = list(axes)
        largest = self.paths.amax(axes, keepdim=True).clamp_min(torch.finfo(torch.float64).min)
        share = (self.paths - largest).exp()
        length = (share * self.length).sum(axes, keepdim) / share.sum(axes, keepdim).clamp_min(1e-300)
        reached = self._reached
        expected = (reached * self.expected).sum(axes, keepdim) / reached.sum(axes, keepdim).clamp_min(1)
        return Counts(paths, length, expected, self.weights, self.lost)


@dataclass
class Call:
    """A function of PyTorch that has run, and what is known of the paths to its arguments.

    Attributes:
        name: Of the function.
        function: What ran.
        args: What it was called with.
        kwargs: And by name.
        outputs: The tensors that it returned; for one that returns nothing, its first argument.
        given: The counts of the arguments that depend on the input, in their order.
        counts_of: Those of any value; None for what does not depend on the input.
    """

    name: str
    function: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: list[Tensor]
    given: list[Counts]
    counts_of: Callable[[Any], Counts | None]

    def argument(self, name: str, place: int, default: Any = None) -> Any:
        """An argument by its name or its place."""
        return self.kwargs.get(name, self.args[place] if len(self.args) > place else default)

    @property
    def output(self) -> Tensor:
        """The first tensor that it returned."""
        return self.outputs[0]

    @property
    def first(self) -> Counts | None:
        """The counts of the first argument."""
        return self.counts_of(self.argument("input", 0))


def moved(function: Callable[..., Any], given: Sequence[Counts]) -> Any:
    """The counts after a function that only puts entries elsewhere, or constants beside them.

    Args:
        function: Of tensors with the shapes of these counts, which have a number for each entry, from 1; what is no
            entry must be 0 in what it returns.
        given: The counts.

    >>> first = Counts.start(torch.zeros(2)).met(torch.tensor([0.0, 1.0]))
    >>> moved(lambda x: torch.nn.functional.pad(x.flip(0), (1, 0)), [first]).length.tolist()
    [0.0, 1.0, 0.0]
    """
    numbers, next_number = [], 1
    for one in given:
        count = one.paths.numel()
        ends = torch.arange(next_number, next_number + count, dtype=torch.float64, device=one.paths.device)
        numbers.append(ends.view(one.shape))
        next_number += count
    columns = [
        torch.cat([given[0].paths.new_full((1,), nowhere), *(getattr(one, name).flatten() for one in given)])
        for name, nowhere in NUMBERS.items()
    ]
    weights, lost = all(one.weights for one in given), next((one.lost for one in given if one.lost), "")

    def looked_up(places: Tensor) -> Counts:
        paths, length, expected = (column[places.long()] for column in columns)
        return Counts(paths, length, expected, weights, lost)

    output = function(*numbers)
    return looked_up(output) if isinstance(output, Tensor) else [looked_up(one) for one in output]
