"""The exercises of chapter 2, *Activation functions over their domain*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.stats import norm

from affscore.transport import affinity_score
from companion.activations import limit_score
from companion.answers import as_array, as_function, as_number, call, close, matching
from companion.exercises import Hints, exercise, right


@exercise("2.1", as_number)
def half_affine_relu(ratio: float) -> Hints:
    """The ratio mean/std of a normal input at which ReLU has a score of one half, a number."""
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


@exercise("2.2", as_function, "a function s(x) of an array")
def rising_but_far_from_affine(function: Callable[..., object]) -> Hints:
    """A function of arrays that never falls, with a score below 0.1 on standard normal inputs."""
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
