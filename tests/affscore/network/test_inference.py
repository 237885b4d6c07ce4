"""``torch.inference_mode``, around a call or in the network, changes no number and leaves nothing behind."""

import pandas as pd
import pytest
import torch
from torch import nn

from affscore import signature, track
from tests.affscore.recorder import hard_networks as hard

INPUTS = torch.randn(32, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def attention():
    """Tokens of an image attend to each other."""

    def run(net, x):
        x = net.tokens(x.flatten(2).mT)
        x = x + net.attention(x, x, x, need_weights=False)[0]
        return x + net.ff(x)

    ff = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 8))
    return hard.Net(run, tokens=nn.Linear(3, 8), attention=nn.MultiheadAttention(8, 2, batch_first=True), ff=ff)


NETWORKS = {
    "attention": attention, "view": hard.InPlaceOnAView, "items": hard.ItemAssignment, "out": hard.IntoABuffer,
    "gates": hard.SqueezeAndExcite,
}  # fmt: skip


def built(build):
    torch.manual_seed(0)
    return build()


def rows(network, data, **options):
    result = signature(network, data, **{"n": 16, "progress": False, "device": "cpu", **options})
    return result.table.drop(columns="seconds", errors="ignore"), result.notes


def assert_same(found, expected):
    pd.testing.assert_frame_equal(found[0], expected[0])
    assert found[1] == expected[1]


@pytest.mark.parametrize("name", NETWORKS)
def test_around_the_call_and_where_weights_and_data_are_made(name):
    expected = rows(built(NETWORKS[name]), INPUTS)
    with torch.inference_mode():
        network, inputs = built(NETWORKS[name]), INPUTS.clone()
        around = rows(built(NETWORKS[name]), INPUTS)
    assert_same(around, expected)
    assert inputs.is_inference()
    assert_same(rows(network, inputs), expected)
    assert_same(rows(network, [*inputs]), (expected[0].assign(dataset="list"), expected[1]))


def test_a_training_goes_on_after_a_measurement_in_it():
    """Of a network that writes to a buffer and to an attribute when it runs, as a cache of keys and values does."""

    def caching(net, x):
        net.seen = torch.relu(net.layer(x))
        net.latest.copy_(net.seen[0])
        return net.seen

    model = hard.Net(caching, layer=nn.Linear(5, 4), latest=nn.Buffer(torch.zeros(4)))
    samples = torch.randn(32, 5)
    with torch.inference_mode():
        tracker = track(model, samples, every=1)
        assert tracker.step()
    model(samples).sum().backward()
    assert model.layer.weight.grad.isfinite().all()
