"""The exercises of chapter 16, *Nonlinear advantage*."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from affscore.nonlinear_advantage import average_path_length, slopes, to_prelu
from companion.answers import as_numbers, close, matching
from companion.exercises import Hints, exercise, right

FIRST, SECOND = (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.25, 1.0)
"""The slopes of exercise 16.1, of the channels before the residual connection and inside it."""

TO_TWO_DECIMALS = 0.006
"""By how much numbers may differ in exercise 16.1."""


class Block(nn.Module):
    """A residual block: two layers, a ReLU between them, and a skip connection."""

    def __init__(self, inner: nn.Module, outer: nn.Module) -> None:
        super().__init__()
        self.inner, self.outer = inner, outer

    def forward(self, x: Tensor) -> Tensor:
        """Features of features of the same shape."""
        return x + self.outer(torch.relu(self.inner(x)))


def _sloped(network: nn.Module, of_units: Sequence[Sequence[float]]) -> nn.Module:
    """A network with these slopes."""
    made = to_prelu(network)
    for unit, given in zip(slopes(made).values(), of_units, strict=True):
        unit.weight.data = torch.tensor(given)
    return made


@exercise("16.1", lambda answer: as_numbers(answer, "a pair (NAPL, APL)"))
def two_path_lengths(*given: float) -> Hints:
    """(NAPL, APL) of a residual block behind a layer of four channels, half of them linear."""
    width = len(FIRST)
    a, b, c = (nn.Conv2d(channels, width, 3, padding=1) for channels in (1, width, width))
    plain = nn.Sequential(a, nn.ReLU(), Block(b, c), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1))
    network, image = _sloped(plain, (FIRST, SECOND)), torch.zeros(1, 1, 8, 8)
    napl, apl = (average_path_length(network, image, normalized) for normalized in (True, False))
    before, inside = (sum(slope != 1 for slope in of_unit) / width for of_unit in (FIRST, SECOND))
    zeros, by_size = sum(slope == 0 for slope in SECOND) / width, sum(1 - slope for slope in SECOND) / width
    napl_is_right, apl_is_right = (
        close(one, value, TO_TWO_DECIMALS) for one, value in zip(given, (napl, apl), strict=True)
    )
    hints = (
        ((napl, apl), right("The skip is one half of NAPL, and one path of 17 of APL: APL hardly notices it.")),
        ((apl, napl), "Both numbers are there. Which of the two did you name first?"),
        ((before + inside,) * 2, "That is the long way only. What does the skip add to the addition?"),
        (_lengths(1, 1), "A channel whose slope is 1 is linear, and does not count."),
        (_lengths(before, zeros), "A slope of 0.25 still bends. Which slope alone makes a channel linear?"),
        (_lengths(before, by_size), "A unit counts as a whole or not at all, whatever its slope below 1."),
        (_lengths(0, before + inside), "The skip begins at h. What has a path met before it?"),
        (_lengths(before, inside, (9 * width) ** 2), "One edge joins two channels, whatever the size of the kernel."),
        (_lengths(before, inside, width), "NAPL is right. How many paths lead from h through B and C to a channel?"),
        (napl_is_right, "NAPL is right. For APL count the paths from h to a channel of y, on the skip and the branch."),
        (apl_is_right, "APL is right. For NAPL the skip is as probable as the whole branch."),
        (True, "Note for each channel of h how many units its paths have met. Then follow skip and branch to y."),
    )
    return matching(given, hints, TO_TWO_DECIMALS)


def _lengths(before: float, inside: float, paths: int = 16) -> tuple[float, float]:
    """(NAPL, APL) where so many units are met before and inside, and so many paths lead through the branch."""
    skip, branch = before, before + inside
    return (skip + branch) / 2, (skip + paths * branch) / (1 + paths)
