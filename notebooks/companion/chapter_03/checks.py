"""The exercises of chapter 3, *Estimating it well*."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.activations import points_needed
from companion.answers import as_clouds, as_number, close
from companion.exercises import Hints, exercise, right

WIDTH, TOLERANCE = 256, 0.01
"""The layer of exercise 3.1 and the bias that it may have."""


@exercise("3.1", as_number)
def points_for_a_layer(number: float) -> Hints:
    """How many points hold the bias of ReLU at width 256 below 0.01, with the empirical covariance."""
    expected = points_needed(WIDTH, TOLERANCE, torch.relu)
    most = 2 * points_needed(WIDTH, TOLERANCE)  # as many again as the worst case needs
    for_each = 0.9 * expected <= number * WIDTH <= most
    large = right("Several times the width: the bias falls like d/n, and d is large.")
    yield 0.99 * expected <= number <= most, large
    yield for_each, "That is the number of points for each coordinate. How many are these in all?"
    yield close(number, WIDTH, 0.1 * WIDTH), "As many points as coordinates: what does the figure show at n/d = 1?"
    yield close(number, expected / 10, 0.015 * expected), "Check the decimal point of the bias that is allowed."
    yield number >= 0.9 / TOLERANCE**2, "Too many: a rule for the spread, which falls like a root. Mind the bias."
    yield number > expected, "Enough, but more than twice the smallest number. Solve the rule for n."
    yield True, "Too few: the bias would be larger. Solve the rule for n, with the correlation of ReLU."


@exercise("3.2", as_clouds)
def fooled_by_shrinkage(x: NDArray[np.float64], y: NDArray[np.float64]) -> Hints:
    """Clouds (x, y) with y = x D for a positive diagonal D, and a score of at most 0.9 with shrinkage."""
    n, d = x.shape
    yield n <= d, f"Take more points than coordinates, so that nothing is singular: you have {n} and {d}."
    centred_x, centred_y = x - x.mean(axis=0), y - y.mean(axis=0)
    sizes = np.square(centred_x).sum(axis=0)
    yield (sizes == 0).any(), "A coordinate of x is constant: let each of them vary."
    factors = (centred_x * centred_y).sum(axis=0) / sizes
    rest = np.abs(centred_y - centred_x * factors).max()
    other = "y is not x with each coordinate multiplied by a number of its own (and shifted)."
    yield rest > 1e-6 * np.abs(centred_y).max(), other
    yield (factors <= 0).any(), "All factors must be positive: a coordinate is turned around or lost."
    shrunk, empirical = affinity_score(x, y, "ledoit-wolf"), affinity_score(x, y, "empirical")
    scores = f"{shrunk.value:.2f}; with the empirical covariance, {empirical.value:.2f}."
    yield shrunk.value <= 0.9, right(f"A linear map that scores {scores}")
    equal = "All factors are equal. The score does not notice a common factor: make them different."
    yield np.ptp(factors) < 1e-9 * factors.max(), equal
    above = f"With shrinkage the score is {shrunk.value:.2f}, still above 0.9."
    hint = "x is hardly shrunk: with fewer points, or coordinates that are more alike, there is more to shrink."
    yield shrunk.intensity[0] < 0.5, f"{above} {hint}"
    yield True, f"{above} Shrinkage levels the variances of x. How could those of y resist it?"
