"""Complex numbers in a network: no imaginary part is dropped without a word."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore import AffscoreError, affinity_score, signature

X = torch.randn(32, 6, generator=torch.Generator().manual_seed(0))
QUIET = {"n": 32, "criteria": False, "progress": False, "device": "cpu"}


class Waves(nn.Module):
    """From real numbers to real ones, with complex features between."""

    def __init__(self, function, width=6):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, width, dtype=torch.cfloat) * 0.3)
        self.function = function

    def forward(self, x):
        return self.function(torch.fft.fft(x) @ self.weight).abs()


def in_parts(z):
    return torch.complex(F.relu(z.real), F.relu(z.imag))


def of_the_magnitude(z):
    return F.relu(z.abs() - 0.5) * z / z.abs()


COMPLEX = {"function": torch.tanh, "module": nn.Sigmoid(), "silu": F.silu, "in place": torch.Tensor.tanh_}
OPTIONS = [
    *({"reduction": name} for name in ("mean", "sum", "flatten", "sample", "positions", "published")),
    *({"order": "reduce-first"}, {"units": "blocks"}, {"criteria": "all"}),
]  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_an_activation_of_complex_features_is_refused(name, options):
    network = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), Waves(COMPLEX[name]))
    with pytest.raises(AffscoreError, match=r"of layer '2.*complex numbers have no score; declare"):
        signature(network, X, **QUIET | options)


def test_the_way_out():
    """A module around it has a score, of the real numbers that it takes and gives."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 6), Waves(torch.tanh))
    found = signature(network, X, **QUIET, activations=[Waves])
    with torch.no_grad():
        seen, given = network[0](X), network(X)
    assert found.scores.tolist() == [pytest.approx(affinity_score(seen, given).value, abs=1e-6)]


@pytest.mark.parametrize(("function", "expected"), [(in_parts, ["relu", "relu"]), (of_the_magnitude, ["relu"])])
def test_activations_of_real_parts_of_complex_features_are_scored(function, expected):
    torch.manual_seed(0)
    network = Waves(function)
    found = signature(network, X, **QUIET)
    assert found.summary["activation"].tolist() == expected
    with torch.no_grad():
        z = torch.fft.fft(X) @ network.weight
    seen = z.real if len(expected) == 2 else z.abs() - 0.5
    assert found.scores[0] == pytest.approx(affinity_score(seen, seen.relu()).value, abs=1e-6)
