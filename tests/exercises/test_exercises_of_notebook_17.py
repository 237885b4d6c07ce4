"""Exercises of notebook 17: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import re

import numpy as np
import pytest
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)
from torch import nn

import affscore
from affscore.exercises import check, notebook_17
from affscore.nonlinear_advantage import freeze, slopes, to_prelu, train


class Of(nn.Module):
    """A network that is this function of its images, after a ReLU."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, images):
        return self.function(torch.relu(images.flatten(1)))


class InPlace(nn.Module):
    """The largest entry of an image, which is changed."""

    def forward(self, images):
        return torch.relu(images.add_(1)).amax(dim=(1, 2, 3))


class Attention(nn.Module):
    """Rows of an image that attend to each other, after a ReLU."""

    def forward(self, images):
        rows = torch.relu(images[:, 0])
        return torch.softmax(rows @ rows.mT, dim=-1) @ rows


def by_hand(inside, after):
    """NAPL as a mean over all ways through the blocks, one by one."""
    lengths = [sum(after)]
    for units in inside:
        lengths = [length + met for length in lengths for met in (0, units)]
    return np.mean(lengths)


def on_a_grid(power):
    """(omega, slope) by trying many of both."""
    omegas, alphas = np.linspace(0.3, 1.2, 901), np.linspace(0, 1, 1001)
    best = [alphas[np.argmin(alphas**2 / 2 + omega * (1 - alphas) ** power)] for omega in omegas]
    first = best.index(1.0)
    return omegas[first], best[first - 1]


def convolutional(*last):
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), *last)


RIGHT = {
    "17.1": [(7 / 8, 41 / 34), [0.88, 1.21], np.array([0.875, 1.206])],
    "17.2": [lambda inside, after: sum(inside) / 2 + sum(after), by_hand],
    "17.3": [on_a_grid(0.5), (0.544, 0.333), [0.54, 0.33], (np.sqrt(8 / 27), 1 / 3)],
    "17.4": [],  # below, since it takes a training
    "17.5": [
        convolutional(nn.MaxPool2d(2)), Of(lambda x: x * x), Of(nn.functional.normalize), Attention(),
        InPlace(),
        convolutional(nn.LayerNorm(6)).double().float(), Of(lambda x: x.softmax(dim=1)),
    ],
}  # fmt: skip
WRONG = {
    "17.1": [
        ((41 / 34, 7 / 8), "name first"), ((1.25, 1.25), "the long way"), ((1.5, 33 / 17), "slope is 1 is linear"),
        ((0.75, 0.5 + 0.5 * 16 / 17), "still bends"), ((0.84375, 0.5 + 0.6875 * 16 / 17), "as a whole"),
        ((0.625, 1.25 * 16 / 17), "before it"), ((0.875, 1.2494), "kernel"), ((0.875, 1.1), "How many paths lead"),
        ((0.875, 0.3), "NAPL is right"), ((0.9, 1.206), "APL is right"), ((0, 0), "Note for each channel"),
    ],
    "17.2": [
        (lambda inside, after: sum(inside) + sum(after), "without its skips"),
        (lambda inside, after: (sum(inside) + sum(after)) / 2, "Halved too much"),
        (lambda inside, after: sum(inside) + sum(after) / 2, "other way round"),
        (lambda inside, after: sum(after), "along the skips"), (lambda inside, after: sum(inside) / 2, "Which others"),
        (lambda inside, after: by_hand(inside, after) / len(inside), "mean over blocks"),
        (notebook_17._skips_are_empty, "leads back"), (lambda inside, after: 2.0, "on average"),
        (lambda inside, after: None, "returns nothing"), (lambda inside: 1.0, "raised TypeError"),
        (lambda inside, after: inside.append(1), "raised AttributeError"),
    ],
    "17.3": [
        ((0.333, 0.544), "name first"), ((1.0887, 0.333), "one half"), ((0.7698, 0.6667), "gradient descent"),
        ((1, 1), "the power 1"), ((0.544, 1), "after the jump"), ((0.544, 0.2), "Omega is right"),
        ((0.7, 0.333), "The slope is right"), ((0.5, 0), "cost the same"), ((0.1, 0.9), "Draw"),
    ],
    "17.4": [
        (nn.Linear(2, 2), "no slopes"), (nn.ReLU, "the class"), ("mini:resnet18", "got str"),
        (to_prelu(nn.Sequential(nn.Linear(2, 2), nn.ReLU())), "Its layers"),
    ],
    "17.5": [
        (convolutional(nn.AvgPool2d(2), nn.BatchNorm2d(4)), "and the network is affine"),
        (convolutional(nn.Sigmoid(), nn.Flatten(), nn.Linear(144, 2)), "neither ReLU"),
        (nn.Sequential(nn.Flatten(), nn.Linear(64, 2)), "no ReLU"), (nn.ReLU, "the class"),
        (Of(lambda x: (x, x)), "one tensor"), (Of(lambda x: [x]), "returns list"), (Of(lambda x: 0 * x), "constant"),
        (Of(lambda x: x + torch.rand(())), "different outputs"), (Of(lambda x: x / 0), "finite"),
        (nn.Sequential(nn.Linear(3, 3), nn.ReLU()), "the network fails"),
        (Of(lambda x: x.tolist()), "library cannot work"),
        (Of(lambda x: torch.from_numpy(x.numpy() ** 2)), "cannot be followed"),
    ],
}  # fmt: skip
GARBAGE = {
    "17.1": [0.875, (1, 2, 3), "NAPL"],
    "17.2": [1.5, [1.0]],
    "17.3": [0.5, (0.5, None)],
    "17.4": [{}, Of(lambda x: x)],
    "17.5": [nn.Identity(), nn.Sequential()],
}
SECRETS = {
    "17.1": [7 / 8, 41 / 34],
    "17.3": [0.5443, 0.3333],
    "17.5": ["pool", "softmax", "attention", "normalisation", "product"],
}


@pytest.fixture(scope="module")
def original():
    return affscore.load_model("mini:resnet18")


def with_slopes(network, share, value=1.0):
    """A network whose first channels of each activation, so many, have this slope."""
    made = to_prelu(network)
    for unit in slopes(made).values():
        unit.weight.data[: round(share * len(unit.weight))] = value
    return made


@pytest.mark.parametrize(
    ("share", "value", "hint"),
    [(0, 1, "232 of 232 .* What pulls"), (1, 1, "affine map"), (0.9, 1, "trained for other slopes"),
     (0.5, 1, "Pull the slopes"), (0.05, 0.001, "232 of 232"), (1, float("nan"), "232 of 232"), (1, 1e30, "Pull")],
)  # fmt: skip
def test_a_network_gets_its_numbers(original, share, value, hint):
    verdict = check("17.4", with_slopes(original, share, value))
    assert not verdict
    assert re.search(hint, verdict.message)


def test_slopes_near_one_must_be_one(original, monkeypatch):
    """With an accuracy that any network reaches, what is missing is that a channel whose slope is 0.995 is frozen."""
    monkeypatch.setattr(notebook_17, "LEAST_ACCURACY", 0.0)
    network = with_slopes(original, 1, 0.995)
    assert "232 slopes are near 1, but not 1" in check("17.4", network).message
    assert freeze(network) == 232
    assert check("17.4", network)


def test_only_the_numbers_of_a_network_count(original, monkeypatch):
    """A network that computes something else, or has other layers, is judged by its weights, or refused."""
    monkeypatch.setattr(notebook_17, "LEAST_ACCURACY", 0.0)
    network = with_slopes(original, 1)
    network.forward = lambda images: 1 / 0
    assert check("17.4", network)
    network.state_dict = lambda: {"head.weight": torch.zeros(3)}
    assert "Its layers" in check("17.4", network).message
    assert "Its layers" in check("17.4", to_prelu(affscore.load_model("mini:resnet34"))).message


@pytest.mark.slow
def test_slopes_that_are_pulled_make_most_channels_linear(original):
    """The solution of the page, and what the page says of three others."""
    picked = affscore.linearize(original, "digits", keep=0.2, progress=False).model
    assert "trained for other slopes" in check("17.4", picked).message
    images, labels = affscore.zoo.digits("train")
    prepare = affscore.zoo.card_of(original).preprocessing
    samples = torch.stack([prepare(image) for image in images]), labels

    def pulled(omega, epochs=8):
        made = to_prelu(original)
        train(made, *samples, epochs, lambda epoch: omega * (epoch < 5), slope_rate=0.05, progress=False)
        return check("17.4", made)

    assert pulled(0.005)
    assert "What pulls more slopes" in pulled(0.0, epochs=1).message
    linear = with_slopes(original, 1)
    freeze(linear)
    train(linear, *samples, 8, 0.0, progress=False)
    assert "affine map" in check("17.4", linear).message
