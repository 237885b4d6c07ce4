"""Exercises of notebook 18: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

X = np.linspace(-1, 1, 20)

RIGHT = {
    "18.1": [0, 0.0, torch.tensor(0.0), 1e-9],
    "18.2": [(X, np.maximum(-X, 0)), [torch.tensor(X), torch.tensor(-(X**3))], (X, np.exp(-X))],
}
WRONG = {
    # of a variance that is taken for constant; of the correlation; negative ones
    "18.1": [(0.591, "variance of y"), (0.289, "variance of y"), (-0.5, "Multiply all of y")],
    "18.2": [
        ((X, np.maximum(X, 0)), "too good a coupling"), ((X, X), "too good a coupling"),
        ((X, np.full(20, 2.0)), "constant"), ((np.zeros(20), X), "have no score"),
        ((X, -X), "no gradient here either"), ((X[:5], -X[:5]), "10 to 200"),
    ],
}  # fmt: skip
GARBAGE = {
    "18.1": ["zero", (0.0, 0.0), np.nan, [1, 2]],
    "18.2": [X, (X, "x"), (X, np.full_like(X, np.nan)), (X, X, X), ([], []), (X, -X[:12])],
}
SECRETS = {"18.1": [0], "18.2": ["falls with", "worst coupling"]}
