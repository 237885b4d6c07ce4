"""A batch depends on its number and its samples, and on nothing that went before."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from affscore import signature
from affscore.network.scoring import score_batch
from tests.affscore.recorder.hard_networks import Net


def pictures(count):
    return torch.randn(count, 3, 10, 10, generator=torch.Generator().manual_seed(1))


def noisy():
    """Draws random numbers at evaluation, as dropout does that was left on."""
    torch.manual_seed(0)
    return Net(lambda net, x: torch.relu((y := net.conv(x)) + 0.3 * torch.randn_like(y)), conv=nn.Conv2d(3, 5, 3))


@pytest.mark.parametrize("reduction", ["mean", "sample", "flatten"])
def test_the_first_batches_are_those_of_fewer_samples(reduction):
    options = {"n": 20, "reduction": reduction, "seed": 3, "batch_size": 16, "progress": False}
    whole = signature(noisy(), pictures(90), **options)
    assert any("the last 10 images were dropped" in note for note in whole.notes)
    assert whole.table["batch"].unique().tolist() == [0, 1, 2, 3]
    first = signature(noisy(), pictures(40), **options).table.drop(columns="seconds")
    assert whole.table[whole.table["batch"] < 2].drop(columns="seconds").equals(first)


def test_batches_of_the_same_samples_draw_other_random_numbers():
    found = signature(noisy(), pictures(20).repeat(2, 1, 1, 1), n=20, criteria=False, progress=False)
    assert len(set(found.table["score"])) == 2


def test_what_was_declared_and_never_ran_is_said():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    model.declared_activations = {"unused": nn.Tanh, "relu": nn.ReLU}
    notes = signature(model, pictures(20), n=10).notes
    assert any(note == "declared as an activation, but never run: unused" for note in notes)


def test_the_seed_fixes_what_the_data_draw():
    inputs = torch.randn(96, 5, generator=torch.Generator().manual_seed(3))
    network = nn.Sequential(nn.Linear(5, 6), nn.ReLU())
    loader = DataLoader(TensorDataset(inputs), batch_size=16, shuffle=True)
    found = []
    for _ in range(2):
        torch.rand(1)  # the caller's own random numbers are others
        found.append(signature(network, loader, n=64, criteria=False, seed=0))
    first, second = (result.metadata["fingerprint_data"] for result in found)
    assert first == second
    np.testing.assert_array_equal(found[0].scores, found[1].scores)


def test_samples_that_are_dropped_need_not_run_the_same_activations():
    def one_more_for_few(net, x):
        y = torch.relu(net.layer(x))
        return torch.tanh(y) if len(x) == 6 else y

    result = signature(
        Net(one_more_for_few, layer=nn.Linear(4, 4)), torch.randn(70, 4), n=32, batch_size=32, progress=False
    )
    assert len(result.scores) == 1
    assert any("the last 6 samples were dropped" in note for note in result.notes)


def test_a_batch_is_scored_before_the_next_one_goes_through_the_network(monkeypatch):
    seen, order = [], []

    def watching(net, x):
        order.append(len(seen))
        return torch.relu(x)

    def scored(*args):
        seen.append(1)
        return score_batch(*args)

    monkeypatch.setattr("affscore.network.signature.score_batch", scored)
    signature(Net(watching), pictures(40), n=10, device="cpu", batch_size=10)
    # the further passes of the first batch are the checks of the network
    assert order[order.index(1) :] == [1, 2, 3]
    assert set(order[: order.index(1)]) == {0}
    assert len(seen) == 4
