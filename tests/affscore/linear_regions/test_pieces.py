"""Areas, bounds and bends of piecewise affine functions against slow references."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affscore import AffscoreError
from affscore.linear_regions import absolute_deviation, total_variation
from affscore.linear_regions.pieces import Trace, bends

NUMBERS = st.floats(-10, 10).map(lambda x: round(x, 3))


@st.composite
def functions(draw):
    """Points from 0 to 1 and values there, (points, 2)."""
    inner = draw(st.lists(st.integers(1, 999), unique=True, max_size=8))
    t = np.array([0, *sorted(inner), 1000]) / 1000
    return t, np.array([[draw(NUMBERS), draw(NUMBERS)] for _ in t])


def integral(t, f, length):
    """By a sum over fine steps between the points, with the zeros of the difference in between."""
    fine = np.unique(np.concatenate([np.linspace(a, b, 2001) for a, b in pairwise(t)]))
    values = np.stack([np.interp(fine, t, column) for column in f.T], 1)
    gap = np.abs(values - f[0] - fine[:, None] * (f[-1] - f[0]))
    return length * (np.diff(fine)[:, None] * (gap[1:] + gap[:-1]) / 2).sum(0)


@given(functions(), st.floats(0.1, 10))
def test_the_area_is_the_integral(function, length):
    np.testing.assert_allclose(absolute_deviation(*function, length), integral(*function, length), atol=2e-4, rtol=1e-4)


@given(functions())
def test_the_bound_is_no_smaller_and_by_the_triangle_inequality(function):
    t, f = function
    bound = absolute_deviation(t, f, mode="upper_bound")
    assert (bound >= absolute_deviation(t, f) - 1e-9).all()
    expected = np.zeros(2)
    for j in range(len(t) - 1):
        slope = (f[j + 1] - f[j]) / (t[j + 1] - t[j])
        offset, tilt = f[0] - (f[j] - slope * t[j]), slope - (f[-1] - f[0])
        fine = np.linspace(t[j], t[j + 1], 1001)[:, None]
        integrand = np.abs(offset) + fine * np.abs(tilt)
        expected += ((integrand[1:] + integrand[:-1]) / 2 * np.diff(fine, axis=0)).sum(0)
    np.testing.assert_allclose(bound, expected, rtol=1e-9, atol=1e-9)


@given(functions(), st.integers(1, 999))
def test_a_further_point_on_a_straight_part_changes_nothing(function, place):
    t, f = function
    if place / 1000 in t:
        return
    finer = np.sort(np.append(t, place / 1000))
    g = np.stack([np.interp(finer, t, column) for column in f.T], 1)
    for mode in ("exact", "upper_bound"):
        np.testing.assert_allclose(
            absolute_deviation(finer, g, mode=mode), absolute_deviation(t, f, mode=mode), rtol=1e-9, atol=1e-9
        )
    np.testing.assert_allclose(total_variation(g), total_variation(f), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("t", "values", "words", "message"),
    [
        ([0, 1, 0.5], [[0], [1], [2]], {}, "must rise from 0 to 1"),
        ([0.1, 1], [[0], [1]], {}, "must rise from 0 to 1"),
        ([0, 1], [0, 1], {}, r"must have the shape \(2, logits\)"),
        ([0, 1], [[0], [float("nan")]], {}, "must be finite"),
        ([0, 1], [[0], [1]], {"mode": "area"}, "mode must be one of exact, upper_bound, got 'area'"),
    ],
)
def test_what_is_no_function(t, values, words, message):
    with pytest.raises(AffscoreError, match=message):
        absolute_deviation(t, values, **words)


def no_slopes(t):
    raise AssertionError("slopes are computed again where differences decide")


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1.0, 1e160, 1e300])
def test_the_area_goes_with_the_scale_of_the_logits(scale):
    zigzag = np.array([[0.0], [1.0], [-3.0], [0.0]])
    found = absolute_deviation([0, 0.25, 0.5, 1], scale * zigzag)
    np.testing.assert_allclose(found / scale, absolute_deviation([0, 0.25, 0.5, 1], zigzag), rtol=1e-12)


def trace_of(t, f):
    marks = np.zeros(len(t), dtype=bool)
    return Trace(np.array(t), np.array(f, dtype=float), marks, marks)


def test_bends_are_where_slopes_differ():
    t = [0, 0.25, 0.5, 0.75, 1]
    found = bends(trace_of(t, [[0, 1], [1, 1], [2, 1], [2, 1], [2, 2]]), 1e-16, no_slopes)
    assert found.tolist() == [False, False, True, True, False]


@pytest.mark.parametrize("bent", [True, False])
def test_between_points_that_are_near_derivatives_decide(bent):
    """Rounding of the size of the step: differences of the logits say nothing."""
    t, steepness = [0, 0.5, 0.5 + 1e-11, 1], 1.0 if bent else 2.0
    f = np.array([[0], [1], [1 + 2e-11], [1 + steepness / 2]])
    f[2] += 3e-12
    asked = []

    def slopes_at(places):
        asked.extend(places)
        return np.where(places[:, None] < 0.5 + 0.5e-11, 2.0, steepness)

    found = bends(trace_of(t, f), 1e-11, slopes_at)
    assert len(asked) >= 2
    assert found[1:3].any() == bent


def test_a_constant_has_no_bends_whatever_its_rounding():
    values = 1 + 1e-16 * np.random.default_rng(0).normal(size=(50, 3))
    trace = trace_of(np.linspace(0, 1, 50), values)
    assert not bends(trace, 1e-16, lambda t: np.zeros((len(t), 3))).any()
