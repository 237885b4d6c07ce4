"""The score under the best affine map: closed forms, what changes nothing, few samples, and a slow reference."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore import affinity_score
from affscore.network.criteria import affine_fit

NOTHING = 1 - math.sqrt(1 / 2)


def cloud(n, d, seed=0):
    return torch.randn(n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("before", "after"), [(5, 5), (5, 3), (3, 5), (1, 4), (40, 40)])
def test_every_affine_map_has_1_whatever_its_matrix_and_widths(before, after):
    x = cloud(100, before)
    assert affine_fit(x, x @ cloud(before, after, seed=1) + 3.0) == pytest.approx(1.0, abs=1e-7)


def test_a_rotation_is_where_the_affinity_score_is_far_from_1():
    x = cloud(512, 64)
    turned = x @ torch.linalg.qr(cloud(64, 64, seed=1)).Q
    assert affine_fit(x, turned) == pytest.approx(1.0, abs=1e-7)
    assert affinity_score(x, turned).value < 0.3
    assert affinity_score(x, turned).paired < 0.05


@pytest.mark.parametrize("d", [1, 10, 150])
def test_what_x_says_nothing_of_has_one_minus_the_root_of_a_half_at_any_width(d):
    found = [affine_fit(cloud(200, d, seed), cloud(200, 8, 1000 + seed)) for seed in range(20)]
    assert np.mean(found) == pytest.approx(NOTHING, abs=0.02)


def reference(x, y):
    """By the residuals of NumPy's least squares."""
    x, y = np.asarray(x), np.asarray(y)
    design = np.column_stack([np.ones(len(x)), x])
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    left, total = ((y - design @ solution) ** 2).sum() / (len(x) - rank), ((y - y.mean(0)) ** 2).sum() / (len(x) - 1)
    return max(1 - math.sqrt(left / total / 2), 0)


@given(st.integers(0, 10**6), st.integers(4, 60), st.integers(1, 20), st.integers(1, 6))
def test_it_is_that_of_the_residuals(seed, n, d, e):
    x = cloud(n, d, seed)
    y = x @ cloud(d, e, seed + 1) + (x @ cloud(d, e, seed + 2)).relu()
    if n <= d + 1:
        assert math.isnan(affine_fit(x, y))
    else:
        assert affine_fit(x, y) == pytest.approx(reference(x, y), abs=1e-6)


@given(st.integers(0, 10**6))
def test_units_of_the_output_and_affine_maps_of_the_input_change_nothing(seed):
    x = cloud(50, 4, seed)
    y = (x @ cloud(4, 3, seed + 1)).relu()
    expected = affine_fit(x, y)
    assert affine_fit(x @ cloud(4, 4, seed + 2) + 5, 1e3 * y - 7) == pytest.approx(expected, abs=1e-6)
    assert affine_fit(x, y @ torch.linalg.qr(cloud(3, 3, seed)).Q) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_it_is_at_least_the_paired_score_but_for_the_degrees_of_freedom(seed):
    x = cloud(400, 3, seed)
    y = (x @ cloud(3, 3, seed + 1)).relu()
    assert affine_fit(x, y) >= affinity_score(x, y, "empirical").paired - 0.01


def test_a_constant_output_and_a_constant_input():
    x = cloud(20, 3)
    assert math.isnan(affine_fit(x, torch.ones(20, 2)))
    assert affine_fit(torch.ones(20, 2), x) == pytest.approx(NOTHING, abs=1e-12)
