"""The exercises of chapter 1, *The affinity score*."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from affscore.transport import wasserstein
from companion.activations import limit_score
from companion.answers import as_function, as_number, close, matching, numbers_of
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]

LEAK = 0.1
"""Slope of the leaky ReLU of exercise 1.2 where its input is negative."""


@exercise("1.1", as_function, "a function w2(x, y)")
def wasserstein_on_a_line(function: Callable[..., object]) -> Hints:
    """A function ``w2(x, y)`` of two arrays (n,) that returns their 2-Wasserstein distance."""
    generator = np.random.default_rng(11)
    cases = [
        (np.array([3.0, 0.0, 1.0]), np.array([2.0, 6.0, -4.0])),
        (np.array([-1.0, 5.0, 2.0, 2.0]), np.array([0.0, -7.0, 3.0, 1.0])),
        (generator.standard_normal(50), 3 + 2 * generator.exponential(size=50)),
    ]
    got = numbers_of(function, cases)
    yield from matching(got, _ON_A_LINE, cases=cases)
    expected = [_w2(x, y) for x, y in cases]
    (x, y), found, wanted = next(row for row in zip(cases, got, expected, strict=True) if not close(row[1], row[2]))
    shown = f"x = {x[:4].round(2).tolist()}, y = {y[:4].round(2).tolist()}" + (", ..." if len(x) > 4 else "")
    size = "large" if found > wanted else "small"
    yield True, f"For {shown} your distance is too {size}. Which permutation, mean of what, and what at the end?"


def _w2(x: Values, y: Values) -> float:
    return wasserstein(x[:, None], y[:, None])


def _rms(differences: Values) -> float:
    return float(np.sqrt(np.mean(differences**2)))


def _cost(x: Values, y: Values, direction: int = 1) -> float:
    return _rms(np.sort(x) - np.sort(y)[::direction])


_SORTED = "On a line the k-th smallest point goes to the k-th smallest point: sorting solves the assignment."

_SUM = "The right pairs, but each point has the weight 1/n: a mean, not a sum (np.linalg.norm is a sum)."

_W1 = "The right pairs, but the 1-Wasserstein distance. What is squared, where is the root?"

_ON_A_LINE = (
    (_w2, right(_SORTED)),
    (lambda x, y: _rms(x - y), "That is the distance of the pairs as they were given. W2 may choose the pairs."),
    (lambda x, y: _cost(x, y) ** 2, "The right pairs, but a mean square: the distance has the unit of the data."),
    (lambda x, y: _cost(x, y) * np.sqrt(len(x)), _SUM),
    (lambda x, y: np.mean(np.abs(np.sort(x) - np.sort(y))), _W1),
    (lambda x, y: _cost(x, y, -1), "These are the most expensive pairs. Do you sort both in the same direction?"),
    (lambda x, y: _rms(np.sort(x) - y), "Only one of the two samples is sorted."),
    (lambda x, y: _rms(x - np.sort(y)), "Only one of the two samples is sorted."),
    (lambda x, y: abs(np.mean(x) - np.mean(y)), "That is the distance of the means, which ignores the shapes."),
)


@exercise("1.2", as_number)
def predicted_score(number: float) -> Hints:
    """The score of leaky ReLU (slope 0.1) of many independent standard normal coordinates, a number."""
    leaky_relu = partial(torch.nn.functional.leaky_relu, negative_slope=LEAK)
    expected = limit_score(leaky_relu)
    correlation = 1 - (1 - expected) ** 2
    uncentred = 1 - np.sqrt(1 - (1 + LEAK) / np.sqrt(2 * (1 + LEAK**2)))  # from E(xy) and E(y^2)
    of_relu = limit_score(torch.relu)
    nearly = "Close, but not to two decimals. Only with many coordinates is a measured score near its limit."
    answers = (
        (expected, right("In high dimension the score of a coordinatewise function is a correlation in disguise.")),
        (correlation, "That is the correlation itself. The score follows from it in one more step."),
        (1 - correlation, "That is one minus the correlation. A distance is a square root: which one?"),
        (1 - expected, "That is the distance over its bound. How does the score follow?"),
        (1 - np.sqrt(2 * (1 - correlation)), "Check the normaliser: the score divides by the root of twice the trace."),
        (uncentred, "The leaky ReLU of a centred input is not centred: subtract its mean first."),
        (of_relu, "That is the score of ReLU itself. A slope on the negative side makes it closer to affine."),
        (not 0 <= number <= 1, "A score lies between 0 and 1."),
        (close(number, expected, 0.03), nearly),
        (True, "Compute the correlation of x and s(x) for a standard normal x, then the score, as in the text."),
    )
    return matching(number, answers, 0.005)
