"""Exercises of notebook 17: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

RIGHT = {"17.1": [0, 0.0, torch.tensor(0.0), 1e-9]}
WRONG = {
    # of a variance that is taken for constant; of the correlation; negative ones
    "17.1": [(0.591, "variance of y"), (0.289, "variance of y"), (-0.5, "Multiply all of y")],
}  # fmt: skip
GARBAGE = {"17.1": ["zero", (0.0, 0.0), np.nan, [1, 2]]}
SECRETS = {"17.1": [0]}
