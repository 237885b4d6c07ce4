"""Exercises of notebook 13: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

RNG = np.random.default_rng(13)
BELOW, ABOVE = -1 - RNG.exponential(size=(256, 1)), RNG.exponential(size=(256, 1))
CLOUD = RNG.standard_normal((256, 1))


def p_value(distance, chance):
    return (np.sum(chance >= distance) + 1) / (len(chance) + 1)


RIGHT = {
    "13.1": [1.0, 1, np.float64(1.0), torch.tensor(1.0)],
    "13.2": [p_value, lambda d, c: (sum(one >= d for one in c) + 1) / (len(c) + 1)],
    "13.6": [1 / 3, np.float64(1 / 3), torch.tensor(1 / 3)],
    "13.3": [(BELOW, ABOVE), (ABOVE, BELOW), [torch.tensor(BELOW), torch.tensor(ABOVE)]],
}
WRONG = {
    "13.1": [
        (0.1, "a single score"), (0.4, "more activations"), (2.5, "Squares add up"), (10, "adds up the changes"),
        (0.064, "larger, not smaller"), (7, "By how much"),
    ],
    "13.2": [
        (lambda d, c: np.mean(c >= d), "never 0"), (lambda d, c: (np.sum(c >= d) + 1) / len(c), "below the line"),
        (lambda d, c: (np.sum(c > d) + 1) / (len(c) + 1), "just as far?"), (lambda d, c: np.mean(c > d), "itself?"),
        (lambda d, c: (np.sum(c <= d) + 1) / (len(c) + 1), "nearer"), (lambda d, c: np.mean(c <= d), "nearer"),
        (lambda d, c: 0.5, "How many"),
    ],
    "13.6": [(1 / 24, "the same groups"), (1 / 6, "no difference"), (0.05, "the level"), (0.5, "two pairs")],
    "13.3": [
        ((CLOUD, ABOVE), "On which inputs"), ((ABOVE, ABOVE + 1), "too straight"), ((BELOW, BELOW - 1), "too straight"),
        ((BELOW[:9], ABOVE[:9]), "64 to 512"), ((np.ones((64, 2)), np.ones((64, 2))), "the same"),
    ],
}  # fmt: skip
GARBAGE = {
    "13.1": ["x", None, [1, 2], float("nan")],
    "13.2": [None, 3.0, "p", lambda d: d, lambda d, c: c / 0],
    "13.3": [BELOW, (BELOW, ABOVE[:5]), None, "xy", (BELOW, np.full_like(ABOVE, np.nan))],
}
SECRETS = {"13.6": [1 / 3], "13.1": [1.0], "13.2": ["+ 1"], "13.3": ["exponential"]}
