"""The exercises of notebook 6, *Accuracy and non-linearity*."""

from __future__ import annotations

import numpy as np
import pandas as pd

from affscore.analysis import LEAST_POINTS, STATISTICS, best_fit_test, fit, independent_p_value
from affscore.exercises.answers import NotAnAnswerError, as_array, as_function, as_number, as_pair, call
from affscore.exercises.registry import exercise
from affscore.exercises.verdict import Verdict

__all__ = ["enough_networks", "rising_but_not_straight", "share_of_orders"]

R2, CHANCE = 0.5, 0.05
"""What the best statistic of exercise 6.1 may reach, and how often."""

STRAIGHT = (np.array([1.0, 2.0, 4.0, 5.0, 7.0]), np.array([10.0, 11.0, 12.0, 14.0, 15.0]))
FALLING = (np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([9.0, 6.5, 8.0, 3.5, 6.0, 4.0]))
LOOSE = (np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0]), np.array([2.0, 7.0, 1.0, 8.0, 2.5, 4.0]))
"""Groups for exercise 6.2: one whose p-value is the least possible, one that falls, one by chance."""


@exercise("6.1")
def enough_networks(answer: object) -> Verdict:
    """6.1: how many networks keep the best of seven independent statistics below R2 = 0.5 in 19 of 20 groups."""
    number = as_number(answer)
    if number != int(number) or number < 3:
        return Verdict(False, "Expected a whole number of networks, at least 3.")
    count, candidates = int(number), len(STATISTICS)
    least = _least(candidates, CHANCE)
    if count == least:
        return Verdict(True, "More than any group of the figure has. With five to nine networks R2 = 0.5 says little.")
    if count == _least(1, CHANCE):
        return Verdict(False, "That is enough for one statistic. Here the best of seven is taken.")
    if count == _least(candidates, 0.5):
        return Verdict(False, "With that many, chance still reaches it in half of all groups.")
    if abs(count - least) == 1:
        return Verdict(False, "Very close: one more, or one less? It must be the smallest number that is enough.")
    if count > least:
        return Verdict(False, "That is enough, but a smaller group would do.")
    return Verdict(False, "Too few: chance reaches it more often. Raise the number until it does not.")


@exercise("6.2")
def share_of_orders(answer: object) -> Verdict:
    """6.2: a function p_value(x, accuracy), the share of all orders of the accuracies that explain as much."""
    function = as_function(answer, "a function p_value(x, accuracy)")
    for x, y in (FALLING, LOOSE, STRAIGHT):
        value = as_number(call(function, x, y))
        chance = best_fit_test(pd.DataFrame({"x": x, "accuracy": y}), ["x"])
        expected = chance.p_value
        if abs(value - expected) <= (0.007 if expected < 0.05 else 0.025):  # random orders are welcome, too
            continue
        if value > 1:
            return Verdict(False, "Expected a share of the orders, between 0 and 1.")
        orders = len(chance.permuted)
        strictly = float((chance.permuted > chance.observed + 1e-9).sum()) / orders
        for mistake, hint in (
            (1 - expected, "That is how often chance explains less. Asked is how often it explains as much or more."),
            (strictly, "The order that was observed counts, too: as much, or more."),
            (chance.observed, "That is R2 itself. How often does it come out this large when y is shuffled?"),
        ):
            if abs(value - mistake) <= 0.003:
                return Verdict(False, hint)
        if abs(value - expected / 2) <= 0.002 or value > 0.9 > expected:
            return Verdict(False, "A falling line explains as well as a rising one: compare R2, not the correlation.")
        size = "large" if value > expected else "small"
        return Verdict(False, f"Too {size} for x = {x.tolist()} and y = {y.tolist()}. Shuffle y alone, and count.")
    return Verdict(
        True, "No table and no normal distribution needed: counting is enough, and exact where all orders are tried."
    )


@exercise("6.3")
def rising_but_not_straight(answer: object) -> Verdict:
    """6.3: (x, y), y rising with x, with a linear R2 of at most 0.6 and a logarithmic one of at least 0.95."""
    first, second = as_pair(answer, "a pair (x, y) of arrays of the same length")
    x, y = as_array(first, "x, an array,", ndim=1), as_array(second, "y, an array,", ndim=1)
    if x.shape != y.shape:
        raise NotAnAnswerError(f"Expected x and y of the same length, got {len(x)} and {len(y)}.")
    if len(x) < LEAST_POINTS:
        return Verdict(False, f"An R2 takes at least {LEAST_POINTS} points: you have {len(x)}.")
    order = np.argsort(x)
    if (np.diff(x[order]) <= 0).any() or (np.diff(y[order]) <= 0).any():
        return Verdict(False, "y must rise with x, and no value may come twice.")
    if x.min() <= 0:
        return Verdict(False, "x must be positive: a logarithm is taken of it.")
    straight, logarithm = fit(x, y).r2, fit(x, y, "logarithm").r2
    if straight > 0.6:
        return Verdict(
            False, f"The straight line still explains {straight:.2f}: let x grow by a larger factor each time."
        )
    if logarithm < 0.95:
        return Verdict(
            False, f"In the logarithm the fit explains {logarithm:.2f} only: let y grow by the same step each time."
        )
    return Verdict(True, f"The same points: {straight:.2f} as a line, {logarithm:.2f} in the logarithm.")


def _least(candidates: int, chance: float) -> int:
    count = 3
    while independent_p_value(R2, count, candidates) > chance:
        count += 1
    return count
