import math

import numpy as np
import pytest
import torch
from torch import nn

from affscore import AffscoreError, signature
from affscore.network.nlc import nonlinearity_coefficient
from affscore.recorder.functions import ACTIVATIONS
from tests.affscore.recorder.hard_networks import module_class


@pytest.fixture
def x():
    return torch.randn(300, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [1, 2, 3, 4]
    )


def test_of_an_activation_in_closed_form(x):
    """For ReLU half of the variance is pushed on; the variance of relu(x) is (1/2 - 1/(2 pi)) of that of x."""
    many = torch.randn(200_000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    assert nonlinearity_coefficient(torch.relu, many) == pytest.approx(math.sqrt(0.5 / (0.5 - 0.5 / math.pi)), rel=0.02)


@pytest.mark.parametrize("function", sorted({f.__name__: f for f in ACTIVATIONS}.items()), ids=lambda one: one[0])
def test_of_every_activation_it_is_that_of_the_definition(x, function):
    more = {"prelu": (torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64),), "threshold": (0.1, 0.0)}
    name, f = function
    arguments = more.get(name.strip("_"), ())
    x = x[:40]
    z = x.clone().requires_grad_()
    y = f(z.clone(), *arguments)
    (slopes,) = torch.autograd.grad(y.sum(), z)
    squared = ((slopes**2).mean(0) * x.var(0, correction=0)).sum() / y.detach().var(0, correction=0).sum()
    assert nonlinearity_coefficient(lambda z: f(z, *arguments), x) == pytest.approx(float(squared) ** 0.5)


def test_a_function_that_is_not_elementwise_is_seen(x):
    for function in (lambda z: z.softmax(1), lambda z: z - z.mean(0), lambda z: z.flip(1), lambda z: z.cumsum(1)):
        assert math.isnan(nonlinearity_coefficient(function, x))


def test_a_constant_has_none(x):
    assert math.isnan(nonlinearity_coefficient(lambda z: 0 * z, x))
    assert math.isnan(nonlinearity_coefficient(torch.sigmoid, 1e-7 * x.float()))  # by rounding only
    assert math.isnan(nonlinearity_coefficient(torch.sigmoid, torch.ones_like(x)))


def test_one_sample_and_functions_without_derivative_are_refused(x):
    with pytest.raises(AffscoreError, match="n >= 2 and d >= 1, got"):
        nonlinearity_coefficient(torch.relu, x[:1])

    class Opaque(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            return z.clone()

    with pytest.raises(AffscoreError, match="has no derivative"):
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


def test_where_it_is_missing_a_note_says_so(x):
    # its parameters have the shape of feature maps, so that it takes no vectors of channels
    scale = torch.linspace(1, 2, 6, dtype=torch.float64)[:, None, None]
    Snake = module_class("Snake", lambda z: z + torch.sin(scale * z) ** 2)
    model = nn.Sequential(nn.Conv2d(1, 6, 1), Snake(), nn.Conv2d(6, 3, 1), nn.Tanh()).double()
    images = x.reshape(300, 1, 2, 2)
    found = signature(model, images, n=300, criteria=["nlc"], activations=[Snake], progress=False)
    assert np.isnan(found.table["nlc"][0])
    assert found.table["nlc"][1] > 1
    (note,) = [note for note in found.notes if "non-linearity coefficient" in note]
    assert note.startswith("1 of 2 activations")
