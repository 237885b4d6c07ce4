import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore import signature
from affscore.network.criteria.effective_rank import effective_rank
from tests.affscore.transport.clouds import clouds, orthogonal, scales


def reference(y):
    values = np.linalg.eigvalsh(np.cov(np.asarray(y, dtype=float).T, ddof=0).reshape(np.shape(y)[1], -1))
    return values.sum() ** 2 / (values**2).sum()


@given(clouds())
def test_is_its_definition_and_in_its_range(y):
    found = effective_rank(y)
    assert found == pytest.approx(reference(y), rel=1e-9)
    assert 1.0 <= found <= min(len(y) - 1, y.shape[1])


@given(clouds(), scales(), st.data())
def test_does_not_see_rotations_scales_shifts_and_the_order_of_samples(y, scale, data):
    q = data.draw(orthogonal(y.shape[1]))
    order = data.draw(st.permutations(range(len(y))))
    assert effective_rank(scale * y[order] @ q + 3.0 * scale) == pytest.approx(effective_rank(y), rel=1e-9)


@pytest.mark.parametrize("d", [1, 3, 10])
def test_of_directions_that_vary_equally(d):
    corners = np.vstack([np.eye(d), -np.eye(d)])
    assert effective_rank(corners) == pytest.approx(d)
    assert effective_rank(np.hstack([corners, np.full((2 * d, 5), 7.0)])) == pytest.approx(d)  # the others are constant


def test_of_normal_samples():
    y = torch.randn(4000, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert effective_rank(y) == pytest.approx(20 / (1 + 20 / 4000), rel=0.01)
    assert effective_rank(y.T) == pytest.approx(19, rel=0.02)  # few samples: no more than n - 1 directions


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_of_one_direction_and_of_none(dtype):
    line = torch.linspace(-1, 1, 30, dtype=dtype)[:, None] * torch.tensor([1.0, -2.0, 0.5], dtype=dtype)
    assert effective_rank(line) == pytest.approx(1.0, rel=1e-6)
    assert math.isnan(effective_rank(torch.full((30, 3), 0.1, dtype=dtype)))


def test_is_measured_on_request_only():
    options = {"n": 64, "images": 64, "progress": False}
    assert "effective_rank" not in signature("mini:digitsnet", "digits", **options).table
    asked = signature("mini:digitsnet", "digits", criteria="effective_rank", **options).table
    assert asked["effective_rank"].between(1, np.minimum(asked["width"], 63)).all()
