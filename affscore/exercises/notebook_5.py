"""The exercises of notebook 5, *A decade at a glance*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from affscore.analysis import rarefied_range, signature_distance
from affscore.exercises.answers import as_array, as_function, as_number, as_tuple, close, matching, numbers_of
from affscore.exercises.registry import Hints, exercise, right

WIDTH = 0.9 - 0.4
FEW, MANY = 7, 151
"""The two networks of exercise 5.1 and the width of the range of their scores."""

LEAST_SCORES, MOST_SCORES, LEAST_DISTANCE = 10, 1000, 1.0
"""What exercise 5.3 asks for."""


@exercise("5.1", as_number)
def spread_of_uniform_scores(number: float) -> Hints:
    """5.1: by how much the expected spread of 151 uniform scores on [0.4, 0.9] is larger than that of 7, a number."""
    few, many = (WIDTH * (k - 1) / (k + 1) for k in (FEW, MANY))  # both ends lose one part of k + 1
    middles = WIDTH * ((MANY - 2) / MANY - (FEW - 2) / FEW)
    one_of_two = "That is the expected spread of one of the two; the difference is asked for."
    answers = (
        (many - few, right("Nothing about the networks differs but how many scores they have.")),
        (many, one_of_two),
        (few, one_of_two),
        (few - many, "The sign: the spread of more scores is the larger one."),
        (0.0, "The distribution is the same, but the extremes of many numbers lie further apart."),
        (middles, "Close: is the mean of the smallest of k numbers one part of k, or of k + 1?"),
        ((many - few) / WIDTH, "That holds for scores between 0 and 1. How wide is the range here?"),
        (True, "Where do the smallest and the largest of k uniform numbers lie on average?"),
    )
    return matching(number, answers, 0.002)


@exercise("5.2", as_function, "a function spread(scores, size)")
def spread_function(function: Callable[..., object]) -> Hints:
    """5.2: a function spread(scores, size), the expected spread of a random subset."""
    generator = np.random.default_rng(52)
    cases = [(generator.uniform(0.2, 1, 9), 4), (generator.uniform(0.2, 1, 100), 7), (np.array([0.9, 0.3, 0.5]), 3)]
    got = numbers_of(function, cases)
    expected = [rarefied_range(scores, size) for scores, size in cases]
    yield from matching(got, _SPREADS, cases=cases)
    nearly = "Nearly: averages over random subsets scatter. How many subsets have a score as largest?"
    yield close(got, expected, 0.02), nearly
    whole = "A subset that is the whole has the spread of the scores, in whatever order these come."
    yield not close(got[2], expected[2]), whole
    yield True, "For each score: in how many subsets is it the largest, and in how many the smallest?"


def _with_replacement(scores: NDArray[np.float64], size: int) -> float:
    """The expected spread of draws that may repeat."""
    ordered, k = np.sort(scores), len(scores)
    share = np.diff((np.arange(k + 1) / k) ** size)
    return float(share @ ordered - share[::-1] @ ordered)


_PROPORTION = "The spread does not grow in proportion to the number: the first few scores widen it most."
_SPREADS = (
    (rarefied_range, right("All subsets are counted, and none was drawn.")),
    (lambda scores, size: np.ptp(scores), "That is the spread of all scores; only a few are drawn."),
    (lambda scores, size: np.ptp(scores[:size]), "That is the spread of the first ones; every subset counts."),
    (_with_replacement, "That draws with replacement: here no score comes twice."),
    (lambda scores, size: np.ptp(scores) * size / len(scores), _PROPORTION),
)


@exercise("5.3", as_tuple, "a pair of signatures")
def hidden_by_three_numbers(*answer: object) -> Hints:
    """5.3: two signatures with the same minimum, median and maximum and a DTW distance of at least 1."""
    one, other = (as_array(part, "a signature, a list", ndim=1) for part in answer)
    yield min(len(one), len(other)) < LEAST_SCORES, f"Each signature needs at least {LEAST_SCORES} scores."
    yield max(len(one), len(other)) > MOST_SCORES, f"No network has so many scores: take at most {MOST_SCORES}."
    yield min(one.min(), other.min()) < 0 or max(one.max(), other.max()) > 1, "Scores lie between 0 and 1."
    for name, statistic in (("minimum", np.min), ("median", np.median), ("maximum", np.max)):
        yield not close(statistic(one), statistic(other)), f"The two signatures have not the same {name}."
    distance = signature_distance(one, other)
    yield distance >= LEAST_DISTANCE, right(f"Three numbers are the same, and the signatures are {distance:.2f} apart.")
    yield distance == 0, "Their distance is zero: warping may repeat scores, but it keeps their order."
    yield True, f"They are {distance:.2f} apart. What if the scores go up and down at every step?"
