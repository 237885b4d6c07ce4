import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore.transport import decompositions as span
from affscore.transport.decompositions import joint_span
from tests.affscore.transport.clouds import generators


def centred(points):
    return torch.tensor(points - points.mean(axis=0), dtype=torch.float64)


def pair(n, d, seed=0):
    rng = np.random.default_rng([n, d, seed])
    x = rng.standard_normal((n, d))
    return centred(x), centred(np.maximum(x, 0) @ np.diag(rng.uniform(0.1, 1, d)))


def inner_products(*clouds):
    width = max(cloud.shape[1] for cloud in clouds)
    every = torch.cat([torch.nn.functional.pad(cloud, (0, width - cloud.shape[1])) for cloud in clouds])
    return every @ every.T


@given(st.integers(2, 12), st.integers(0, 30), generators())
def test_inner_products_within_and_between_the_clouds_are_kept(n, more, rng):
    d = 2 * n + more
    x, y = centred(rng.standard_normal((n, d))), centred(rng.standard_normal((n, d)) ** 3)
    expected = inner_products(x, y)
    coordinates = joint_span(x, y)
    torch.testing.assert_close(inner_products(*coordinates), expected, rtol=0, atol=1e-12 * float(expected.max()))
    assert [cloud.shape[1] for cloud in coordinates] == [n - 1, 2 * n - 2]


@pytest.mark.parametrize(("n", "d"), [(10, 19), (10, 3), (2, 1)])
def test_where_the_span_is_not_smaller_the_samples_stay(n, d):
    x, y = pair(n, d)
    assert [cloud is same for cloud, same in zip(joint_span(x, y), (x, y), strict=True)] == [True, True]


@pytest.mark.parametrize("how", ["affine", "the same", "duplicated samples", "rank one", "tiny differences"])
def test_samples_that_depend_on_each_other_are_left_to_householder(how, monkeypatch):
    x, y = pair(12, 60)
    if how == "affine":
        y = 2 * x
    elif how == "the same":
        y = x
    elif how == "duplicated samples":
        x = x - x.mean(0)
        x[1] = x[0]
        x -= x.mean(0)
    elif how == "rank one":
        x = x[:, :1] @ x[:1]
        x -= x.mean(0)
    else:
        y = x + 1e-9 * y
    asked = []
    householder = torch.linalg.qr
    monkeypatch.setattr(torch.linalg, "qr", lambda *args, **kwargs: asked.append(1) or householder(*args, **kwargs))
    found_x, found_y = joint_span(x, y)
    assert asked
    difference = torch.nn.functional.pad(found_x, (0, found_y.shape[1] - found_x.shape[1])) - found_y
    # n eps |x|, what Householder's factorisation may lose; inner products would give the square root of rounding
    lost = len(x) * torch.finfo(x.dtype).eps * float(torch.linalg.matrix_norm(x))
    assert lost < 1e-12
    torch.testing.assert_close(
        torch.linalg.vector_norm(difference, dim=1), torch.linalg.vector_norm(x - y, dim=1), rtol=1e-5, atol=lost
    )


def test_both_ways_agree(monkeypatch):
    x, y = pair(40, 200)
    fast = joint_span(x, y)
    monkeypatch.setattr(span, "_cholesky", lambda samples: None)
    slow = joint_span(x, y)
    torch.testing.assert_close(inner_products(*fast), inner_products(*slow), rtol=0, atol=1e-11)
