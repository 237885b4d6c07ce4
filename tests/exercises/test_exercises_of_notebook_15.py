"""Exercises of notebook 15: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

RIGHT = {
    "15.1": [243, 243.0, torch.tensor(243)],
    "15.2": [lambda p: 1 - np.sqrt((1 - p) / 2), lambda p: 1 - ((1 - p) * 0.5) ** 0.5],
    "15.3": [((2.0, 1), (2.0, 6)), [[4, 2], [2, 12]], np.array([[8.0, 1], [2.0, 8]])],
}
WRONG = {
    "15.1": [
        (81, "no ReLU behind"), (729, "One too many"), (3, "one matrix"), (15, "multiplied, not added"),
        (12, "multiplied, not added"), (1, "stay as they are"), (-3, "positive factor"), (7, "Follow the factor"),
    ],
    "15.2": [
        (lambda p: 1 - np.sqrt(1 - p), "factor that you left out"), (lambda p: 1 - (1 - p) / 2, "are their roots"),
        (lambda p: 1 - np.sqrt(p / 2), "makes up the distance"), (lambda p: np.sqrt((1 - p) / 2), "of such a ratio"),
        (lambda p: p, "ratio of lengths"), (lambda p: 0.5, "Which part of the variance"),
        (lambda p: None, "returns nothing"),
    ],
    "15.3": [
        (((2.0, 6), (2.0, 6)), "the same network"), (((2.0, 6), (2.0, 1)), "neither is reached"),
        (((2.0, 6), (8.0, 6)), "not rise enough"), (((2.0, 6), (0.5, 6)), "too simple"),
        (((2.0, 2), (2.0, 8)), "not rise enough"),
        (((0.0, 2), (1.0, 2)), "Sizes go"), (((1.0, 2.5), (1.0, 2)), "whole numbers"),
        (((1.0, 2), (1.0, 13)), "whole numbers"),
    ],
}  # fmt: skip
GARBAGE = {
    "15.1": ["x", None, [1, 2], float("nan")],
    "15.2": [None, 0.5, lambda: 1, lambda p: "x"],
    "15.3": [None, (1, 2), ((1, 2), (3, 4, 5)), ((1, 2), None), lambda p: p],
}
SECRETS = {"15.1": [243], "15.2": ["sqrt", "(1 - p)"], "15.3": ["deeper"]}
