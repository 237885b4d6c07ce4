"""A network as a list of operations, which say what is affine and where the network bends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from affscore.linear_regions.pooling import MaxPool


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
        units: How many a sample has.
        slope: Below zero: 0.0 for ReLU, else a number or one for each unit, (units,).
        linear: The units that it leaves as they are, whose slope is 1; None for none.
    """

    units: int
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
            return cls(len(slope), slope, slope == 1 if bool((slope == 1).any()) else None)
        return cls(shape.numel(), float(slope), torch.tensor(True) if float(slope) == 1 else None)

    @property
    def flat(self) -> bool:
        """Whether it is ReLU."""
        return isinstance(self.slope, float) and self.slope == 0

    def bent(self, features: Tensor) -> Tensor:
        """What it makes of features, (..., features)."""
        if self.flat:
            return features.clamp_min(0)
        return features.clamp_min(0) + self.slope * features.clamp_max(0)


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
        units: How many units each activation has.
        missing: And how many they are short of a multiple of eight, all together; eight where there is none.
    """

    def __init__(self, operations: Sequence[Operation], output: int, widest: int) -> None:
        self.output, self.widest = output, widest
        last = {number: step for step, one in enumerate(operations) for number in (*one.inputs, *one.outputs)}
        last.pop(output, None)
        unused: list[list[int]] = [[] for _ in operations]
        for number, step in last.items():
            unused[step].append(number)
        self.steps = list(zip(operations, unused, strict=True))
        self.units = [one.what.units for one in operations if isinstance(one.what, Activation)]
        self.missing = -sum(self.units) % 8 if self.units else 8
