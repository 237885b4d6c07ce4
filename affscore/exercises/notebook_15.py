"""The exercises of notebook 15, *Redshift*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from affscore.exercises.answers import as_function, as_number, as_numbers, as_tuple, matching, numbers_of
from affscore.exercises.registry import Hints, exercise, right
from affscore.experiments.random_mlps import RandomMLP, mean_scores, mlp_scores

FACTOR, HIDDEN = 3, 4
"""By what the weights of exercise 15.1 are multiplied, and the number of hidden layers."""

SHARES = (0.0, 0.25, 0.5, 0.9, 1.0)
"""On which shares the functions of exercise 15.2 are compared."""

LARGEST, DEEPEST = 64.0, 12
"""Sizes of the weights and numbers of layers in exercise 15.3 end here."""

MORE_COMPLEX, MORE_AFFINE = 1.5, 0.02
"""The factor of the frequency and the difference of the scores that are asked for there."""


@exercise("15.1", as_number)
def three_times_the_weights(factor: float) -> Hints:
    """15.1: the factor by which the output of a ReLU network grows when its weights are multiplied by 3."""
    maps = HIDDEN + 1
    answers = (
        (float(FACTOR**maps), right("One factor for each matrix; no ReLU is in the way, and no score notices.")),
        (float(FACTOR**HIDDEN), "One is missing: which matrix has no ReLU behind it?"),
        (float(FACTOR ** (maps + 1)), "One too many: count the matrices, not the layers of units."),
        (float(FACTOR), "That is what one matrix contributes. What does the next one do to its multiplied inputs?"),
        (float(FACTOR * maps), "The factors of layers that act one after the other are multiplied, not added."),
        (float(FACTOR * HIDDEN), "The factors of layers that act one after the other are multiplied, not added."),
        (1.0, "The scores stay as they are. The numbers of the image do not."),
        (factor <= 0, "A ReLU lets a positive factor through, and it stays positive."),
        (True, "Follow the factor through one layer, then through the next."),
    )
    return matching(factor, answers, 1e-6)


@exercise("15.2", as_function, "a function score(p)")
def score_of_a_share(function: Callable[[float], float]) -> Hints:
    """15.2: the score as a function of the share of the variance that a map reproduces."""
    cases = [(share,) for share in SHARES]
    answers = (
        (lambda p: 1 - np.sqrt((1 - p) / 2), right("What is left out counts, and the bound is twice the variance.")),
        (lambda p: 1 - np.sqrt(1 - p), "The bound has a factor that you left out: what is under its root?"),
        (lambda p: 1 - (1 - p) / 2, "Those are squares: the distance and the bound are their roots."),
        (lambda p: 1 - np.sqrt(p / 2), "That is what the map reproduces. Which part makes up the distance?"),
        (lambda p: np.sqrt((1 - p) / 2), "That is the ratio of distance and bound. What is the score of such a ratio?"),
        (lambda p: p, "A share of a variance is a ratio of squares, and the score is one minus a ratio of lengths."),
        (
            True,
            "Which part of the variance of Y is the squared distance, and which multiple of it is the squared bound?",
        ),
    )
    return matching(numbers_of(function, cases), answers, 1e-6, cases)


def as_two_pairs(answer: object) -> tuple[tuple[float, ...], ...]:
    """Two pairs of numbers.

    >>> as_two_pairs(((1, 2), [0.5, 3]))
    ((1.0, 2.0), (0.5, 3.0))
    """
    pairs = as_tuple(answer, "two pairs (size, depth)")
    return tuple(as_numbers(pair, "a pair (size, depth)") for pair in pairs)


@exercise("15.3", as_two_pairs)
def more_complex_and_more_affine(*pairs: tuple[float, float]) -> Hints:
    """15.3: sizes and depths of two Tanh networks, the second with a more complex image and a higher mean score."""
    sizes, depths = zip(*pairs, strict=True)
    yield not all(0.1 <= size <= LARGEST for size in sizes), f"Sizes go from 0.1 to {LARGEST:g}, got {sizes}."
    whole = all(depth in range(1, DEEPEST + 1) for depth in depths)
    yield not whole, f"Depths are whole numbers from 1 to {DEEPEST}, got {depths[0]:g} and {depths[1]:g}."
    asked = [RandomMLP("tanh", size, depth=int(depth)) for size, depth in pairs]
    yield asked[0] == asked[1], "These are the same network. Change its size, its depth, or both."
    found = mean_scores(mlp_scores(asked, covariances=["ledoit-wolf"]))
    (one, other), (before, after) = found["frequency"], found["mean"]
    got = f"The frequency goes from {one:.2f} to {other:.2f}, the mean score from {before:.2f} to {after:.2f}"
    complex_enough, affine_enough = other >= MORE_COMPLEX * one, after >= before + MORE_AFFINE
    yield complex_enough and affine_enough, right(f"{got}: complexity adds up along a network, a mean score does not.")
    yield (affine_enough, f"{got}: affine enough, but too simple. What makes an image complex, step by step?")
    low = f"{got}: complex enough, but the score does not rise enough. Which of the two numbers drives it down?"
    yield complex_enough, low
    yield True, f"{got}: neither is reached. Which network did you name first?"
