"""Exercises of notebook 21: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

SMOOTH, SHAKEN = np.repeat([0.6, 0.9], 10), np.tile([0.6, 0.9], 10)
RISING = np.linspace(0.4, 0.9, 30)
WIDE = np.repeat([0.4, 0.41, 0.9], [7, 8, 15])
IN_TURN = np.ravel(np.column_stack([WIDE[:15], WIDE[15:]]))

RIGHT = {
    "21.1": [(SMOOTH, SHAKEN), [torch.tensor(SMOOTH), torch.tensor(SHAKEN)], (WIDE, IN_TURN)],
    "21.2": [(5, 3), [5.0, 3.0]],
}
WRONG = {
    "21.1": [
        ((SHAKEN, SMOOTH), "smallest steps"), ((RISING, RISING), "too small for the spread"),
        ((RISING, RISING[::-1]), "too small"),
        ((SMOOTH, SHAKEN + 0.01), "same scores"), ((SMOOTH + 1, SHAKEN + 1), "lie in"),
        ((RISING[:5], RISING[:5]), "10 to 200"),
        ((np.full(20, 0.5), np.full(20, 0.5)), "the same"),
    ],
    "21.2": [
        ((4, 3), "one-sided"), ((6, 3), "first number"), ((3, 3), "first number"), ((5, 2), "nearly"),
        ((5, 4), "multiply"),
        ((5, 1), "multiply"),
    ],
}  # fmt: skip
GARBAGE = {
    "21.1": [SMOOTH, (SMOOTH, SHAKEN[:5]), (SMOOTH, "x"), (SMOOTH, np.full_like(SMOOTH, np.nan))],
    "21.2": [5, (5, 3, 1), ("a", 3), (5, np.nan)],
}
SECRETS = {"21.1": ["two levels", "in turn"], "21.2": [5, 3, "five", "three"]}
