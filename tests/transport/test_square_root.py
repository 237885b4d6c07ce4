import importlib

import numpy as np
import pytest
import torch

from affscore.transport import affinity_score

square_root = importlib.import_module("affscore.transport.square_root")


def matrix(k, condition, seed=0):
    generator = torch.Generator().manual_seed(seed)
    rotation = torch.linalg.qr(torch.randn(k, k, dtype=torch.float64, generator=generator))[0]
    values = torch.logspace(0, -float(np.log10(condition)), k, dtype=torch.float64)
    return 7.0 * (rotation * values) @ rotation.T


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e9])
def test_products_alone_find_the_root(condition):
    given = matrix(40, condition)
    root, converged = square_root.newton_schulz(given)
    assert converged
    torch.testing.assert_close(root @ root, given, rtol=0, atol=1e-9)
    torch.testing.assert_close(root, square_root.square_root(given), rtol=0, atol=1e-9)


def test_a_batch_is_its_matrices():
    batch = torch.stack([matrix(12, 1e4, seed) for seed in range(3)])
    roots, converged = square_root.newton_schulz(batch)
    assert converged
    for root, given in zip(roots, batch, strict=True):
        torch.testing.assert_close(root, square_root.newton_schulz(given)[0], rtol=0, atol=1e-10)
    torch.testing.assert_close(square_root.square_root(batch), roots, rtol=0, atol=1e-10)


def test_what_is_not_positive_definite_does_not_converge():
    assert not square_root.newton_schulz(torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64)))[1]


def test_a_singular_matrix_has_a_root_by_eigenvectors():
    given = torch.diag(torch.tensor([4.0, 0.0], dtype=torch.float64))
    assert square_root.square_root(given).tolist() == [[2.0, 0.0], [0.0, 0.0]]


def test_the_score_by_products_is_the_score(monkeypatch):
    """What runs on a GPU, run here: the half of the map by two Newton-Schulz iterations."""
    affine_map = importlib.import_module("affscore.transport.affine_map")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 64)) @ np.diag(np.linspace(0.05, 2, 64))
    expected = affinity_score(x, np.maximum(x, 0)).raw

    def by_products(product):
        root, converged = square_root.newton_schulz(product)
        assert converged
        return root

    monkeypatch.setattr(affine_map, "quarter_root", lambda product: by_products(by_products(product)))
    assert affinity_score(x, np.maximum(x, 0)).raw == pytest.approx(expected, abs=1e-9)
