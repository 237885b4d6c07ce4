"""The exercises of notebook 21, *Deeper, and more efficient*."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray

from affscore.analysis import shaking, trend_within
from affscore.exercises.answers import as_arrays, as_numbers
from affscore.exercises.registry import Hints, exercise, right

Values = NDArray[np.float64]

SMOOTH, SHAKEN = 0.3, 1.5
"""What the ratio of the first signature of exercise 21.1 must not pass, and that of the second must reach."""


@exercise("21.1", lambda answer: as_arrays(answer, "a pair (smooth, shaken)", "smooth", "shaken"))
def same_scores_shaken(smooth: Values, shaken: Values) -> Hints:
    """21.1: the same scores in two orders, one smooth and one a zigzag."""
    yield not 10 <= len(smooth) <= 200, f"Expected 10 to 200 scores each, got {len(smooth)}."
    low, high = min(smooth.min(), shaken.min()), max(smooth.max(), shaken.max())
    yield low < 0 or high > 1, f"Scores lie in [0, 1]; these go from {low:.2f} to {high:.2f}."
    yield not np.allclose(np.sort(smooth), np.sort(shaken)), "These are not the same scores: only the order may differ."
    yield high - low < 1e-6, "All scores are the same, so that every order is."
    one, other = shaking(smooth).ratio, shaking(shaken).ratio
    yield one > SMOOTH, f"The first has a ratio of {one:.2f}: which order has the smallest steps?"
    yield (
        other < SHAKEN,
        f"The second has a ratio of {other:.2f}: its steps are too small for the spread of its scores.",
    )
    yield True, right(f"Ratios {one:.2f} and {other:.2f}, with the same mean, spread and minimum.")


@exercise("21.2", lambda answer: as_numbers(answer, "a pair (depths, kinds)"))
def depths_that_decide(*numbers: float) -> Hints:
    """21.2: how many depths of one kind, and how many kinds of three depths, a perfect rise needs for p < 0.05."""
    yield len(numbers) != 2, f"Expected two numbers (depths, kinds), got {len(numbers)}."
    depths, kinds = numbers
    enough = next(k for k in count(2) if _p_of_a_perfect_rise(k, 1) < 0.05)
    together = next(m for m in count(1) if _p_of_a_perfect_rise(3, m) < 0.05)
    yield (
        depths == enough - 1,
        "The first number is enough for a one-sided test: a perfect fall would surprise you, too.",
    )
    yield depths != enough, "The first number: of so many depths, how many orders are there, and how small can p be?"
    yield kinds == together - 1, "The second number: nearly, but its p is still above 0.05 by a little."
    yield kinds != together, "The second number: the orders within each kind multiply."
    yield True, right("Orders multiply over kinds, so a few depths of several kinds decide what many of one would.")


def _p_of_a_perfect_rise(depths: int, kinds: int) -> float:
    """The exact two-sided p-value where a statistic rises from each depth to the next, in every kind."""
    depth = np.tile(np.arange(depths), kinds)
    return trend_within(depth, depth, np.repeat(np.arange(kinds), depths)).two_sided
