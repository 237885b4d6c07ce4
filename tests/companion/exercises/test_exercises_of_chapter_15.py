"""Exercises of notebook 15: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)
from torch import nn

from companion.exercises import check


def hinges(places, heights):
    """The sum of max(t - place, 0), each times a height."""
    network = nn.Sequential(nn.Linear(1, len(places)), nn.ReLU(), nn.Linear(len(places), 1, bias=False)).double()
    with torch.no_grad():
        network[0].weight.fill_(1)
        network[0].bias.copy_(-torch.as_tensor(places))
        network[2].weight.copy_(torch.as_tensor(heights)[None])
    return network


TENT = hinges([0.0, 0.5], [1.0, -2.0])
SAW = hinges(np.arange(0, 24) / 24, np.append(1.0, np.resize([-2.0, 2.0], 23)))
DOUBLE = hinges([0.0, 0.5], [2.0, -4.0])

RIGHT = {
    "15.1": [(2, 1), [2.0, 1.0], np.array([2, 1])],
    "15.2": [lambda a: a * (1 - a) / 2, lambda a: (a - a**2) / 2],
    "15.3": [(SAW, TENT), [SAW, TENT], (hinges(np.arange(11) / 11, [1.0] + 10 * [1e-4]), hinges([0.9], [10.0]))],
}
WRONG = {
    "15.1": [
        ((1, 2), "asks for the function itself"), ((3, 2), "patterns and pieces"), ((2, 2), "both sides of x = 1"),
        ((1, 1), "bend or no bend"), ((4, 1), "change the pattern once"),
        ((3, 1), "change the pattern once"), ((0, 0), "Write down"),
    ],
    "15.2": [
        (lambda a: -a * (1 - a) / 2, "its sign"), (lambda a: a * (1 - a), "largest distance"),
        (lambda a: a * (1 - a) * (3 + 2 * a) / 2, "published code"), (lambda a: (1 - a) ** 2 / 2, "below the function"),
        (lambda a: (1 - a) / 2, "below the chord"), (lambda a: a * (1 - a) / 4, "half too much"),
        (lambda a: 0.0, "Draw the function"),
        (lambda a: None, "returns nothing"),
    ],
    "15.3": [
        ((TENT, SAW), "name first"), ((TENT, TENT), "neither"), ((SAW, DOUBLE), "too easy"),
        ((SAW, hinges([-1.0], [1.0])), "does not bend"), ((nn.Linear(1, 2), TENT), "one output"),
        ((nn.Sequential(nn.Linear(1, 1), nn.Tanh()), TENT), "tanh"), ((nn.Linear(2, 1), TENT), "fails on a sample"),
        ((nn.ReLU, TENT), "the class ReLU"), ((hinges([2.0], [1.0]), TENT), "constant"),
    ],
}  # fmt: skip
GARBAGE = {
    "15.1": ["x", None, 1, (1, 2, 3), (float("nan"), 1)],
    "15.2": [None, 0.5, lambda: 1, lambda a: "x"],
    "15.3": [None, TENT, (TENT, None), (1, 2), lambda a: a],
}
SECRETS = {"15.1": ["(2, 1)"], "15.2": ["a (1", "a * (1"], "15.3": ["saw"]}


def test_what_is_right_depends_on_how():
    """A saw has little area since it stays near its chord; bends that hardly bend have little area, too."""
    assert "differ as much as they can" in check("15.3", (SAW, TENT)).message
    assert "hardly change the slope" in check("15.3", RIGHT["15.3"][2]).message
