"""The exercises of chapter 12, *Other data, other training*."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.answers import as_clouds, as_number, matching
from companion.clustering import nearest_neighbour_accuracy
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]

STRAIGHT, BENT = 0.95, 0.7
"""What the score of each class must reach in exercise 12.1, and that of both together must not pass."""


@exercise("12.1", as_clouds)
def affine_on_each_class(one: Values, other: Values) -> Hints:
    """Two classes (x0, x1) on each of which ReLU scores at least 0.95, and on both together at most 0.7."""
    yield not 64 <= len(one) <= 512, f"Expected 64 to 512 points in each class, got {len(one)}."
    flat = "All points of a class are the same: let them differ, so that there is a score."
    yield any(np.ptp(x, axis=0).max() == 0 for x in (one, other)), flat
    of_class = [affinity_score(x, np.maximum(x, 0), "empirical").value for x in (one, other)]
    both = np.concatenate([one, other])
    together = affinity_score(both, np.maximum(both, 0), "empirical").value
    found = f"ReLU scores {of_class[0]:.2f} and {of_class[1]:.2f} on the classes and {together:.2f} on both"
    yield min(of_class) < STRAIGHT, f"{found}. On which inputs is ReLU affine? Let a class have no others."
    yield (together > BENT, f"{found}: together they are too straight. How do they lie on the two sides of the bend?")
    yield True, right(f"{found}. The bend separates the classes, and none of them sees it.")


@exercise("12.2", as_number)
def smallest_p_value(number: float) -> Hints:
    """The smallest p-value that four networks of two methods can have."""
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
