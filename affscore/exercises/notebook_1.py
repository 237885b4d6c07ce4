"""The exercises of notebook 1, *The affinity score*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from affscore.exercises.answers import NotAnAnswerError, as_clouds, as_function, as_number, call
from affscore.exercises.registry import exercise
from affscore.exercises.verdict import Verdict
from affscore.transport import affinity_score, wasserstein

__all__ = ["blind_spot", "predicted_score", "wasserstein_on_a_line"]

Values = NDArray[np.float64]

LEAK = 0.1
"""Slope of the leaky ReLU of exercise 1.2 where its input is negative."""


@exercise("1.1")
def wasserstein_on_a_line(answer: object) -> Verdict:
    """1.1: a function ``w2(x, y)`` of two arrays (n,) that returns their 2-Wasserstein distance."""
    function = as_function(answer, "a function w2(x, y)")
    pairs = _samples_on_a_line()
    expected = [wasserstein(x[:, None], y[:, None]) for x, y in pairs]
    got = []
    for x, y in pairs:
        value = call(function, x, y)
        try:
            got.append(as_number(value))
        except NotAnAnswerError as reason:
            if value is None:
                raise NotAnAnswerError("Your function returns nothing: does it end with return ...?") from reason
            raise NotAnAnswerError(f"About what your function returns: {reason}") from reason
    if np.allclose(got, expected, rtol=1e-6, atol=1e-9):
        return Verdict(
            True,
            "On a line the k-th smallest point goes to the k-th smallest point: sorting solves the assignment.",
        )
    for mistake, hint in _MISTAKES_ON_A_LINE:
        if np.allclose(got, [mistake(x, y) for x, y in pairs], rtol=1e-6, atol=1e-9):
            return Verdict(False, hint)
    k = next(k for k, pair in enumerate(zip(got, expected, strict=True)) if not np.isclose(*pair, rtol=1e-6))
    x, y = pairs[k]
    shown = f"x = {x[:4].round(2).tolist()}, y = {y[:4].round(2).tolist()}" + (", ..." if len(x) > 4 else "")
    direction = "large" if got[k] > expected[k] else "small"
    return Verdict(
        False,
        f"For {shown} your distance is too {direction}. "
        "Write down the definition: which permutation, mean of what, and what at the end?",
    )


@exercise("1.2")
def predicted_score(answer: object) -> Verdict:
    """1.2: the score of leaky ReLU (slope 0.1) of many independent standard normal coordinates, a number."""
    number = as_number(answer)
    correlation = _correlation(_leaky_relu)
    expected = _limit(correlation)
    if abs(number - expected) <= 0.005:
        return Verdict(True, "In high dimension the score of a coordinatewise function is a correlation in disguise.")
    for mistake, hint in (
        (correlation, "That is the correlation itself. The score follows from it in one more step."),
        (1 - correlation, "That is one minus the correlation. A distance is a square root: which one?"),
        (1 - _limit(correlation), "That is the distance over its bound. How does the score follow?"),
        (
            1 - np.sqrt(2 * (1 - correlation)),
            "Check the normaliser: the score divides by the root of twice the trace.",
        ),
        (
            _limit(_correlation(_leaky_relu, centred=False)),
            "The leaky ReLU of a centred input is not centred: subtract its mean first.",
        ),
        (
            _limit(_correlation(_relu)),
            "That is the score of ReLU itself. A slope on the negative side makes it closer to affine.",
        ),
    ):
        if abs(number - mistake) <= 0.005:
            return Verdict(False, hint)
    if not 0 <= number <= 1:
        return Verdict(False, "A score lies between 0 and 1.")
    if abs(number - expected) <= 0.03:
        return Verdict(
            False,
            "Close, but not to two decimals. Only with many coordinates is a measured score near its limit.",
        )
    return Verdict(
        False,
        "Compute the correlation of x and s(x) for a standard normal x, then the score, as in the text.",
    )


@exercise("1.3")
def blind_spot(answer: object) -> Verdict:
    """1.3: clouds (x, y) with a score of at least 0.99 although no affine map predicts y_i from x_i."""
    x, y = as_clouds(answer)
    if len(x) < 100 or len(x) < 10 * x.shape[1]:
        return Verdict(
            False,
            f"Take at least 100 samples, and ten for each coordinate; an affine map fits {len(x)} by luck.",
        )
    score = affinity_score(x, y, covariance="empirical")
    if score.constant_output:
        return Verdict(False, "This y is constant, and a constant is affine. Let y vary.")
    explained = _explained_variance(x, y)
    if score.value >= 0.99 and explained <= 0.1:
        return Verdict(
            True,
            f"The score is {score.value:.3f}, and yet the best affine prediction of y from x explains "
            f"only {max(explained, 0.0):.1%} of its variance: the score compares distributions, not pairs.",
        )
    if score.value >= 0.99 and explained >= 0.99:
        return Verdict(
            False,
            "The score is high, but so it should be: here y is an affine function of x, pair by pair. "
            "Which change of the rows of y leaves its distribution alone?",
        )
    if score.value >= 0.99:
        return Verdict(
            False,
            f"The score is high, but an affine map still explains {explained:.0%} of the variance of y; "
            "at most 10 % are allowed. Break the pairing more thoroughly.",
        )
    if explained <= 0.1:
        return Verdict(
            False,
            f"No affine map predicts y from x, as it should be, but the score is only {score.value:.2f}. "
            "Do the points of y, taken as a set, form an affine image of the points of x?",
        )
    return Verdict(
        False,
        f"The score is {score.value:.2f} and must be at least 0.99, while an affine map explains {explained:.0%} "
        "of the variance. What does the score look at, and what does a prediction look at?",
    )


def _samples_on_a_line() -> list[tuple[Values, Values]]:
    generator = np.random.default_rng(11)
    return [
        (np.array([3.0, 0.0, 1.0]), np.array([2.0, 6.0, -4.0])),
        (np.array([-1.0, 5.0, 2.0, 2.0]), np.array([0.0, -7.0, 3.0, 1.0])),
        (generator.standard_normal(50), 3 + 2 * generator.exponential(size=50)),
    ]


_MISTAKES_ON_A_LINE: tuple[tuple[Callable[[Values, Values], float], str], ...] = (
    (
        lambda x, y: float(np.sqrt(np.mean((x - y) ** 2))),
        "That is the distance of the pairs as they were given. W2 may choose the pairs.",
    ),
    (
        lambda x, y: float(np.mean((np.sort(x) - np.sort(y)) ** 2)),
        "The pairs are right, but that is a mean square; the Wasserstein distance has the unit of the data.",
    ),
    (
        lambda x, y: float(np.sqrt(np.sum((np.sort(x) - np.sort(y)) ** 2))),
        "The pairs are right, but each of the n points has the weight 1/n: a mean, not a sum "
        "(np.linalg.norm is a sum).",
    ),
    (
        lambda x, y: float(np.mean(np.abs(np.sort(x) - np.sort(y)))),
        "The pairs are right, but that is the 1-Wasserstein distance. What is squared, where is the root?",
    ),
    (
        lambda x, y: float(np.sqrt(np.mean((np.sort(x) - np.sort(y)[::-1]) ** 2))),
        "These are the most expensive pairs. Do you sort both in the same direction?",
    ),
    (
        lambda x, y: float(np.sqrt(np.mean((np.sort(x) - y) ** 2))),
        "Only one of the two samples is sorted.",
    ),
    (
        lambda x, y: float(np.sqrt(np.mean((x - np.sort(y)) ** 2))),
        "Only one of the two samples is sorted.",
    ),
    (
        lambda x, y: float(abs(np.mean(x) - np.mean(y))),
        "That is the distance of the means, which ignores the shapes of the two samples.",
    ),
)


def _relu(x: Values) -> Values:
    return np.maximum(x, 0.0)


def _leaky_relu(x: Values) -> Values:
    return np.where(x > 0, x, LEAK * x)


def _correlation(function: Callable[[Values], Values], centred: bool = True) -> float:
    """Correlation of a standard normal x and its image, on a fine grid of quantiles."""
    x = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    y = function(x)
    if centred:
        y = y - y.mean()
    return float(np.mean(x * y) / np.sqrt(np.mean(x**2) * np.mean(y**2)))


def _limit(correlation: float) -> float:
    return float(1 - np.sqrt(1 - correlation))


def _explained_variance(x: Values, y: Values) -> float:
    """Share of the variance of y that the least-squares affine map of x explains."""
    design = np.column_stack([x, np.ones(len(x))])
    solution, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual = y - design @ solution
    return float(1 - np.sum(residual**2) / np.sum((y - y.mean(axis=0)) ** 2))
