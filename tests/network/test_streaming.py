import pytest
import torch
from torch import nn

from affscore.network import collect
from affscore.network.collect import Collector
from affscore.network.recorder import recording
from affscore.network.reduction import reduce
from affscore.network.streaming import BLOCK, reduce_around

LARGE = (12, 24, 80, 80)
assert 4 * torch.Size(LARGE).numel() > 4 * BLOCK


def feature_map(shape=LARGE, dtype=torch.float32):
    return 4 * torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [LARGE, (1, 3, 2), (5, 7, 1, 1), (2, 3, BLOCK), (3, 5, 37, 41), (4, 2, 9, 8, 7)])
@pytest.mark.parametrize("activate", [torch.relu_, nn.ReLU6(inplace=True), nn.SiLU(inplace=True)])
def test_both_reductions_and_the_activation(activate, shape, dtype, reduction):
    features = feature_map(shape, dtype)
    output = activate(features.clone())
    wanted = [reduce(x.double(), shape[0], 1, reduction) for x in (features, output)]
    sparse = tuple(int((x.abs() <= 1e-3).sum()) for x in (features, output))
    relu = not isinstance(activate, nn.SiLU)
    *found, counted = reduce_around(features, reduction, activate, sparse=True, relu=relu)
    assert counted == sparse
    torch.testing.assert_close(features, output, rtol=0 if relu else 1e-6, atol=0)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5 if reduction == "mean" else 1e-1)


class Net(nn.Module):
    """Whatever runs between two identities: only its activation is seen."""

    def __init__(self, activation, prepare=lambda x: x):
        super().__init__()
        self.activation, self.prepare = activation, prepare

    def forward(self, x):
        return self.activation(self.prepare(x + 0)) * 2


def run(network, images, reduction, order, grad=False, autocast=False):
    collector = Collector(reduction, order, sparsity=True, seed=0)
    with (
        torch.set_grad_enabled(grad),
        torch.autocast("cpu", enabled=autocast),
        recording(network, collector) as recorder,
    ):
        for chunk in images.split(12):
            collector.start(len(chunk))
            recorder.start(chunk)
            output = network(chunk)
    (pair,) = collector.take()
    return pair, output


@pytest.mark.parametrize(
    ("network", "options", "streamed"),
    [
        (Net(nn.ReLU(inplace=True)), {}, True),
        (Net(nn.ReLU(inplace=True)), {"reduction": "sum"}, True),
        (Net(nn.ReLU6(inplace=True)), {}, True),
        (Net(torch.relu_), {}, True),
        (Net(lambda x: x.clamp_(min=0)), {}, True),
        (Net(lambda x: x.clamp_(0, 6)), {}, True),
        (Net(nn.ReLU(inplace=True), lambda x: x.double()), {}, True),
        (Net(nn.ReLU(inplace=True)), {"reduction": "flatten"}, False),
        (Net(nn.ReLU(inplace=True)), {"reduction": "sample"}, False),
        (Net(nn.ReLU(inplace=True)), {"order": "reduce-first"}, False),
        (Net(nn.ReLU(inplace=True)), {"grad": True}, False),
        (Net(nn.ReLU(inplace=True)), {"autocast": True}, False),
        (Net(nn.ReLU()), {}, False),
        (Net(nn.SiLU(inplace=True)), {}, True),
        (Net(nn.ELU(inplace=True)), {}, True),
        (Net(torch.sigmoid_), {"reduction": "sum"}, True),
        (Net(nn.SiLU()), {}, False),
        (Net(nn.RReLU(inplace=True).eval()), {}, False),
        (Net(nn.ReLU(inplace=True), lambda x: x.bfloat16()), {}, False),
        (Net(nn.ReLU(inplace=True), lambda x: x[..., :78]), {}, False),
        (Net(nn.ReLU(inplace=True), lambda x: x.contiguous(memory_format=torch.channels_last)), {}, False),
    ],
)
def test_what_is_streamed_and_that_nothing_changes(network, options, streamed, monkeypatch):
    options = {"reduction": "mean", "order": "activate-first"} | options
    images = feature_map((24, *LARGE[1:]))
    calls = []
    monkeypatch.setattr(collect, "reduce_around", lambda *args: calls.append(args) or reduce_around(*args))
    found, output = run(network, images, **options)
    assert len(calls) == (2 if streamed else 0)
    monkeypatch.setattr(collect, "can_stream", lambda *args: False)
    calls.clear()
    wanted, expected = run(network, images, **options)
    assert not calls
    torch.testing.assert_close(output, expected, rtol=1e-6, atol=0)
    assert found.sparse == wanted.sparse
    tolerance = {"rtol": 1e-5, "atol": 1e-5 if options["reduction"] == "mean" else 1e-1}
    torch.testing.assert_close(found.x, wanted.x, **tolerance)
    torch.testing.assert_close(found.y, wanted.y, **tolerance)


def test_only_a_listener_that_says_true_has_run_the_activation():
    class Careless:
        def before(self, call, x, apply):
            return call.layer

        def after(self, call, y): ...

    x = torch.tensor([[-1.0, 2.0]])
    for network in (nn.Sequential(nn.ReLU(inplace=True)), nn.Sequential(nn.ReLU())):
        with torch.no_grad(), recording(network, Careless()) as recorder:
            recorder.start(x)
            assert network(x.clone()).tolist() == [[0.0, 2.0]]
