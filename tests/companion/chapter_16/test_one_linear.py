"""Decisions that change when one activation alone becomes linear."""

import torch
from torch import nn

from companion.chapter_16.measurements import decisions_changed


def network():
    """Logits 0 and max(x, 0) + max(x + 10, 0) - 9: on [-5, 5] the second unit is always on, the first decides."""
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 2))
    weights = ([[1.0]], [0.0], [[1.0]], [10.0], [[0.0], [1.0]], [0.0, -9.0])
    for part, numbers in zip(net.parameters(), weights, strict=True):
        part.data = torch.tensor(numbers)
    return net


INPUTS = torch.tensor([[-5.0], [-2.0], [-0.5], [1.0], [5.0]])


def test_only_the_activation_that_bends_the_data_is_missed():
    found = decisions_changed(network(), INPUTS)
    assert found["layer"].tolist() == ["1", "3"]
    # max(x, 0) + 10 - 9 is above 0 everywhere; without the first ReLU x + 1 is not at -5 and -2
    assert found["changed"].tolist() == [0.4, 0.0]


def test_the_network_stays_as_it_is():
    net = network().train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    decisions_changed(net, INPUTS)
    assert net.training
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
    assert isinstance(net[1], nn.ReLU)
