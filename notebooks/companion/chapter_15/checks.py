"""The exercises of chapter 15, *Linear regions*."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from affscore.errors import AffscoreError
from affscore.linear_regions import Segment, absolute_deviation, along_segment
from companion.answers import NotAnAnswerError, as_function, as_tuple, matching, numbers_of, present
from companion.exercises import Hints, exercise, right

PLACES = (0.1, 0.25, 0.5, 0.8)
"""Where the unit of exercise 15.1 bends."""

TIMES = 10
"""So many times as many breakpoints, and so much less deviation, are asked for in exercise 15.2."""

SAME_WAY = 0.01
"""By how much the total variations may differ there, as a fraction."""


def _hinge(a: float, mode: Any = "exact") -> float:
    """The deviation of max(t - a, 0) on [0, 1]."""
    return float(absolute_deviation([0, a, 1], [[0.0], [0.0], [1 - a]], mode=mode)[0])


@exercise("15.1", as_function, "a function deviation(a)")
def deviation_of_a_hinge(function: Callable[[float], float]) -> Hints:
    """The absolute deviation of relu(t - a) on [0, 1] as a function of a in (0, 1)."""
    cases = [(place,) for place in PLACES]
    answers = (
        (_hinge, right("A triangle; the largest one bends in the middle, and yet all have two regions.")),
        (lambda a: -_hinge(a), "Right but for its sign: an area has none."),
        (lambda a: 2 * _hinge(a), "That is the largest distance from the chord. What is the area of such a triangle?"),
        (lambda a: _hinge(a) / 2, "A half too much: one half is of the triangle, and where is the other from?"),
        (lambda a: _hinge(a, "upper_bound"), "That is the upper bound of the published code, not the area."),
        (lambda a: (1 - a) ** 2 / 2, "That is the area below the function. Which line is the other border?"),
        (lambda a: (1 - a) / 2, "That is the area below the chord. Which part of it lies below the function, too?"),
        (True, "Draw the function and its chord from t = 0 to 1: which triangle is between them, and how high is it?"),
    )
    return matching(numbers_of(function, cases), answers, 1e-6, cases)


def _as_networks(answer: object) -> tuple[Any, ...]:
    """A pair of networks."""
    networks = as_tuple(present(answer, "a pair of networks"), "a pair of networks")
    for one in networks:
        if not isinstance(one, nn.Module):
            given = f"the class {one.__name__}" if isinstance(one, type) else type(one).__name__
            raise NotAnAnswerError(f"Expected two networks, each a torch.nn.Module, got {given}.")
    return networks


def _on_the_unit_segment(network: nn.Module) -> Segment:
    """What a student's network does from 0 to 1."""
    try:
        segment = along_segment(network, [0.0], [1.0])
    except AffscoreError as reason:
        raise NotAnAnswerError(f"About one of your networks: {reason}.") from reason
    if segment.logits.shape[1] != 1:
        raise NotAnAnswerError(f"Expected one output for one input, got {segment.logits.shape[1]}.")
    return segment


@exercise("15.2", _as_networks)
def many_and_few(*networks: nn.Module) -> Hints:
    """Two networks of one input: the first has ten times the breakpoints and a tenth of the deviation."""
    many, few = map(_on_the_unit_segment, networks)
    ways, areas = ([float(getattr(one, name)[0]) for one in (many, few)] for name in _MEASURES)
    bends = [one.count - 1 for one in (many, few)]
    yield min(ways) == 0, "A function that is constant on [0, 1] has nothing to compare."
    same = abs(ways[0] - ways[1]) <= SAME_WAY * max(ways)
    yield not same, f"Their total variations differ: {ways[0]:.3g} and {ways[1]:.3g}. Scaling a function is too easy."
    yield bends[1] == 0, "The second function does not bend. Then anything has infinitely many times its breakpoints."
    first, second = (f"{bend} breakpoints and an area of {area:.3g}" for bend, area in zip(bends, areas, strict=True))
    got = f"The first has {first}, the second {second}"
    enough, small = bends[0] >= TIMES * bends[1], areas[0] * TIMES <= areas[1]
    if enough and small:
        why = "bends that hardly change the slope add hardly any area"
        steps = np.diff(many.logits[:, 0])
        if steps.min() < 0 < steps.max():  # it changes its direction
            why = "its regions differ as much as they can, and yet it is never far from its chord"
        yield True, right(f"{got}: {why}.")
    yield small, f"{got}: little area, but too few breakpoints. What else could bend a little?"
    yield enough, f"{got}: many breakpoints, but too much area. How could they cancel each other?"
    turned = bends[1] >= TIMES * bends[0] and areas[1] * TIMES <= areas[0]
    yield turned, f"{got}. Which of the two did you name first?"
    yield True, f"{got}: neither is as asked. Begin with one bend that makes a large area."


_MEASURES = ("total_variation", "absolute_deviation")
