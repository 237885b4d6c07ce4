"""Exercises of notebook 14: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

SEEDS = np.array([-1e-3, 0.0, 1e-3])
METHODS = np.array([[0.75], [0.76], [0.77]])

RIGHT = {
    "14.1": [1 / 3, np.float64(1 / 3), torch.tensor(1 / 3)],
    "14.2": [METHODS + SEEDS, torch.tensor(METHODS + SEEDS)],
    "14.3": [100.0, -100, 1e6],
}
WRONG = {
    "14.1": [(1 / 24, "the same groups"), (1 / 6, "no difference"), (0.05, "the level"), (0.5, "two pairs")],
    "14.2": [
        (METHODS + 20 * SEEDS, "Which of the two"), (5 * METHODS - 3 + SEEDS, "more than 0.02"),
        (METHODS + 0 * SEEDS, "a small one"), (METHODS + SEEDS - 1, "lie in"), (METHODS, "got 3 and 1"),
    ],
    "14.3": [(0, "denominator"), (1.0, "denominator"), (-0.75, "denominator")],
}  # fmt: skip
GARBAGE = {
    "14.1": ["x", None, [1, 2], float("nan")],
    "14.2": [None, 3.0, [0.7, 0.8], np.full((3, 3), np.inf)],
    "14.3": ["x", None, [1, 2], float("inf")],
}
SECRETS = {"14.1": [1 / 3], "14.2": ["ten times"], "14.3": ["large number"]}
