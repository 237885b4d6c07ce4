"""The exercises of notebook 14, *Same architecture, other training*."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import nearest_neighbour_accuracy
from affscore.exercises.answers import as_array, as_number, matching
from affscore.exercises.registry import Hints, exercise, right
from affscore.papers.alexnet_to_transformers.table_3 import spread_over_methods

Values = NDArray[np.float64]

SCORES = np.array([0.72, 0.74, 0.75, 0.76, 0.78])
"""The mean scores of exercise 14.3."""


@exercise("14.1", as_number)
def smallest_p_value(number: float) -> Hints:
    """14.1: the smallest p-value that four networks of two methods can have."""
    names = list("abcd")
    distances = pd.DataFrame(9.0 * (1 - np.kron(np.eye(2), np.ones((2, 2)))), names, names)
    smallest = nearest_neighbour_accuracy(distances, ["u", "u", "v", "v"]).p_value
    answers = (
        (smallest, right("However clear the groups are, four networks cannot reject at 5 %.")),
        (1 / 24, "Of the 24 orders of four labels many give the same groups."),
        (1 / 6, "Six ways to give out the methods. Which of the two is which makes no difference to the neighbours."),
        (0.05, "That is the level, not what can be reached."),
        (
            True,
            "Count in how many ways four networks can be divided into two pairs, and in how many of them all is right.",
        ),
    )
    return matching(number, answers, 1e-3)


@exercise("14.2", as_array, "mean scores, an array (methods, seeds)", 2)
def small_and_real(scores: Values) -> Hints:
    """14.2: mean scores (methods, seeds) that hardly differ, by methods that surely do."""
    methods, seeds = scores.shape
    many = f"Expected 2 to 10 methods and seeds, got {methods} and {seeds}."
    yield not (2 <= methods <= 10 and 2 <= seeds <= 10), many
    low, high, std = scores.min(), scores.max(), scores.std(ddof=1)
    yield low < 0 or high > 1, f"Scores lie in [0, 1]; these go from {low:.2f} to {high:.2f}."
    yield std > 0.02, f"Over all networks the scores vary by {std:.3f}, more than 0.02."
    same = (np.ptp(scores, axis=1) == 0).all()
    yield same, "No seed makes a difference here. In trainings it does: let it make a small one."
    labels = [str(method) for method in range(methods) for _ in range(seeds)]
    p = float(spread_over_methods(pd.DataFrame({"score": scores.ravel()}), labels)["p_value"].iloc[0])
    yield p >= 1e-3, f"p = {p:.3f}: seeds differ by about as much as methods. Which of the two must be smaller still?"
    yield True, right(f"They vary by {std:.3f} in all, and the methods differ surely (p = {p:.1g}).")


@exercise("14.3", as_number)
def steady_by_its_zero(shift: float) -> Hints:
    """14.3: a number that is added to scores, such that their coefficient of variation falls below 0.1 %."""
    spread = SCORES.std(ddof=1) / abs((SCORES + shift).mean()) if (SCORES + shift).mean() else np.inf
    found = f"With this number the coefficient of variation is {100 * spread:.2g} %"
    yield spread >= 1e-3, f"{found}. What is in its denominator, and can the numerator change?"
    yield True, right(f"{found}, and no network differs more or less from another than before: it needs a true zero.")
