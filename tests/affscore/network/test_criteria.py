import math
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from affscore import AffscoreError, affinity_score
from affscore.network import debiased_cka, entropy, linear_cka, norm, r2
from affscore.network.collect import sparse_entries
from affscore.network.criteria import affine_fit
from tests.affscore.transport.clouds import clouds, orthogonal, pairs, scales


def naive_cka(x, y):
    """Kornblith et al.: HSIC of the Gram matrices with the centring matrix, biased."""
    n = len(x)
    centring = np.eye(n) - np.ones((n, n)) / n
    gram_x, gram_y = centring @ x @ x.T @ centring, centring @ y @ y.T @ centring
    return np.trace(gram_x @ gram_y) / math.sqrt(np.trace(gram_x @ gram_x) * np.trace(gram_y @ gram_y))


def naive_entropy(x):
    total = 0.0
    for sample in x:
        d = len(sample)
        counts, _ = np.histogram(sample, bins=d) if np.ptp(sample) > 0 else (np.array([d]), None)
        for count in counts:
            if count:
                total -= count / d * math.log(count / d)
    return total / len(x) + math.log(x.shape[1])


@given(pairs())
def test_cka_is_its_definition(pair):
    x, y = pair
    assert linear_cka(x, y) == pytest.approx(naive_cka(x, y), abs=1e-10)
    assert 0.0 <= linear_cka(x, y) <= 1.0


@given(clouds(), scales(), st.data())
def test_cka_does_not_see_rotations_scales_and_shifts(x, scale, data):
    q = data.draw(orthogonal(x.shape[1]))
    assert linear_cka(x, scale * x @ q + 3.0 * scale) == pytest.approx(1.0, abs=1e-9)


def test_cka_of_uncorrelated_samples_is_zero_and_of_a_constant_undefined():
    x = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    assert linear_cka(x, y) == 0.0
    assert math.isnan(linear_cka(x, np.ones((4, 1))))


@given(pairs())
def test_norm_is_its_definition(pair):
    x, y = pair
    total = sum((x[i, j] - y[i, j]) ** 2 for i in range(len(x)) for j in range(x.shape[1]))
    assert norm(x, y) == pytest.approx(math.sqrt(total), abs=1e-12)
    assert norm(x, x) == 0.0


@given(st.integers(1, 12), st.integers(2, 8), st.integers(0, 999))
def test_entropy_is_its_definition(d, n, seed):
    x = np.random.default_rng(seed).standard_normal((n, d))
    assert entropy(x) == pytest.approx(naive_entropy(x), abs=1e-12)
    assert math.log(d) - 1e-12 <= entropy(x) <= 2 * math.log(d) + 1e-12


@pytest.mark.parametrize("d", [1, 2, 8, 64])
def test_entropy_of_evenly_spread_and_of_constant_samples(d):
    spread = np.tile(np.arange(d, dtype=float), (2, 1))
    assert entropy(spread) == pytest.approx(2 * math.log(d))  # one value in each of d bins
    assert entropy(np.full((3, d), 7.0)) == pytest.approx(math.log(d))


@given(pairs())
def test_r2_is_that_of_scikit_learn(pair):
    x, y = pair
    n, d = x.shape
    expected = LinearRegression().fit(x, y).score(x, y)
    assert r2(x, y) == pytest.approx(expected, abs=1e-8)
    if d >= n:
        assert r2(x, y) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("criterion", [linear_cka, debiased_cka, r2])
def test_what_varies_by_rounding_only_is_constant(criterion):
    """In float32 sigmoid(1e-7 z) is 0.5 or one of its neighbours: of a constant R2 is 1, and CKA is not defined."""
    x = 1e-7 * torch.randn(512, 8, generator=torch.Generator().manual_seed(0))
    y = torch.sigmoid(x)
    assert len(y.unique()) > 2
    assert criterion(x, y) == 1.0 if criterion is r2 else math.isnan(criterion(x, y))
    assert criterion(x.double(), torch.sigmoid(x.double())) == pytest.approx(1.0, abs=1e-6)
    mixed, still = (torch.cat([torch.relu(x), more], dim=1) for more in (y, torch.full_like(y, 0.5)))
    assert criterion(x, mixed) == criterion(x, still)


@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_r2_is_not_that_of_the_rounding_of_inputs_that_depend_on_each_other(shift):
    """Eight channels that are combinations of three: in float32 they have eight dimensions, five of them rounding."""
    rng = np.random.default_rng(6)
    z, mix = rng.standard_normal((100, 3)), rng.standard_normal((3, 8))
    y = np.maximum(z @ mix, 0.0)
    rounded = (z @ mix + shift).astype(np.float32)
    assert np.linalg.matrix_rank(rounded.astype(float)) == 8
    expected = LinearRegression().fit(z, y).score(z, y)
    assert r2(rounded, y) == pytest.approx(expected, abs=1e-4)


@given(pairs(), st.lists(st.integers(-480, 0), min_size=24, max_size=24))
def test_r2_does_not_see_the_units_of_single_coordinates(pair, exponents):
    x, y = pair
    units = 2.0 ** np.array(exponents[: x.shape[1]], dtype=float)
    assert r2(x * units, y) == pytest.approx(r2(x, y), abs=1e-9)
    assert r2(x, y * units) == pytest.approx(r2(x, y), abs=1e-9)


def test_r2_averages_over_coordinates_whatever_their_size():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 2))
    y = np.stack([1e6 * x[:, 0], rng.standard_normal(40)], axis=1)
    parts = [r2(x, y[:, [j]]) for j in range(2)]
    assert r2(x, y) == pytest.approx(np.mean(parts))
    assert parts[0] == pytest.approx(1.0)
    assert parts[1] < 0.3


def hsic_by_its_definition(k, m):
    """Song et al.: averages over quadruples of different samples."""
    n, total, count = len(k), 0.0, 0
    for a, b, c, d in permutations(range(n), 4):
        total += k[a, b] * (m[a, b] + m[c, d] - 2 * m[a, c])
        count += 1
    return total / count


def test_debiased_cka_is_that_of_the_definition():
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((7, 3)), rng.standard_normal((7, 5)) + 2
    y[:, :3] += x
    k, m = x @ x.T, y @ y.T
    expected = hsic_by_its_definition(k, m) / np.sqrt(hsic_by_its_definition(k, k) * hsic_by_its_definition(m, m))
    assert debiased_cka(x, y) == pytest.approx(expected, rel=1e-9)


def test_debiased_cka_where_it_is_not_defined():
    x = np.random.default_rng(5).standard_normal((3, 2))
    assert math.isnan(debiased_cka(x, x))
    assert math.isnan(debiased_cka(np.ones((9, 2)), np.arange(18.0).reshape(9, 2)))


@pytest.mark.parametrize("function", [linear_cka, norm, r2])
def test_what_is_not_finite_is_refused(function):
    x = np.ones((3, 2))
    with pytest.raises(AffscoreError, match="must be finite, got 1 NaN or infinite of 6"):
        function(x, np.array([[1.0, np.nan], [0.0, 1.0], [2.0, 3.0]]))


# The best affine map ---------------------------------------------------------------------------


NOTHING = 1 - math.sqrt(1 / 2)


def normal(n, d, seed=0):
    return torch.randn(n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("before", "after"), [(5, 5), (5, 3), (3, 5), (1, 4), (40, 40)])
def test_every_affine_map_has_1_whatever_its_matrix_and_widths(before, after):
    x = normal(100, before)
    assert affine_fit(x, x @ normal(before, after, seed=1) + 3.0) == pytest.approx(1.0, abs=1e-7)


def test_a_rotation_is_where_the_affinity_score_is_far_from_1():
    x = normal(512, 64)
    turned = x @ torch.linalg.qr(normal(64, 64, seed=1)).Q
    assert affine_fit(x, turned) == pytest.approx(1.0, abs=1e-7)
    assert affinity_score(x, turned).value < 0.3
    assert affinity_score(x, turned).paired < 0.05


@pytest.mark.parametrize("d", [1, 10, 150])
def test_what_x_says_nothing_of_has_one_minus_the_root_of_a_half_at_any_width(d):
    found = [affine_fit(normal(200, d, seed), normal(200, 8, 1000 + seed)) for seed in range(20)]
    assert np.mean(found) == pytest.approx(NOTHING, abs=0.02)


def naive_fit(x, y):
    """By the residuals of NumPy's least squares."""
    x, y = np.asarray(x), np.asarray(y)
    design = np.column_stack([np.ones(len(x)), x])
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    left, total = ((y - design @ solution) ** 2).sum() / (len(x) - rank), ((y - y.mean(0)) ** 2).sum() / (len(x) - 1)
    return max(1 - math.sqrt(left / total / 2), 0)


@given(st.integers(0, 10**6), st.integers(4, 60), st.integers(1, 20), st.integers(1, 6))
def test_it_is_that_of_the_residuals(seed, n, d, e):
    x = normal(n, d, seed)
    y = x @ normal(d, e, seed + 1) + (x @ normal(d, e, seed + 2)).relu()
    if n <= d + 1:
        assert math.isnan(affine_fit(x, y))
    else:
        assert affine_fit(x, y) == pytest.approx(naive_fit(x, y), abs=1e-6)


@given(st.integers(0, 10**6))
def test_units_of_the_output_and_affine_maps_of_the_input_change_nothing(seed):
    x = normal(50, 4, seed)
    y = (x @ normal(4, 3, seed + 1)).relu()
    expected = affine_fit(x, y)
    assert affine_fit(x @ normal(4, 4, seed + 2) + 5, 1e3 * y - 7) == pytest.approx(expected, abs=1e-6)
    assert affine_fit(x, y @ torch.linalg.qr(normal(3, 3, seed)).Q) == pytest.approx(expected, abs=1e-6)


def test_a_constant_output_and_a_constant_input():
    x = normal(20, 3)
    assert math.isnan(affine_fit(x, torch.ones(20, 2)))
    assert affine_fit(torch.ones(20, 2), x) == pytest.approx(NOTHING, abs=1e-12)


# Sparsity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("layout", ["contiguous", "channels last", "strided", "large"])
def test_sparse_entries_of_every_layout(dtype, layout):
    shape = (7, 48, 32, 32) if layout == "large" else (3, 5, 8, 9)
    features = 2e-3 * torch.randn(shape, generator=torch.Generator().manual_seed(0))
    features = features.to(dtype)
    if layout == "channels last":
        features = features.contiguous(memory_format=torch.channels_last)
    if layout == "strided":
        features = features[:, ::2].transpose(1, 3)
    limit = np.float64(1e-3) if dtype == torch.float64 else float(torch.tensor(1e-3, dtype=torch.float32))
    wide = features.double()
    before, after = int((wide.abs() <= limit).sum()), int((wide.relu() <= limit).sum())
    assert 0 < before < after < features.numel()
    assert sparse_entries(features) == (before, after)
