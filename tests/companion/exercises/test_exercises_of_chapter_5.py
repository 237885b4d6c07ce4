"""Exercises of notebook 5: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

RNG = np.random.default_rng(12)
X = np.maximum(RNG.standard_normal(500), 0)
F = np.where(X > 0.5, -0.9 * X, 1.0)
SCORES = np.linspace(0.2, 0.9, 40)
LOW, HIGH = (RNG.normal(level, 0.02, 30) for level in (0.3, 0.8))
RIGHT = {"5.1": [(X, F), [torch.tensor(X), torch.tensor(F)]], "5.2": [(SCORES[:20], SCORES[20:])]}
WRONG = {
    "5.1": [
        ((X, RNG.standard_normal(500)), "Where is the sum negative"), ((X - 1, F), "out of a ReLU"),
        ((X + 1, F), "makes zeros"), ((X, np.abs(F)), "only rises"), ((X, 0.1 * F), "at least half"),
        ((X[:20], F[:20]), "64 to 2000"), ((X, 0.5 - X), "constant"),
    ],
    "5.2": [
        ((LOW, HIGH), "two are seen"), ((SCORES[::2], SCORES[1::2]), "of all cases"), ((SCORES + 1, SCORES), "lie in"),
        ((SCORES[20:], SCORES[:20]), "of all cases"), ((SCORES[:3], SCORES[3:6]), "10 to 200"),
    ],
}  # fmt: skip
GARBAGE = {
    "5.1": [X, None, "xy", (X, F[:5]), (X, np.full_like(X, np.nan))],
    "5.2": [None, 3.0, (SCORES, SCORES[:5]), (SCORES, "x")],
}
SECRETS = {"5.1": ["positive"], "5.2": ["cut", "uniform", "touch"]}
