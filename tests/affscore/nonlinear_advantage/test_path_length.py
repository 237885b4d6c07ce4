"""Average path lengths: closed forms, every path one by one, the rules of single operations, and refusals."""

import itertools
import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
import torchvision
from torch import nn

from affscore import AffscoreError
from affscore.nonlinear_advantage import average_path_length, slopes, to_prelu
from tests.affscore.linear_regions.architectures import Written
from tests.affscore.nonlinear_advantage.graphs import RandomGraph, all_paths


class Bent(torch.autograd.Function):
    """A function with a gradient of its own."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)


def both(model, example):
    return average_path_length(model, example), average_path_length(model, example, normalized=False)


def test_the_worked_example_of_figure_1():
    layers = [nn.Linear(1, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)]

    def forward(x, *layers):
        y = x
        for layer in layers[:-1]:
            y = F.relu(layer(y))
        return x + layers[-1](y)

    napl, apl = both(Written(forward, *layers), torch.zeros(1, 1))
    assert napl == 2.0
    assert apl == pytest.approx(1024 / 257, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_plain_network_has_the_sum_of_the_shares_of_its_units(seed):
    generator = torch.Generator().manual_seed(seed)
    widths = [3, 8, 5, 7, 4]
    layers = [part for a, b in itertools.pairwise(widths) for part in (nn.Linear(a, b), nn.ReLU())]
    net = to_prelu(nn.Sequential(*layers, nn.Linear(4, 2)))
    for unit in slopes(net).values():
        unit.weight.data[torch.rand(len(unit.weight), generator=generator) < 0.4] = 1.0
    share = sum(float((unit.weight != 1).double().mean()) for unit in slopes(net).values())
    assert 1 < share < 4
    assert both(net, torch.zeros(1, 3)) == pytest.approx((share, share), rel=1e-12)


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_residual_stacks(blocks):
    """N = (N + N + a) / 2 before, or that + a after the addition; paths by the binomial theorem, each block c wide."""

    def stack(after, x, *layers):
        for first, second in zip(layers[::2], layers[1::2], strict=True):
            x = after(x + second(torch.relu(first(x))))
        return x

    layers = [nn.Linear(3, 3) for _ in range(2 * blocks)]
    ways = 3 * 3  # from one channel to all through the block; the mean number of units is that of k of blocks
    expected = blocks * ways / (1 + ways)
    for after, lengths in ((torch.neg, (blocks / 2, expected)), (torch.relu, (1.5 * blocks, blocks + expected))):
        assert both(Written(partial(stack, after), *layers), torch.zeros(1, 3)) == pytest.approx(lengths, rel=1e-12)


@pytest.mark.slow
def test_every_path_of_fifty_random_graphs():
    checked, different, seed = 0, 0, 0
    while checked < 50:
        seed += 1
        graph = RandomGraph(seed)
        paths = all_paths(graph.outputs)
        if len(graph.activations) < 2 or paths is None:
            continue
        example = torch.zeros(graph.shape)
        net = to_prelu(graph, example)
        generator = torch.Generator().manual_seed(seed)
        units = slopes(net)
        assert list(units) == [("(root)", call) for call in range(len(graph.activations))]
        for unit, nodes in zip(units.values(), graph.activations, strict=True):
            linear = torch.rand(len(nodes), generator=generator) < 0.3
            unit.weight.data[linear] = 1.0
            for node, is_linear in zip(nodes, linear, strict=True):
                node.unit = int(not is_linear)
        paths = all_paths(graph.outputs)
        assert sum(probability for probability, _ in paths) == pytest.approx(1)
        napl = sum(probability * length for probability, length in paths)
        apl = sum(length for _, length in paths) / len(paths)
        assert both(net, example) == pytest.approx((napl, apl), rel=1e-9, abs=1e-12), seed
        checked, different = checked + 1, different + (abs(napl - apl) > 1e-6)
    assert different > 15


def test_log_counts_do_not_overflow():
    net = nn.Sequential(*[part for _ in range(300) for part in (nn.Linear(64, 64), nn.ReLU())])  # 64^300 paths
    assert both(net, torch.zeros(1, 64)) == pytest.approx((300, 300))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "napl"),
    [("vgg11", 10), ("resnet18", 13), ("resnet50", 33), ("densenet121", None), ("densenet201", None),
     ("googlenet", None), ("inception_v3", None), ("shufflenet_v2_x0_5", None), ("squeezenet1_1", 18), ("vit_b_16", 6),
     ("swin_t", 6),
     ("convnext_tiny", 9), ("regnet_y_400mf", 33), ("mobilenet_v3_small", None), ("efficientnet_b0", None)],
)  # fmt: skip
def test_networks_of_torchvision(name, napl):
    """A residual block adds half the units inside, and 1 for an activation after the sum."""
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    net = torchvision.models.get_model(name, weights=None, **options)
    example = torch.zeros(1, 3, *[224 if name == "vit_b_16" else 96] * 2)
    found, unweighted = both(net, example)
    assert math.isfinite(found)
    assert math.isfinite(unweighted)
    assert 0 < found <= unweighted
    if napl is not None:
        assert found == pytest.approx(napl, rel=1e-12)
    sloped = to_prelu(net, example)
    assert both(sloped, example) == pytest.approx((found, unweighted), rel=1e-12)
    for unit in slopes(sloped).values():
        unit.weight.data.fill_(1.0)
    rest = average_path_length(sloped, example)
    assert rest < found or not slopes(sloped)
    assert (rest == 0) == (name not in ("mobilenet_v3_small", "efficientnet_b0"))  # Hardswish and SiLU are left


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x, 0),
        (lambda x: F.leaky_relu(x, 1.0), 0),
        (lambda x: F.leaky_relu(x, 0.5), 1),
        (lambda x: F.prelu(x, torch.tensor([1.0, 0.5])), 0.5),
        (lambda x: x.clamp(min=0) + 1, 1),
        (lambda x: x * torch.sigmoid(x), 1),  # SiLU, written out
        (lambda x: x.sigmoid(), 1),
        (lambda x: x * F.hardsigmoid(x.relu().mean((2, 3), keepdim=True)), 0),
        (lambda x: x.relu() * x.log_softmax(1), 0.5),  # no weights: both are branches
        (lambda x: x.relu().softmax(1), 1),
        (lambda x: x * F.linear(x.sigmoid(), torch.ones(2, 2)), 0.5),  # a hidden sigmoid is no gate
        (lambda x: torch.cat([x, x.relu()], 1), 0.5),
        (lambda x: torch.stack([x, x.relu()]).sum(0), 0.5),
        (lambda x: x + x.relu() + x.tanh(), 0.75),  # binary, as it is written
        (lambda x: x.mean((2, 3), keepdim=True).relu().sigmoid() * x, 0),  # a gate
        (lambda x: x.mean((2, 3), keepdim=True).relu() * x, 0.5),  # both are branches
        (lambda x: F.glu(torch.cat([x, x.relu()], 1), 1), 0),
        (lambda x: F.pad(x.relu(), (1, 1), value=7.0), 1),
        (lambda x: F.interpolate(x.relu(), scale_factor=2, mode="bilinear"), 1),
        (lambda x: x.relu().chunk(2, 1)[0] - x.chunk(2, 1)[1], 0.5),
        (lambda x: torch.einsum("nchw,cd->ndhw", x.relu(), torch.ones(2, 3)), 1),
        (lambda x: torch.where(torch.ones(2, 2) > 0, x.relu(), 5.0).masked_fill(torch.zeros(2, 2) > 0, 9.0), 1),
        (lambda x: F.scaled_dot_product_attention(x.relu(), x.relu(), x), 0),
        (lambda x: (x.relu() @ x.mT).softmax(-1) @ x.relu(), 1),
        (lambda x: torch.einsum("ncij,ncjk->ncik", (x @ x.mT).softmax(-1), x.relu()), 1),
        (lambda x: torch.ones(2, 2) @ x.relu().mT, 1),
        (lambda x: torch.addcmul(torch.ones(1), torch.ones(2), x.relu()).mean(axis=1), 1),
        (lambda x: x + Bent.apply(x), 0.5),
        (lambda x: torch.ones(1, 1).type_as(x).expand_as(x) * x.relu() + torch.ones(2).to(x), 1),
        (lambda x: torch.addmm(x[0, 0], torch.ones(2, 2), x[0, 1].relu()), 0.5),
    ],
)  # fmt: skip
def test_single_operations(function, expected):
    assert average_path_length(Written(function), torch.randn(1, 2, 2, 2)) == pytest.approx(expected)


def test_in_place_and_assigned():
    def forward(x):
        y = x.clone()
        y[:, :1] = F.relu(x[:, :1])
        y += 1
        torch.relu_(y.mul_(2))
        out = torch.zeros(1, 4, 2, 2)
        out[:, 2:] = y
        return out

    assert average_path_length(Written(forward), torch.zeros(1, 2, 2, 2)) == 1.5


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.sum(1) + x[:, 0].relu(), 1 / 3),  # two channels are added up: two paths
        (lambda x: x.mean(1) + x[:, 0].relu(), 1 / 2),
    ],
)
def test_a_sum_has_more_paths_than_a_mean(function, expected):
    assert average_path_length(Written(function), torch.zeros(1, 2, 2, 2), False) == pytest.approx(expected)


def test_an_attention_layer_is_a_linear_branch_and_an_embedding_a_layer():
    def forward(x, attention, linear):
        y = linear(x).relu()
        return x + attention(y, y, y)[0]

    for first in (True, False):
        attention = nn.MultiheadAttention(4, 2, batch_first=first).eval()
        net = Written(forward, attention, nn.Linear(4, 4))
        napl, apl = both(net, torch.randn(2, 3, 4))
        assert napl == pytest.approx(0.5)
        assert apl == pytest.approx(4**3 / (4**3 + 1))  # three mixings of four channels, beside the skip
    net = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 4), nn.ReLU())
    assert both(net, torch.arange(6).view(2, 3)) == (1.0, pytest.approx(1.0))
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 3)
    assert average_path_length(encoder, torch.randn(2, 5, 8)) == pytest.approx(1.5)


def test_a_constant_class_token():
    def forward(x, linear, token):
        y = torch.cat([token.weight[None], linear(x).relu()], 1)
        return y + linear(y).relu()

    net = Written(forward, nn.Linear(4, 4), nn.Linear(4, 1))
    assert both(net, torch.zeros(1, 3, 4)) == pytest.approx((1.5, 1 + 4 / 5))


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda x: x.cumsum(1), "cumsum"),
        (lambda x: x * (x > 0.5), "gt"),
        (lambda x: torch.exp(x), "exp"),
        (lambda x: x / x.norm(), "norm"),
        (lambda x: x.sort(1)[0], "sort"),
        (lambda x: F.conv2d(x, x), "conv2d"),
        (lambda x: F.fold(F.unfold(x, 1), (2, 2), 1), "fold"),
        (lambda x: (x[:, :1].relu_(), x)[1], "through a view"),
    ],
)
def test_what_cannot_be_followed_is_named(function, named):
    with pytest.raises(AffscoreError, match=f"layer '.root.'.* has .*{named}"):
        average_path_length(Written(function), torch.randn(1, 1, 2, 2))


def test_what_runs_unseen_is_refused():
    scripted = torch.jit.trace(lambda x: torch.relu(x), torch.zeros(1, 2))
    for function, named in (
        (lambda x: x + scripted(x), "relu in TorchScript"),
        (lambda x: x + torch.from_numpy(x.numpy()), "numpy, by which features leave"),
    ):
        with pytest.raises(AffscoreError, match=named):
            average_path_length(Written(function), torch.randn(1, 2))


@pytest.mark.parametrize(
    ("net", "example", "message"),
    [
        (Written(lambda x: (x, x + 1)), torch.zeros(1, 2), "must end in one tensor"),
        (Written(torch.zeros_like), torch.zeros(1, 2), "no path"),
        (nn.Linear(2, 3), torch.zeros(1, 5), "the network fails"),
        (nn.Linear(2, 3), 3, "example_input must be"),
        (nn.Linear(2, 3), torch.zeros(0, 2), "holds no sample"),
        ("resnet18", torch.zeros(1, 2), "model must be"),
        (Written(torch.inference_mode()(lambda x: F.relu(x) + 1)), torch.zeros(2, 4), "has features of inference_mode"),
    ],
)
def test_refusals(net, example, message):
    with pytest.raises(AffscoreError, match=message):
        average_path_length(net, example)


def test_inference_mode_around_the_call_changes_nothing():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 2))
    expected = both(model, torch.randn(2, 4))
    with torch.inference_mode():
        assert both(model, torch.randn(2, 4)) == expected == (2.0, 2.0)
