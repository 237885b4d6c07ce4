"""The exercises of notebook 13, *Other data sets*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import nearest_neighbour_accuracy
from affscore.exercises.answers import as_clouds, as_function, as_number, matching, numbers_of
from affscore.exercises.registry import Hints, exercise, right
from affscore.transport import affinity_score

Values = NDArray[np.float64]

SHALLOW, DEEP, DEVIATION = 16, 100, 0.4
"""The activations of the two networks of exercise 13.1, and the deviation of the first."""

STRAIGHT, BENT = 0.95, 0.7
"""What the score of each class must reach in exercise 13.3, and that of both together must not pass."""


@exercise("13.1", as_number)
def deviation_and_depth(number: float) -> Hints:
    """13.1: the Euclidean deviation of 100 scores that each change as much as 16 do whose deviation is 0.4."""
    step = DEVIATION / np.sqrt(SHALLOW)
    answers = (
        (np.linalg.norm(np.full(DEEP, step)), right("A deviation is a sum over activations: deep networks deviate.")),
        (step, "That is the change of a single score. The distance is over all activations."),
        (DEVIATION, "The deeper network has more activations, and each adds its square."),
        (DEVIATION * DEEP / SHALLOW, "Squares add up, and the root comes at the end."),
        (step * DEEP, "That adds up the changes; a Euclidean distance adds up their squares."),
        (step**2 * DEEP, "That is the squared distance."),
        (DEVIATION * SHALLOW / DEEP, "More activations make the distance larger, not smaller."),
        (True, "By how much does each score of the first network change?"),
    )
    return matching(number, answers, 0.005)


@exercise("13.2", as_function, "a function p_value(distance, chance)")
def p_value_of_a_class(function: Callable[..., object]) -> Hints:
    """13.2: a function p_value(distance, chance): how often a random subset is as far away as the class."""
    chance = np.array([0.1, 0.3, 0.2, 0.4])
    cases = [(0.25, chance), (0.5, chance), (0.3, chance), (0.05, chance), (0.2, chance[:2])]
    return matching(numbers_of(function, cases), _P_VALUES, cases=cases)


_P_VALUES = (
    (
        lambda one, chance: (np.sum(chance >= one) + 1) / (len(chance) + 1),
        right("Under the hypothesis the class is one more random subset: it counts among those that reach it."),
    ),
    (lambda one, chance: np.mean(chance >= one), "A p-value is never 0: the class itself is one of the subsets."),
    (lambda one, chance: (np.sum(chance >= one) + 1) / len(chance), "The class is a subset below the line, too."),
    (lambda one, chance: (np.sum(chance > one) + 1) / (len(chance) + 1), "What about a subset that is just as far?"),
    (lambda one, chance: np.mean(chance > one), "What about a subset that is just as far, and the class itself?"),
    (lambda one, chance: (np.sum(chance <= one) + 1) / (len(chance) + 1), "That counts the subsets that are nearer."),
    (lambda one, chance: np.mean(chance <= one), "That counts the subsets that are nearer."),
    (True, "How many of the subsets are at least as far away as the class, with the class counted as one of them?"),
)


@exercise("13.3", as_clouds)
def affine_on_each_class(one: Values, other: Values) -> Hints:
    """13.3: two classes (x0, x1) on each of which ReLU scores at least 0.95, and on both together at most 0.7."""
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


@exercise("13.6", as_number)
def smallest_p_value(number: float) -> Hints:
    """13.6: the smallest p-value that four networks of two methods can have."""
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
