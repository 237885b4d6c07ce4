"""The exercises of notebook 6, *Accuracy and non-linearity*."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import LEAST_POINTS, STATISTICS, best_fit_test, fit, independent_p_value
from affscore.exercises.answers import as_arrays, as_function, as_number, close, matching, numbers_of
from affscore.exercises.registry import Hints, exercise, right

R2, CHANCE = 0.5, 0.05
"""What the best statistic of exercise 6.1 may reach, and how often."""

STRAIGHT = (np.array([1.0, 2.0, 4.0, 5.0, 7.0]), np.array([10.0, 11.0, 12.0, 14.0, 15.0]))
FALLING = (np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([9.0, 6.5, 8.0, 3.5, 6.0, 4.0]))
LOOSE = (np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0]), np.array([2.0, 7.0, 1.0, 8.0, 2.5, 4.0]))
"""Groups for exercise 6.2: one whose p-value is the least possible, one that falls, one by chance."""


@exercise("6.1", as_number)
def enough_networks(number: float) -> Hints:
    """6.1: how many networks keep the best of seven independent statistics below R2 = 0.5 in 19 of 20 groups."""
    least = _least(len(STATISTICS), CHANCE)
    close_by = "Very close: one more, or one less? It must be the smallest number that is enough."
    answers = (
        (number != int(number) or number < 3, "Expected an integer of networks, at least 3."),
        (least, right("More than any group of the figure has. With five to nine networks R2 = 0.5 says little.")),
        (_least(1, CHANCE), "That is enough for one statistic. Here the best of seven is taken."),
        (_least(len(STATISTICS), 0.5), "With that many, chance still reaches it in half of all groups."),
        (least - 1, close_by),
        (least + 1, close_by),
        (number > least, "That is enough, but a smaller group would do."),
        (True, "Too few: chance reaches it more often. Raise the number until it does not."),
    )
    return matching(number, answers, 0)


@exercise("6.2", as_function, "a function p_value(x, accuracy)")
def share_of_orders(function: Callable[..., object]) -> Hints:
    """6.2: a function p_value(x, accuracy), the share of all orders of the accuracies that explain as much."""
    for x, y in (FALLING, LOOSE, STRAIGHT):
        (value,) = numbers_of(function, [(x, y)])
        chance = best_fit_test(pd.DataFrame({"x": x, "accuracy": y}), ["x"])
        expected = chance.p_value
        if close(value, expected, 0.007 if expected < 0.05 else 0.025):  # random orders are welcome, too
            continue
        strictly = np.mean(chance.permuted > chance.observed + 1e-9)
        mistakes = (
            (value > 1, "Expected a share of the orders, between 0 and 1."),
            (1 - expected, "That is how often chance explains less. Asked is how often it explains as much or more."),
            (strictly, "The order that was observed counts, too: as much, or more."),
            (chance.observed, "That is R2 itself. How often does it come out this large when y is shuffled?"),
        )
        yield from matching(value, mistakes, 0.003)
        one_sided = "A falling line explains as well as a rising one: compare R2, not the correlation."
        yield close(value, expected / 2, 0.002) or value > 0.9 > expected, one_sided
        size = "large" if value > expected else "small"
        yield True, f"Too {size} for x = {x.tolist()} and y = {y.tolist()}. Shuffle y alone, and count."
    counting = "No table and no normal distribution needed: counting is enough, and exact where all orders are tried."
    yield True, right(counting)


@exercise("6.3", as_arrays, "a pair (x, y) of arrays of the same length", "x", "y")
def rising_but_not_straight(x: NDArray[np.float64], y: NDArray[np.float64]) -> Hints:
    """6.3: (x, y), y rising with x, with a linear R2 of at most 0.6 and a logarithmic one of at least 0.95."""
    yield len(x) < LEAST_POINTS, f"An R2 takes at least {LEAST_POINTS} points: you have {len(x)}."
    yield (np.diff([np.sort(x), y[np.argsort(x)]]) <= 0).any(), "y must rise with x, and no value may come twice."
    yield x.min() <= 0, "x must be positive: a logarithm is taken of it."
    straight, logarithm = fit(x, y).r2, fit(x, y, "logarithm").r2
    yield straight > 0.6, f"The straight line still explains {straight:.2f}: let x grow by a larger factor each time."
    hint = "let y grow by the same step each time."
    yield logarithm < 0.95, f"In the logarithm the fit explains {logarithm:.2f} only: {hint}"
    yield True, right(f"The same points: {straight:.2f} as a line, {logarithm:.2f} in the logarithm.")


def _least(candidates: int, chance: float) -> int:
    return next(size for size in count(3) if independent_p_value(R2, size, candidates) <= chance)
