"""The exercises of chapter 7, *Accuracy*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from companion.answers import as_function, close, matching, numbers_of
from companion.chapter_07.selection import best_fit_test
from companion.exercises import Hints, exercise, right

STRAIGHT = (np.array([1.0, 2.0, 4.0, 5.0, 7.0]), np.array([10.0, 11.0, 12.0, 14.0, 15.0]))

FALLING = (np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([9.0, 6.5, 8.0, 3.5, 6.0, 4.0]))

LOOSE = (np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0]), np.array([2.0, 7.0, 1.0, 8.0, 2.5, 4.0]))
"""Groups for exercise 7.1: one whose p-value is the least possible, one that falls, one by chance."""


@exercise("7.1", as_function, "a function p_value(x, accuracy)")
def share_of_orders(function: Callable[..., object]) -> Hints:
    """A function p_value(x, accuracy), the share of all orders of the accuracies that explain as much."""
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
