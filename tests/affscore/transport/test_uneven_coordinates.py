"""Coordinates of very different size: empirical covariances keep what float64 keeps of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affscore import affinity_score
from tests.affscore.transport import textbook


def cloud(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d)))


def of_samples(x, y):
    return affinity_score(x, y, "empirical", coupling="paired")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-200, 200), min_size=1, max_size=6), st.booleans(), st.integers(0, 99))
def test_a_change_of_units_of_single_coordinates_is_affine(exponents, backwards, seed):
    z = cloud(60, len(exponents), seed)
    pair = (z * 10.0 ** np.array(exponents), z)
    score = of_samples(*(pair[::-1] if backwards else pair))
    within_reach = max(exponents) - min(exponents) < 135  # beyond, the squares of the smallest underflow
    assert score.raw == pytest.approx(1.0, abs=1e-6) or score.degenerate_input
    assert not (within_reach and score.degenerate_input)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("exponent", [5, 8, 12, 20, 100, 150])
def test_the_score_has_a_limit_for_small_and_for_large_coordinates(exponent, sign):
    """From 1e-4 on, where the definition can be computed as it is printed, it moves by less than 1e-4."""
    z = cloud(60, 5)
    units = np.array([1.0, 1.0, 1.0, 0.5, 1.0])
    near, far = (units * np.where(np.arange(5) == 3, 10.0 ** (sign * e), 1.0) for e in (4, exponent))
    y = np.maximum(z, 0.0)
    y -= y.mean(axis=0)
    centred = z - z.mean(axis=0)
    matrix = textbook.linear_part(*(textbook.covariance(points, "empirical") for points in (centred * near, y)))
    expected = 1.0 - np.sqrt(((centred * near @ matrix.T - y) ** 2).sum() / (2.0 * (y**2).sum()))
    score = of_samples(z * far, y)
    assert score.raw == pytest.approx(expected, abs=1e-4)
    assert not score.degenerate_input


def test_what_float64_cannot_hold_is_flagged():
    """Small directions that no coordinate axis is along: the rounding of the large ones covers them."""
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    z = cloud(200, 6)
    for exponent in range(0, 20):
        score = of_samples(z * np.where(np.arange(6) < 3, 1.0, 10.0**-exponent) @ rotation, z @ rotation)
        assert score.degenerate_input or score.raw == pytest.approx(1.0, abs=1e-3)
        assert not (exponent < 4 and score.degenerate_input)


def test_an_input_of_fewer_dimensions_than_the_output_is_flagged():
    line = np.linspace(-1.0, 1.0, 50)[:, None]
    x = line * [1.0, -1.0]
    assert of_samples(x, np.maximum(x, 0.0)).degenerate_input
    assert not of_samples(x, 2.0 * x).degenerate_input
    assert not affinity_score(x, np.maximum(x, 0.0)).degenerate_input  # shrinkage reaches every direction


def test_rounding_in_the_basis_of_a_wide_cloud_is_not_taken_for_small_coordinates():
    rng = np.random.default_rng(0)
    a, b, c, d = rng.standard_normal((4, 8))
    x, y = np.array([a, b, a, b]), np.array([a, b, c, d])  # x has one direction, y three
    expected = affinity_score(x, y).value
    for _ in range(5):
        motion = np.linalg.qr(rng.standard_normal((8, 8))).Q
        assert affinity_score(x @ motion, y @ motion).value == pytest.approx(expected, abs=1e-9)
