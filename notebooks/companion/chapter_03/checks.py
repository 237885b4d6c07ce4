"""The exercises of chapter 3, *Estimating it well*."""

from __future__ import annotations

import torch

from companion.activations import points_needed
from companion.answers import as_number, close
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
