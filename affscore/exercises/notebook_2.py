"""The exercises of notebook 2, *Activation functions over their domain*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.stats import norm

from affscore.exercises.answers import as_array, as_function, as_number, as_numbers, call, close, matching
from affscore.exercises.registry import Hints, exercise, right
from affscore.experiments.limits import limit_score
from affscore.transport import affinity_score

TANH_INPUT = np.array([-1.5, 0.75])
"""Mean and standard deviation of the input of Tanh in exercise 2.1."""


@exercise("2.1", as_numbers, "a pair (mean, std)")
def tanh_as_sigmoid(mean: float, std: float) -> Hints:
    """2.1: a pair (mean, std) where Sigmoid has the score that Tanh has at mean -1.5 and std 0.75."""
    yield std <= 0, "A standard deviation is positive."
    target, got = limit_score(torch.tanh, *TANH_INPUT), limit_score(torch.sigmoid, mean, std)
    given, of_tanh = [abs(mean), std], np.abs(TANH_INPUT)
    same = "There the two outputs are the same numbers, up to a factor and a shift."
    other = "The scores agree. (There is also a pair for which the outputs are the same, up to a factor and a shift.)"
    direction = "higher" if got > target else "lower"
    answers = (
        (close(got, target, 0.003), right(same if close(given, 2 * of_tanh, 1e-4) else other)),
        (of_tanh, "That is the input of Tanh itself. Which of the two functions is the steeper one?"),
        (of_tanh / 2, "You scaled in the wrong direction: write tanh(x) with exponentials and compare."),
        ((given == of_tanh).any(), "Stretching the axis changes the mean and the standard deviation, both of them."),
        (True, f"There Sigmoid has a {direction} score. Which stretch of the axis turns Sigmoid into Tanh?"),
    )
    yield from matching(given, answers, 1e-5)


@exercise("2.2", as_number)
def half_affine_relu(ratio: float) -> Hints:
    """2.2: the ratio mean/std of a normal input at which ReLU has a score of one half, a number."""
    expected = float(brentq(lambda mean: limit_score(torch.relu, mean) - 0.5, -3, 1))
    got = limit_score(torch.relu, ratio)
    a_share = "That looks like the share of inputs on one side of zero. Asked is the ratio mean/std."
    answers = (
        (expected, right("Any input with this ratio will do: ReLU does not notice a factor.")),
        (-expected, "Check the sign: on which side of zero does ReLU cut off most of the input?"),
        (norm.cdf(expected), a_share),
        (norm.sf(expected), a_share),
        (close(got, 0.5, 0.02), "Close. Two decimals are asked for: solve for the ratio instead of reading it off."),
        (True, f"At this ratio ReLU is {'more' if got > 0.5 else 'less'} affine than asked for."),
    )
    return matching(ratio, answers, 0.02)


@exercise("2.3", as_function, "a function s(x) of an array")
def rising_but_far_from_affine(function: Callable[..., object]) -> Hints:
    """2.3: a function of arrays that never falls, with a score below 0.1 on standard normal inputs."""
    x = np.random.default_rng(23).standard_normal((500, 100))
    grid = np.sort(x, axis=None)[:, None]
    y, on_grid, of_half = (
        as_array(call(function, part), "what your function returns, an array") for part in (x, grid, x[:250])
    )
    yield y.shape != x.shape, f"Your function must act on each entry: it made {y.shape} of an array of shape {x.shape}."
    alone = on_grid.shape == grid.shape and of_half.shape == (250, 100) and np.allclose(of_half, y[:250])
    yield not alone, "Your function must act on each entry by itself, whatever the other entries are."
    falls = (np.diff(on_grid[:, 0]) < -1e-9 * np.abs(on_grid).max()).any()
    score = affinity_score(x, y)
    low = score.value < 0.1
    yield score.constant_output, "On these inputs your function is constant, and a constant is affine: its score is 1."
    yield falls and low, "The score is low enough, but somewhere your function falls. A rising one can do it, too."
    yield falls, "Somewhere your function falls. Asked for is one that never does."
    yield low, right("Rising is not enough to be nearly affine: what counts is where the variance comes from.")
    low_correlation = "A low correlation with x is needed: let the variance of the output come from few of the inputs."
    yield True, f"It never falls, but its score is {score.value:.2f}. {low_correlation}"
