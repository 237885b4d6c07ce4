"""Exercises of notebook 13: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

DIAGONAL = np.diag(np.linspace(1, 3, 16))
ROTATION = np.linalg.qr(np.random.default_rng(1).standard_normal((16, 16)))[0]
TURN = DIAGONAL @ ROTATION
POSITIVE = ROTATION @ DIAGONAL @ ROTATION.T

RIGHT = {
    "13.1": [(DIAGONAL, TURN), [torch.tensor(POSITIVE), torch.tensor(ROTATION @ DIAGONAL)]],
    "13.2": [(0.635, 0.293), [1 - np.sqrt((1 - 0.25 / (0.5 - 0.5 / np.pi)) / 2), 1 - np.sqrt(0.5)]],
}
WRONG = {
    "13.1": [
        ((TURN, DIAGONAL), "optimal transport maps"), ((DIAGONAL, DIAGONAL), "what can a matrix do"),
        ((np.eye(16), ROTATION), "nearly all the same"), ((DIAGONAL, 2 * TURN), "not the same"),
        ((np.diag(np.arange(16.0)), TURN), "forgets a direction"),
    ],
    "13.2": [
        ((0.621, 0.293), "optimal transport map"), ((0.734, 0.293), "squared correlation"),
        ((0.5, 0.293), "variance of"),
        ((0.635, 0.0), "the mean still is"), ((0.635, 0.621), "even function"),
    ],
}  # fmt: skip
GARBAGE = {
    "13.1": [DIAGONAL, (DIAGONAL[:4], TURN), (DIAGONAL, "x"), (DIAGONAL, np.full_like(TURN, np.nan))],
    "13.2": [0.6, (0.6, 0.3, 0.1), ("a", 0.3), (0.6, np.inf)],
}
SECRETS = {"13.1": ["rotation", "symmetric"], "13.2": [0.635, 0.293, "0.63", "0.29"]}
