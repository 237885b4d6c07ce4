import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf_shrinkage

from affscore.errors import AffscoreError
from affscore.transport import covariance, estimate
from tests.affscore.transport import textbook
from tests.affscore.transport.clouds import DEGENERATE, REGULAR, cloud, clouds, scales, varied

NAMES = ("ledoit-wolf", "empirical")

# Sums of n d products of numbers of size one: 1e-12 leaves a margin of a thousand units of rounding.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def centred(x):
    return torch.tensor(x - x.mean(axis=0))


@pytest.mark.parametrize("kind", [*REGULAR, *DEGENERATE])
@pytest.mark.parametrize(("n", "d"), [(60, 7), (12, 50), (20, 20), (40, 1), (2, 3)])
def test_the_intensity_is_that_of_scikit_learn(kind, n, d):
    x = varied(cloud(kind, n, d, np.random.default_rng(n + d)))
    assert estimate(centred(x), "ledoit-wolf").intensity == pytest.approx(ledoit_wolf_shrinkage(x), abs=1e-12)


@given(clouds(), st.sampled_from(NAMES))
def test_the_matrix_is_that_of_scikit_learn(x, name):
    np.testing.assert_allclose(covariance(x, name).numpy(), textbook.covariance(x, name), **CLOSE)


@pytest.mark.parametrize("x", [np.eye(8, 20), np.random.default_rng(4).standard_normal((40, 30))])
def test_what_looks_like_isotropic_noise_is_shrunk_to_a_multiple_of_the_identity(x):
    assert ledoit_wolf_shrinkage(x) == 1.0
    assert estimate(centred(x), "ledoit-wolf").intensity == 1.0
    np.testing.assert_allclose(covariance(x).numpy(), np.eye(x.shape[1]) * x.var(axis=0).mean(), **CLOSE)


@given(clouds(), scales(), st.sampled_from(NAMES), st.sampled_from([0.0, 1e-3]))
def test_the_covariance_scales_with_the_square_of_the_units(x, scale, name, ridge):
    expected = covariance(x, name, ridge).numpy() * scale**2
    np.testing.assert_allclose(
        covariance(scale * x, name, ridge).numpy(), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max()
    )


@pytest.mark.parametrize("ridge", [-1e-9, float("nan"), float("inf")])
def test_a_ridge_that_is_no_ridge_is_refused(ridge):
    with pytest.raises(AffscoreError, match=r"the ridge must be a number >= 0 \(relative to tr\(S\)/d\), got"):
        covariance([[0.0], [1.0]], ridge=ridge)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-100, 1e100, 1e150, 1e300])
def test_every_size_has_its_covariance_or_a_sentence(scale):
    x = centred(np.random.default_rng(0).standard_normal((30, 4)))
    if 1e-153 < scale < 1e153:
        np.testing.assert_allclose(covariance(scale * x) / scale / scale, covariance(x), rtol=1e-9)
    else:
        with pytest.raises(AffscoreError, match=f"too {'small' if scale < 1 else 'large'} for float64"):
            covariance(scale * x)
