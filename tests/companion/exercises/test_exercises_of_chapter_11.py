"""Exercises of notebook 11: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

from companion.chapter_11 import _score

BIAS = next(bias / 25 for bias in range(75) if _score(bias / 25) >= 0.95)

RIGHT = {"11.1": [BIAS, BIAS + 0.03, torch.tensor(BIAS)]}
WRONG = {"11.1": [(BIAS - 0.2, "below zero still"), (BIAS + 1, "is enough"), (-1, "negative"), (1e6, "is enough")]}
GARBAGE = {"11.1": ["x", None, [1, 2], float("inf")]}
SECRETS = {"11.1": [BIAS]}
