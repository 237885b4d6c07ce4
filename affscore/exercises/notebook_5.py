"""The exercises of notebook 5, *A decade at a glance*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from affscore.analysis import rarefied_range, signature_distance
from affscore.exercises.answers import as_array, as_function, as_number, as_pair, call
from affscore.exercises.registry import exercise
from affscore.exercises.verdict import Verdict

__all__ = ["hidden_by_three_numbers", "spread_function", "spread_of_uniform_scores"]

LOW, HIGH = 0.4, 0.9
FEW, MANY = 7, 151
"""The two networks of exercise 5.1 and the range of their scores."""

LEAST_SCORES, MOST_SCORES, LEAST_DISTANCE = 10, 1000, 1.0
"""What exercise 5.3 asks for."""


@exercise("5.1")
def spread_of_uniform_scores(answer: object) -> Verdict:
    """5.1: by how much the expected spread of 151 uniform scores on [0.4, 0.9] is larger than that of 7, a number."""
    number = as_number(answer)
    width = HIGH - LOW
    expected = _uniform(MANY) * width - _uniform(FEW) * width
    if abs(number - expected) < 0.002:
        return Verdict(True, "Nothing about the networks differs but how many scores they have.")
    if abs(number - expected / width) < 0.004:
        return Verdict(False, "That holds for scores between 0 and 1. How wide is the range here?")
    if abs(number - _uniform(MANY) * width) < 0.002 or abs(number - _uniform(FEW) * width) < 0.002:
        return Verdict(False, "That is the expected spread of one of the two; the difference is asked for.")
    if abs(number + expected) < 0.002:
        return Verdict(False, "The sign: the spread of more scores is the larger one.")
    if abs(number) < 1e-9:
        return Verdict(False, "The distribution is the same, but the extremes of many numbers lie further apart.")
    if abs(number - width * (_middle(MANY) - _middle(FEW))) < 0.002:
        return Verdict(False, "Close: is the mean of the smallest of k numbers one part of k, or of k + 1?")
    return Verdict(False, "Where do the smallest and the largest of k uniform numbers lie on average?")


def _uniform(k: int) -> float:
    """The expected spread of k uniform numbers on [0, 1]: both ends lose one part of k + 1."""
    return (k - 1) / (k + 1)


def _middle(k: int) -> float:
    return (k - 2) / k


@exercise("5.2")
def spread_function(answer: object) -> Verdict:
    """5.2: a function spread(scores, size), the expected spread of a random subset."""
    function = as_function(answer, "a function spread(scores, size)")
    generator = np.random.default_rng(52)
    cases = [(generator.uniform(0.2, 1, 9), 4), (generator.uniform(0.2, 1, 100), 7), (np.array([0.9, 0.3, 0.5]), 3)]
    got = [as_number(call(function, scores, size)) for scores, size in cases]
    expected = np.array([rarefied_range(scores, size) for scores, size in cases])
    if np.allclose(got, expected, rtol=0, atol=1e-6):
        return Verdict(True, "All subsets are counted, and none was drawn.")
    if np.allclose(got, expected, rtol=0, atol=0.02):
        return Verdict(False, "Nearly: averages over random subsets scatter. How many subsets have a score as largest?")
    for mistake, hint in _SPREAD_MISTAKES:
        if np.allclose(got, [mistake(scores, size) for scores, size in cases], rtol=0, atol=1e-6):
            return Verdict(False, hint)
    if abs(got[2] - expected[2]) > 1e-6:
        return Verdict(False, "A subset that is the whole has the spread of the scores, in whatever order these come.")
    return Verdict(False, "For each score: in how many subsets is it the largest, and in how many the smallest?")


def _with_replacement(scores: NDArray[np.float64], size: int) -> float:
    """The expected spread of draws that may repeat."""
    ordered, k = np.sort(scores), len(scores)
    at_most = (np.arange(1, k + 1) / k) ** size
    share = np.diff(at_most, prepend=0)
    return float(share @ ordered - share[::-1] @ ordered)


_SPREAD_MISTAKES: tuple[tuple[Callable[[NDArray[np.float64], int], float], str], ...] = (
    (lambda scores, size: float(np.ptp(scores)), "That is the spread of all scores; only a few are drawn."),
    (lambda scores, size: float(np.ptp(scores[:size])), "That is the spread of the first ones; every subset counts."),
    (_with_replacement, "That draws with replacement: here no score comes twice."),
    (
        lambda scores, size: float(np.ptp(scores)) * size / len(scores),
        "The spread does not grow in proportion to the number: the first few scores widen it most.",
    ),
)


@exercise("5.3")
def hidden_by_three_numbers(answer: object) -> Verdict:
    """5.3: two signatures with the same minimum, median and maximum and a warping distance of at least 1."""
    one, other = (as_array(part, "a signature, a list", ndim=1) for part in as_pair(answer, "a pair of signatures"))
    if min(len(one), len(other)) < LEAST_SCORES:
        return Verdict(False, f"Each signature needs at least {LEAST_SCORES} scores.")
    if max(len(one), len(other)) > MOST_SCORES:
        return Verdict(False, f"No network has so many scores: take at most {MOST_SCORES}.")
    if min(one.min(), other.min()) < 0 or max(one.max(), other.max()) > 1:
        return Verdict(False, "Scores lie between 0 and 1.")
    for name, statistic in (("minimum", np.min), ("median", np.median), ("maximum", np.max)):
        if abs(statistic(one) - statistic(other)) > 1e-6:
            return Verdict(False, f"The two signatures have not the same {name}.")
    distance = signature_distance(one, other)
    if distance >= LEAST_DISTANCE:
        return Verdict(True, f"Three numbers are the same, and the signatures are {distance:.2f} apart.")
    if distance == 0:
        return Verdict(False, "Their distance is zero: warping may repeat scores, but it keeps their order.")
    return Verdict(False, f"They are {distance:.2f} apart. What if the scores go up and down at every step?")
