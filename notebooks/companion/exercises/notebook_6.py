"""The exercises of notebook 6, *A decade*."""

from __future__ import annotations

from companion.exercises.answers import as_number, matching
from companion.exercises.registry import Hints, exercise, right

WIDTH = 0.9 - 0.4
FEW, MANY = 7, 151
"""The two networks of exercise 6.1 and the width of the range of their scores."""


@exercise("6.1", as_number)
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
