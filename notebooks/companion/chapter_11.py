"""Chapter 11: what training does."""

from __future__ import annotations

import numpy as np
from scipy import optimize, stats

from affscore.transport import affinity_score
from companion.answers import as_number
from companion.exercises import Hints, exercise, right

NORMAL = stats.norm.ppf((np.arange(200) + 0.5) / 200)[:, None]

NEARLY_LINEAR = 0.95
"""The score of exercise 11.1."""


@exercise("11.1", as_number)
def bias_of_a_relu(bias: float) -> Hints:
    """The smallest bias at which a ReLU of a normal input is nearly affine."""
    yield bias < 0, "A negative bias cuts off most of the input: what is left of an affine map then?"
    wanted = optimize.brentq(lambda b: _score(b) - NEARLY_LINEAR, 0.0, 3.0, xtol=1e-4)
    found = f"With this bias the score is {_score(min(bias, 10.0)):.3f}"
    yield bias < wanted - 0.05, f"{found}: too much of the input is below zero still."
    yield bias > wanted + 0.05, f"{found}. That is enough; a smaller bias is, too."
    yield True, right(f"{found}, with {100 * stats.norm.cdf(-bias):.0f} % of the inputs below zero.")


def _score(bias: float) -> float:
    """Of ReLU on a standard normal input plus a bias."""
    x = NORMAL + bias
    return affinity_score(x, np.maximum(x, 0), "empirical").value
