"""Exercises of notebook 12: right answers pass, plausible wrong ones fail with a hint, not the answer."""

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


RIGHT = {
    "12.2": [1 / 3, np.float64(1 / 3), torch.tensor(1 / 3)],
    "12.1": [(BELOW, ABOVE), (ABOVE, BELOW), [torch.tensor(BELOW), torch.tensor(ABOVE)]],
}
WRONG = {
    "12.2": [(1 / 24, "the same groups"), (1 / 6, "no difference"), (0.05, "the level"), (0.5, "two pairs")],
    "12.1": [
        ((CLOUD, ABOVE), "On which inputs"), ((ABOVE, ABOVE + 1), "too straight"), ((BELOW, BELOW - 1), "too straight"),
        ((BELOW[:9], ABOVE[:9]), "64 to 512"), ((np.ones((64, 2)), np.ones((64, 2))), "the same"),
    ],
}  # fmt: skip
GARBAGE = {"12.1": [BELOW, (BELOW, ABOVE[:5]), None, "xy", (BELOW, np.full_like(ABOVE, np.nan))]}
SECRETS = {"12.2": [1 / 3], "12.1": ["exponential"]}
