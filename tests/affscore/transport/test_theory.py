"""The statements of the page Theory that no other file of this folder checks."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from affscore.transport import affine_map, affinity_score
from tests.affscore.transport import textbook
from tests.affscore.transport.clouds import DEGENERATE, REGULAR, clouds, generators, pairs

ALL = REGULAR + DEGENERATE


def paired_cost(x, y):
    return ((x - y) ** 2).sum(axis=1).mean()


def empirical(x):
    return textbook.covariance(x, "empirical")


# Singular covariances -----------------------------------------------------------------------------------------


@given(st.integers(2, 10), st.integers(1, 12), generators(), st.integers(1, 12), st.integers(1, 12))
def test_on_the_samples_the_map_is_a_positive_one(n, d, rng, rank_x, rank_y):
    """The inner products (T x_i - T x_j) (x_i - x_j) are those of a positive matrix, and T x = 0 where they are 0."""
    x = rng.standard_normal((n, min(rank_x, d))) @ rng.standard_normal((min(rank_x, d), d))
    y = rng.standard_normal((n, min(rank_y, d))) @ rng.standard_normal((min(rank_y, d), d))
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    roots = np.linalg.svd(textbook.root(empirical(y)) @ textbook.root(empirical(x)))[1]
    kept = roots[roots > 1e-9 * roots[0]]
    assume(kept[-1] > 1e-4 * kept[0])
    moved = affine_map(x, y, "empirical")(x).numpy()
    products = moved @ x.T
    size = np.abs(products).max()
    np.testing.assert_allclose(products, products.T, atol=1e-6 * size)
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    assert values.min() > -1e-6 * size
    null = vectors[:, values < 1e-6 * size]
    assert np.abs(null.T @ moved).max(initial=0.0) < 1e-3 * np.abs(moved).max()


def test_the_limit_of_a_ridge_where_each_cloud_varies_where_the_other_does_not():
    """What the page leaves open: X varies along axes 0 and 1, Y along 0 and 2; the ridge maps axis 1 nowhere either."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    source, target = np.diag([2.0, 1.0, 0.0]), np.diag([1.0, 0.0, 3.0])
    for x, y in ((source, target), (source + 0.5 * np.outer([1, 1, 0], [1, 1, 0]), target)):
        x, y = turn @ x @ turn.T, turn @ y @ turn.T
        mapped = textbook.linear_part(x + 1e-6 * np.eye(3), y + 1e-6 * np.eye(3)) @ x
        clouds = (np.sqrt(3) * np.concatenate([textbook.root(m), -textbook.root(m)]) for m in (x, y))
        ours = affine_map(*clouds, "empirical").matrix.numpy() @ x
        np.testing.assert_allclose(mapped, ours, atol=1e-2)


# The range of the score ---------------------------------------------------------------------------------------


@given(pairs(ALL), st.sampled_from(["empirical", "ledoit-wolf"]))
def test_the_paired_cost_from_covariances(pair, name):
    x, y = pair
    fit = affine_map(x, y, name)
    matrix, cross = fit.matrix.numpy(), (x - x.mean(axis=0)).T @ (y - y.mean(axis=0)) / len(x)
    moved, of_y = np.trace(matrix @ empirical(x) @ matrix.T), np.trace(empirical(y))
    cost = moved + of_y - 2 * np.trace(matrix @ cross)
    assert cost == pytest.approx(paired_cost(fit(x).numpy(), y), rel=1e-6, abs=1e-7 * (moved + of_y))
    if name == "empirical":
        assert cost <= 4 * of_y * (1 + 1e-7)


def heavy(n, d, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) * np.where(np.arange(d) < d // 10, 1.0, 1e-3)
    return x * np.abs(rng.standard_t(1, size=(n, 1)))


def excess(x, y):
    """How many times the variance of Y the mapped cloud has under shrinkage."""
    return np.trace(empirical(affine_map(x, y)(x).numpy())) / np.trace(empirical(y))


@given(pairs(ALL))
def test_the_raw_score_under_shrinkage_is_between_its_bounds(pair):
    tau, raw = excess(*pair), affinity_score(*pair).raw
    assert 1 - math.sqrt((1 + tau) / 2) <= raw + 1e-9
    assert raw <= 1 - abs(math.sqrt(tau) - 1) / math.sqrt(2) + 1e-7


def test_a_ridge_never_breaks_the_bound():
    x = heavy(128, 64, 0)
    y = np.clip(x, 0, 6)
    for ridge in (1e-3, 1.0, 100.0):
        assert affinity_score(x, y, "empirical", ridge=ridge).raw > 0


@given(clouds(ALL, max_n=40, max_d=1), st.sampled_from(["empirical", "ledoit-wolf"]))
def test_on_a_line_an_increasing_function_has_the_closed_form(x, name):
    for y in (np.maximum(x, 0), np.tanh(x), x**3, np.floor(x)):
        if np.ptp(y) > 0:
            expected = math.sqrt(max(1 - np.corrcoef(x[:, 0], y[:, 0])[0, 1], 0.0))
            assert 1 - affinity_score(x, y, name).raw == pytest.approx(expected, abs=1e-7)
