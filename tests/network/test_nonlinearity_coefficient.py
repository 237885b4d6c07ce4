import math

import numpy as np
import pytest
import torch
from torch import nn

from affscore import AffscoreError, signature
from affscore.network import nonlinearity_coefficient


@pytest.fixture
def x():
    return torch.randn(300, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [1, 2, 3, 4]
    )


def by_jacobians(function, x):
    """The first form of the definition, with every Jacobian written out."""
    covariance = torch.cov(x.T, correction=0)
    jacobians = torch.func.vmap(torch.func.jacrev(lambda one: function(one[None])[0]))(x)
    bent = torch.einsum("nij,jk,nik->n", jacobians, covariance, jacobians).mean()
    return math.sqrt(bent / torch.cov(function(x).T, correction=0).trace())


def test_is_one_for_an_affine_function(x):
    layer = nn.Linear(4, 3).double()
    assert nonlinearity_coefficient(layer, x) == pytest.approx(1.0, rel=1e-12)


def test_is_that_of_the_definition(x):
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    estimate = nonlinearity_coefficient(lambda z: network(z), x, directions=200)
    assert estimate == pytest.approx(by_jacobians(network, x), rel=0.02)
    assert estimate > 1


def test_of_an_activation_in_closed_form(x):
    """For ReLU half of the variance is pushed on; the variance of relu(x) is (1/2 - 1/(2 pi)) of that of x."""
    many = torch.randn(200_000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    assert nonlinearity_coefficient(torch.relu, many) == pytest.approx(math.sqrt(0.5 / (0.5 - 0.5 / math.pi)), rel=0.02)


def test_an_activation_in_place_does_not_overwrite(x):
    kept = x.clone()
    inplace = nonlinearity_coefficient(torch.relu_, x)
    assert torch.equal(x, kept)
    assert inplace == nonlinearity_coefficient(torch.relu, x)


def test_a_constant_has_none(x):
    assert math.isnan(nonlinearity_coefficient(lambda z: 0 * z, x))


def test_one_sample_and_functions_without_derivative_are_refused(x):
    with pytest.raises(AffscoreError, match="at least 2 samples, got 1"):
        nonlinearity_coefficient(torch.relu, x[:1])

    class Opaque(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            return z.clone()

    with pytest.raises(AffscoreError, match="no forward derivative"):
        nonlinearity_coefficient(Opaque.apply, x)


def test_as_a_criterion_of_a_signature(x):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 6), nn.ReLU(inplace=True), nn.Linear(6, 5), nn.PReLU(5), nn.Linear(5, 2)
    ).double()
    table = signature(model, x, n=300, criteria=["nlc", "cka_debiased"], progress=False).table
    first = model[0](x).detach()
    assert table["nlc"][0] == pytest.approx(nonlinearity_coefficient(torch.relu, first), rel=1e-12)
    assert (table["nlc"] > 1).all()
    assert np.isfinite(table["cka_debiased"]).all()
    assert "r2" not in table
