"""The exercises of notebook 2, *Activation functions over their domain*."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import brentq

from affscore.exercises.answers import NotAnAnswerError, as_array, as_function, as_number, as_pair, call
from affscore.exercises.registry import exercise
from affscore.exercises.verdict import Verdict
from affscore.experiments.limits import limit_score
from affscore.transport import affinity_score

__all__ = ["half_affine_relu", "rising_but_far_from_affine", "tanh_as_sigmoid"]

TANH_INPUT = (-1.5, 0.75)
"""Mean and standard deviation of the input of Tanh in exercise 2.1."""


@exercise("2.1")
def tanh_as_sigmoid(answer: object) -> Verdict:
    """2.1: a pair (mean, std) where Sigmoid has the score that Tanh has at mean -1.5 and std 0.75."""
    first, second = as_pair(answer, "a pair (mean, std)")
    mean, std = as_number(first), as_number(second)
    if std <= 0:
        return Verdict(False, "A standard deviation is positive.")
    tanh_mean, tanh_std = TANH_INPUT
    target = limit_score(torch.tanh, tanh_mean, tanh_std)
    got = limit_score(torch.sigmoid, mean, std)
    if abs(got - target) <= 0.003:
        if np.allclose([abs(mean), std], [2 * abs(tanh_mean), 2 * tanh_std]):
            return Verdict(True, "There the two outputs are the same numbers, up to a factor and a shift.")
        return Verdict(
            True,
            "The scores agree. (There is also a pair for which the outputs are the same, up to a factor and a shift.)",
        )
    if np.allclose([abs(mean), std], [abs(tanh_mean), tanh_std]):
        return Verdict(False, "That is the input of Tanh itself. Which of the two functions is the steeper one?")
    if np.allclose([abs(mean), std], [abs(tanh_mean) / 2, tanh_std / 2]):
        return Verdict(False, "You scaled in the wrong direction: write tanh(x) with exponentials and compare.")
    if std == tanh_std or abs(mean) == abs(tanh_mean):
        return Verdict(False, "Stretching the axis changes the mean and the standard deviation, both of them.")
    direction = "higher" if got > target else "lower"
    return Verdict(False, f"There Sigmoid has a {direction} score. Which stretch of the axis turns Sigmoid into Tanh?")


@exercise("2.2")
def half_affine_relu(answer: object) -> Verdict:
    """2.2: the ratio mean/std of a normal input at which ReLU has a score of one half, a number."""
    ratio = as_number(answer)
    expected = float(brentq(lambda mean: limit_score(torch.relu, mean) - 0.5, -3, 1))
    got = limit_score(torch.relu, ratio)
    if abs(ratio - expected) <= 0.02:
        return Verdict(True, "Any input with this ratio will do: ReLU does not notice a factor.")
    if abs(ratio + expected) <= 0.02:
        return Verdict(False, "Check the sign: on which side of zero does ReLU cut off most of the input?")
    share = 0.5 * float(1 + torch.erf(torch.tensor(expected / 2**0.5)))
    if abs(ratio - share) <= 0.02 or abs(ratio - (1 - share)) <= 0.02:
        return Verdict(False, "That looks like the share of inputs on one side of zero. Asked is the ratio mean/std.")
    if abs(got - 0.5) <= 0.02:
        return Verdict(False, "Close. Two decimals are asked for: solve for the ratio instead of reading it off.")
    direction = "more" if got > 0.5 else "less"
    return Verdict(False, f"At this ratio ReLU is {direction} affine than asked for.")


@exercise("2.3")
def rising_but_far_from_affine(answer: object) -> Verdict:
    """2.3: a function of arrays that never falls, with a score below 0.1 on standard normal inputs."""
    function = as_function(answer, "a function s(x) of an array")
    x = np.random.default_rng(23).standard_normal((500, 100))
    y = as_array(call(function, x), "what your function returns, an array")
    if y.shape != x.shape:
        raise NotAnAnswerError(
            f"Your function must act on each entry: it made {y.shape} of an array of shape {x.shape}."
        )
    grid = np.sort(x, axis=None)[:, None]
    on_grid = as_array(call(function, grid), "what your function returns, an array")
    of_half = as_array(call(function, x[:250]), "what your function returns, an array")
    if on_grid.shape != grid.shape or of_half.shape != (250, 100) or not np.allclose(of_half, y[:250]):
        raise NotAnAnswerError("Your function must act on each entry by itself, whatever the other entries are.")
    falls = bool((np.diff(on_grid[:, 0]) < -1e-9 * np.abs(on_grid).max()).any())
    score = affinity_score(x, y)
    if score.constant_output:
        return Verdict(False, "On these inputs your function is constant, and a constant is affine: its score is 1.")
    if falls and score.value < 0.1:
        return Verdict(
            False, "The score is low enough, but somewhere your function falls. A rising one can do it, too."
        )
    if falls:
        return Verdict(False, "Somewhere your function falls. Asked for is one that never does.")
    if score.value < 0.1:
        return Verdict(True, "Rising is not enough to be nearly affine: what counts is where the variance comes from.")
    return Verdict(
        False,
        f"It never falls, but its score is {score.value:.2f}. A low correlation with x is needed: "
        "let the variance of the output come from few of the inputs.",
    )
