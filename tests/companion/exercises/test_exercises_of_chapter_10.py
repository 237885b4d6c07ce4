"""Exercises of notebook 10: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

RNG = np.random.default_rng(9)
CLOUD = RNG.standard_normal((256, 2))
MEANS = 1 + 0.1 * RNG.random((256, 1))
SPREAD = np.exp(2 * RNG.standard_normal((256, 1)))
BOTH = np.array([-1.0, 1.0])

RIGHT = {
    "10.1": [(CLOUD, CLOUD[::-1].copy()), (CLOUD, -CLOUD), [torch.tensor(CLOUD), torch.tensor(-CLOUD)]],
    "10.2": [MEANS + SPREAD * BOTH, torch.tensor(MEANS + SPREAD * BOTH)],
}
WRONG = {
    "10.1": [
        ((CLOUD, CLOUD), "too close"), ((CLOUD, np.exp(2 * CLOUD)), "not affine enough"),
        ((CLOUD[:10], CLOUD[:10]), "64 to 1024"), ((CLOUD, np.ones_like(CLOUD)), "constant"),
    ],
    "10.2": [
        (MEANS + 0.1 * BOTH, "distributed much as"), (RNG.standard_normal((256, 4)), "Where must"),
        (np.ones((256, 2)), "the same mean"), (MEANS, "of 1."), (MEANS[:10] + BOTH, "got 10 of 2"),
    ],
}  # fmt: skip
GARBAGE = {
    "10.1": [CLOUD, (CLOUD, CLOUD[:5]), None, "xy", (CLOUD, np.full_like(CLOUD, np.nan))],
    "10.2": [None, 3.0, [1.0, 2.0], np.full((64, 2), np.inf)],
}
SECRETS = {"10.1": ["permut", "revers", "minus"], "10.2": ["exp"]}
