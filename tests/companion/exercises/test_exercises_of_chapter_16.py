"""Exercises of notebook 16: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

RIGHT = {
    "16.1": [(7 / 8, 41 / 34), [0.88, 1.21], np.array([0.875, 1.206])],
}  # fmt: skip
WRONG = {
    "16.1": [
        ((41 / 34, 7 / 8), "name first"), ((1.25, 1.25), "the long way"), ((1.5, 33 / 17), "slope is 1 is linear"),
        ((0.75, 0.5 + 0.5 * 16 / 17), "still bends"), ((0.84375, 0.5 + 0.6875 * 16 / 17), "as a whole"),
        ((0.625, 1.25 * 16 / 17), "before it"), ((0.875, 1.2494), "kernel"), ((0.875, 1.1), "How many paths lead"),
        ((0.875, 0.3), "NAPL is right"), ((0.9, 1.206), "APL is right"), ((0, 0), "Note for each channel"),
    ],
}  # fmt: skip
GARBAGE = {"16.1": [0.875, (1, 2, 3), "NAPL"]}
SECRETS = {"16.1": [7 / 8, 41 / 34]}
