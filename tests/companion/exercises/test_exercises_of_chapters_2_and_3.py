"""Exercises of notebooks 2 and 3: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)
from scipy.optimize import brentq

from companion.activations import limit_score, points_needed

RNG = np.random.default_rng(6)
NORMAL = RNG.standard_normal((210, 200))
FACTORS = np.exp(0.5 * RNG.standard_normal(200))
HALF = brentq(lambda ratio: limit_score(torch.relu, ratio) - 0.5, -3, 1)


def silu(x):
    return x / (1 + np.exp(-x))


RIGHT = {
    "2.1": [HALF, round(HALF, 2), np.float32(HALF)],
    "2.2": [
        lambda x: np.exp(5 * x),
        lambda x: np.maximum(x - 3, 0),
        lambda x: torch.relu(torch.tensor(x) - 2.8),
        lambda x: (x > 3.2) * 1.0,
    ],
    "3.1": [points_needed(256, 0.01, torch.relu), points_needed(256, 0.01), 1928.0, 2048, 3840],
    "3.2": [(NORMAL, NORMAL * FACTORS), [torch.tensor(NORMAL), torch.tensor(3 + NORMAL * FACTORS)]],
}

# the answer, and a word that its hint must have
WRONG = {
    "2.1": [
        (-HALF, "sign"),
        (0.31, "share"),
        (0.69, "share"),
        (HALF + 0.03, "Close"),
        (-2, "less affine"),
        (3, "more affine"),
    ],
    "2.2": [
        (lambda x: np.maximum(x, 0), "never falls, but"),
        (lambda x: x**3, "never falls, but"),
        (lambda x: -x, "omewhere your function falls"),
        (np.square, "omewhere your function falls"),
        (silu, "Somewhere your function falls"),
        (np.ones_like, "constant"),
        (lambda x: np.maximum(x - 9, 0), "constant"),
        (lambda x: x - x.mean(), "each entry"),
    ],
    "3.1": [
        (512, "Too few"),
        (1832, "Too few"),
        (256, "n/d = 1"),
        (7.6, "each coordinate"),
        (193, "decimal point"),
        (10_000, "spread"),
        (5000, "more than twice"),
    ],
    "3.2": [
        ((NORMAL, NORMAL), "equal"),
        ((NORMAL, NORMAL * -FACTORS), "positive"),
        ((NORMAL, np.maximum(NORMAL, 0)), "multiplied by a number"),
        ((NORMAL, NORMAL * np.exp(0.1 * np.log(FACTORS))), "still above"),
        ((NORMAL[:100], NORMAL[:100] * FACTORS), "more points than coordinates"),
        ((NORMAL, NORMAL * 0.0), "positive"),
        ((NORMAL * (np.arange(200) > 0), NORMAL * (np.arange(200) > 0)), "constant"),
    ],
}

SECRETS = {"2.1": [HALF], "2.2": ["exp"], "3.1": [points_needed(256, 0.01, torch.relu)]}
