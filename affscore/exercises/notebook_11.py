"""The exercises of notebook 11, *What training does*."""

from __future__ import annotations

import numpy as np
from scipy import optimize, stats

from affscore.exercises.answers import as_number, matching
from affscore.exercises.registry import Hints, exercise, right
from affscore.transport import affinity_score

NORMAL = stats.norm.ppf((np.arange(200) + 0.5) / 200)[:, None]

NEARLY_LINEAR = 0.95
"""The score of exercise 11.2."""


@exercise("11.1", as_number)
def measurements(number: float) -> Hints:
    """11.1: how often a tracker measures in 550 steps, every 100, as a context."""
    answers = (
        (len({*range(0, 551, 100), 550}), right("Before the first step, after every hundred, and after the last.")),
        (6, "A context measures once more where it ends."),
        (5, "That is 550 // 100. Is the network measured before its first step, and after its last?"),
        (550, "That is after every step."),
        (True, "List the steps after which it measures, from 0 on."),
    )
    return matching(number, answers, 0)


@exercise("11.2", as_number)
def bias_of_a_relu(bias: float) -> Hints:
    """11.2: the smallest bias at which a ReLU of a normal input is nearly affine."""
    yield bias < 0, "A negative bias cuts off most of the input: what is left of an affine map then?"
    wanted = optimize.brentq(lambda b: _score(b) - NEARLY_LINEAR, 0.0, 3.0, xtol=1e-4)
    found = f"With this bias the score is {_score(min(bias, 10.0)):.3f}"
    yield bias < wanted - 0.05, f"{found}: too much of the input is below zero still."
    yield bias > wanted + 0.05, f"{found}. That is enough; a smaller bias is, too."
    yield True, right(f"{found}, with {100 * stats.norm.cdf(-bias):.0f} % of the inputs below zero.")


@exercise("11.3", as_number)
def steps_of_a_record(number: float) -> Hints:
    """11.3: how many steps are in the record of a training of 1,000 steps that was killed and resumed."""
    whole = len(range(0, 1001, 100))
    answers = (
        (whole, right("It is the record of a training that was never interrupted.")),
        (whole + 1, "Is anything measured twice, or at step 730?"),
        (3, "Those are the steps after the restart. What was in the checkpoint?"),
        (4, "Those are the steps from the checkpoint on. What was in it?"),
        (True, "List the steps that an undisturbed training would have, from 0 on."),
    )
    return matching(number, answers, 0)


def _score(bias: float) -> float:
    """Of ReLU on a standard normal input plus a bias."""
    x = NORMAL + bias
    return affinity_score(x, np.maximum(x, 0), "empirical").value
