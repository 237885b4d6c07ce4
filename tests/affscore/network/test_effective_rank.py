import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore.network.criteria import effective_rank
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_of_one_direction_and_of_none(dtype):
    line = torch.linspace(-1, 1, 30, dtype=dtype)[:, None] * torch.tensor([1.0, -2.0, 0.5], dtype=dtype)
    assert effective_rank(line) == pytest.approx(1.0, rel=1e-6)
    assert math.isnan(effective_rank(torch.full((30, 3), 0.1, dtype=dtype)))
