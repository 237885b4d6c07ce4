import importlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from affscore.transport import affinity_score

square_root = importlib.import_module("affscore.transport.decompositions")


@settings(deadline=None)
@given(st.lists(st.floats(2, 14), min_size=1, max_size=3), st.integers(1, 8), st.integers(0, 2**16))
def test_spectra_with_gaps_have_the_right_root_or_none(exponents, each, seed):
    """Levels of eigenvalues, 1e-2 to 1e-14 apart from the largest: what rounding of the matrix allows, and no more."""
    levels = torch.tensor([1.0, *(10.0**-exponent for exponent in exponents)], dtype=torch.float64)
    values = levels.repeat_interleave(each)
    k, smallest = len(values), float(levels.min())
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.linalg.qr(torch.randn(k, k, dtype=torch.float64, generator=generator))[0]
    root, converged = square_root.newton_schulz((vectors * values) @ vectors.T)
    expected = (vectors * values.sqrt()) @ vectors.T
    assert converged or smallest < 1e-12
    if converged:
        assert float((root - expected).abs().max()) < 50 * k * 2.0**-52 / smallest**0.5


def test_what_is_not_positive_definite_does_not_converge():
    assert not square_root.newton_schulz(torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64)))[1]


@pytest.fixture
def by_products(monkeypatch):
    """What runs on a GPU, run here: the half of the map by two Newton-Schulz iterations."""
    affine_map = importlib.import_module("affscore.transport.affine_maps")

    def root_of(product):
        root, converged = square_root.newton_schulz(product)
        assert converged
        return root

    return lambda: monkeypatch.setattr(affine_map, "quarter_root", lambda product: root_of(root_of(product)))


def test_the_score_by_products_is_the_score(by_products):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 64)) @ np.diag(np.linspace(0.05, 2, 64))
    expected = affinity_score(x, np.maximum(x, 0)).raw
    by_products()
    assert affinity_score(x, np.maximum(x, 0)).raw == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", [(64, 40), (64, 200)])
def test_where_divide_and_conquer_does_not_converge_the_score_is_the_same(monkeypatch, shape):
    x = torch.randn(shape[0], 5, generator=torch.Generator().manual_seed(0)) @ torch.ones(5, shape[1]).cumsum(1)
    pairs = [(x, x.relu(), covariance) for covariance in ("empirical", "ledoit-wolf")]
    expected = [affinity_score(x, y, covariance).value for x, y, covariance in pairs]

    def fails(matrix):
        raise torch.linalg.LinAlgError("failed to converge")

    monkeypatch.setattr(torch.linalg, "eigh", fails)
    assert [affinity_score(x, y, covariance).value for x, y, covariance in pairs] == pytest.approx(expected, abs=1e-9)
