"""The diagonal score: its theorem, its bound, its closed form, its stream and interval."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from affscore.errors import AffscoreError
from affscore.transport import DiagonalStream, affine_map, affinity_score, diagonal_affinity
from tests.affscore.transport.clouds import clouds, generators, pairs, scales


def reference(x, y):
    """By loops over the channels that vary."""
    lost = sum(y[:, k].var() * (1 - np.corrcoef(x[:, k], y[:, k])[0, 1]) for k in range(x.shape[1]))
    return 1 - math.sqrt(max(lost, 0.0) / y.var(axis=0).sum())


@given(st.integers(3, 30), st.integers(1, 8), generators())
def test_it_is_its_definition(n, d, rng):
    x, y = rng.standard_normal((2, n, d))
    found = diagonal_affinity(x, y)
    raw = reference(x, y)
    assert found.value == pytest.approx(max(raw, 0), abs=1e-7)
    assert float(found.contributions.sum()) == pytest.approx((1 - raw) ** 2)


def test_the_closed_form_of_relu():
    x = np.random.default_rng(0).standard_normal((50_000, 3))
    exact = 1 - math.sqrt(1 - math.sqrt(math.pi / (2 * math.pi - 2)))
    assert diagonal_affinity(x, np.maximum(x, 0)).value == pytest.approx(exact, abs=0.005)


@given(pairs(), scales(), generators())
def test_shifts_scales_and_orders_do_not_change_it(pair, scale, rng):
    x, y = pair
    rows, columns = rng.permutation(len(x)), rng.permutation(x.shape[1])
    other = diagonal_affinity(scale * x[rows][:, columns] + scale, 3 * y[rows][:, columns])
    assert other.value == pytest.approx(diagonal_affinity(x, y).value, abs=1e-6)


@given(st.integers(2, 6), generators())
def test_it_is_the_affinity_score_where_correlations_stay(d, rng):
    """The theorem: signs of coordinates make the four means of a symmetric cloud vanish, so both are uncorrelated."""
    half = rng.uniform(0.2, 2.0, (3, d))
    signs = np.array(np.meshgrid(*[[-1, 1]] * d)).reshape(d, -1).T
    x = np.concatenate([signs * row for row in half])
    y = np.sign(x) * np.abs(x) ** 1.7 * np.arange(1, d + 1)
    assert affinity_score(x, y, "empirical").value == pytest.approx(diagonal_affinity(x, y).value, abs=1e-6)


@given(clouds(("gaussian", "skewed", "heavy tails"), 40, 5), generators())
def test_the_bound_of_what_is_off_the_diagonal(x, rng):
    x = np.concatenate([x, x[:, :1] + rng.standard_normal((len(x), 1))], axis=1)
    y = np.maximum(x, 0) + 0.1 * x  # increasing
    moved = affine_map(x, y, "empirical")(x).numpy() - y.mean(axis=0)
    diagonal = (x - x.mean(axis=0)) * y.std(axis=0) / x.std(axis=0)
    bound = math.sqrt(((moved - diagonal) ** 2).sum(axis=1).mean() / (2 * y.var(axis=0).sum()))
    assert abs(affinity_score(x, y, "empirical").raw - diagonal_affinity(x, y).value) <= bound + 1e-6


@given(clouds(("gaussian", "skewed", "constant column"), 60, 5), st.integers(1, 60))
def test_a_stream_is_one_batch(x, size):
    y, stream = np.tanh(x), DiagonalStream()
    for start in range(0, len(x), size):
        stream.update(x[start : start + size] + 1e4, y[start : start + size])
    assert stream.samples == len(x)
    assert stream.value == pytest.approx(diagonal_affinity(x, y).value, abs=1e-5)


@pytest.mark.parametrize(
    ("mean", "d"), [(0.0, 16), (-2.0, 64)]
)  # the second hardly fires: biased without the jackknife
def test_the_interval_covers(mean, d):
    generator, hits = torch.Generator().manual_seed(0), 0
    first = mean * norm.cdf(mean) + norm.pdf(mean)
    variance = (mean**2 + 1) * norm.cdf(mean) + mean * norm.pdf(mean) - first**2
    for _ in range(200):
        x, stream = mean + torch.randn(200, d, dtype=torch.float64, generator=generator), DiagonalStream()
        stream.update(x, x.relu())
        low, high = stream.interval
        hits += low <= 1 - math.sqrt(1 - norm.cdf(mean) / math.sqrt(variance)) <= high
    assert 178 <= hits <= 199


def test_constants_signs_and_errors():
    of_a_constant = diagonal_affinity([[0.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    assert of_a_constant.contributions.tolist() == [0.25, 0.0]
    x = np.random.default_rng(0).standard_normal((50, 2))
    assert diagonal_affinity(x, -x).value == 0.0
    assert diagonal_affinity(x, np.ones_like(x)).value == 1.0
    dead = diagonal_affinity(x, x * [1.0, 0.0])
    assert dead.contributions.tolist() == [0.0, 0.0]
    with pytest.raises(AffscoreError, match="constant"):
        diagonal_affinity(np.ones_like(x), x)
    with pytest.raises(AffscoreError, match="at least 2 samples"):
        DiagonalStream().value
    stream = DiagonalStream()
    stream.update(x[:1], x[:1])
    with pytest.raises(AffscoreError, match="2 coordinates"):
        stream.update(x[:, :1], x[:, :1])
    with pytest.raises(AffscoreError, match="must be below"):
        stream.update(x * 1e80, x)
    stream.update(x, x)
    assert stream.interval == (1.0, 1.0)
