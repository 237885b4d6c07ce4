"""Scores of Gaussian channels and of networks of noise: closed forms, simulation, and the networks themselves."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import nn

from affscore import affinity_score
from affscore.errors import AffscoreError
from companion.predicted import gaussian_affinity, noise_network, predicted_beside_measured, predicted_scores
from companion.studies import load_study


def relu_moments(r):
    """Variance of a ReLU of N(r, 1), and its correlation with its input, in closed form."""
    first = r * norm.cdf(r) + norm.pdf(r)
    variance = (r * r + 1) * norm.cdf(r) + r * norm.pdf(r) - first**2
    return variance, norm.cdf(r) / math.sqrt(variance)


def test_the_closed_form_of_a_relu():
    for r in (-2.0, -0.5, 0.0, 1.0, 3.0):
        _, c = relu_moments(r)
        for s in (0.01, 1.0, 50.0):  # only the mean over the deviation counts
            assert gaussian_affinity(torch.relu, [r * s], [s]) == pytest.approx(1 - math.sqrt(1 - c), abs=2e-4)
    means, deviations = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 3.0, 0.5])
    v, c = np.transpose([relu_moments(r) for r in means / deviations])
    v = v * deviations**2
    wanted = 1 - math.sqrt((v * (1 - c)).sum() / v.sum())
    assert gaussian_affinity(torch.relu, means, deviations) == pytest.approx(wanted, abs=2e-4)


def test_far_from_the_bend_a_function_is_affine():
    assert gaussian_affinity(torch.relu, [10.0], [1.0]) == pytest.approx(1, abs=1e-5)
    assert gaussian_affinity(torch.nn.functional.relu6, [3.0], [0.1]) == pytest.approx(1, abs=1e-5)
    assert gaussian_affinity(torch.relu, [-20.0], [1.0]) == 1  # a constant is affine


@pytest.mark.parametrize("function", [nn.GELU(), nn.SiLU(), nn.Hardswish(), nn.ReLU6(), nn.Tanh()])
def test_the_score_of_many_gaussian_samples(function):
    means, deviations = torch.tensor([0.5, -0.3, 1.0, 2.0]), torch.tensor([1.0, 0.5, 2.0, 1.0])
    x = means + deviations * torch.randn(4000, 4, generator=torch.Generator().manual_seed(0))
    paired = affinity_score(x, function(x), "empirical", coupling="paired").value
    assert gaussian_affinity(function, means, deviations) == pytest.approx(paired, abs=0.02)


@pytest.mark.parametrize("bad", [([0.0], [0.0]), ([0.0], [-1.0]), ([0.0, 1.0], [1.0]), ([math.nan], [1.0])])
def test_what_is_no_gaussian_is_refused(bad):
    with pytest.raises(AffscoreError, match="deviations"):
        gaussian_affinity(torch.relu, *bad)


def test_a_norm_before_an_activation_is_all_that_counts():
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()).eval()
    network[1].weight.data, network[1].bias.data = torch.linspace(-2, 2, 8), torch.linspace(1, -1, 8)
    (predicted,) = predicted_scores(network)["predicted"]
    wanted = gaussian_affinity(torch.relu, network[1].bias.tolist(), network[1].weight.detach().abs().tolist())
    assert predicted == pytest.approx(wanted, abs=0.005)
    assert not network[1].training
    assert not network[0]._forward_hooks


@pytest.mark.parametrize(
    "layer", [nn.Conv2d(6, 4, 3), nn.Conv2d(6, 6, 3, groups=3), nn.Conv2d(6, 4, 1, bias=False), nn.Linear(6, 5)]
)
def test_noise_has_the_moments_of_the_layer(layer):
    shape = (60_000, 6) if isinstance(layer, nn.Linear) else (400, 6, 12, 12)
    x = torch.rand(shape, generator=torch.Generator().manual_seed(0)) ** 2  # independent, and not Gaussian
    with torch.no_grad():
        noise, real = (one(x).transpose(0, 1).flatten(1) for one in (noise_network(nn.Sequential(layer)), layer))
    assert noise.mean(1).numpy() == pytest.approx(real.mean(1).numpy(), abs=0.02)
    assert noise.std(1).numpy() == pytest.approx(real.std(1).numpy(), rel=0.02)
    assert abs(float(torch.corrcoef(torch.stack([noise[0], real[0]]))[0, 1])) < 0.02


def test_channels_on_the_last_axis_are_refused():
    with pytest.raises(AffscoreError, match="last axis"):
        noise_network(nn.Linear(4, 3))(torch.zeros(2, 5, 4))


def test_a_sum_of_rectified_gaussians_and_noise_grows_more_linear():
    """After k sums the input of a ReLU is k rectified terms and one of noise: its mean over its deviation grows."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32)

        def forward(self, x):
            return torch.relu(x + self.norm(self.conv(x)))

    scores = predicted_scores(nn.Sequential(*(Block() for _ in range(6))), (32, 16, 16))["predicted"]
    assert (scores.diff()[1:] > 0).all()
    generator = np.random.default_rng(0)
    x = generator.standard_normal((200_000, 2)) @ [1, 1]  # the input, noise too, and the first norm
    for score in scores[:3]:
        y = np.maximum(x, 0)
        assert score == pytest.approx(1 - math.sqrt(1 - np.corrcoef(x, y)[0, 1]), abs=0.01)
        x = y + generator.standard_normal(len(x))


def test_the_table_has_each_activation_once_and_those_of_the_study():
    table = predicted_beside_measured()
    assert not table.duplicated(["model", "stage", "layer", "call"]).any()
    assert table["predicted"].between(0, 1).all()
    trained = table[table["stage"] == "trained"]
    assert trained[["gaussian", "diagonal", "score", "score_of_means"]].notna().all(axis=None)
    study = load_study("untrained-cifar").drop_duplicates(["model", "layer", "call"])
    before = table[table["stage"].eq("untrained") & table["model"].isin(study["model"])]
    assert len(before.merge(study, on=["model", "layer", "call"])) == len(before) == len(study)
