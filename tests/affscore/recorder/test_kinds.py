"""What an activation is for: gates, gated units, places in blocks; from the structure of a network, not its name."""

from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.affscore.recorder.hard_networks import Net, conv
from tests.affscore.recorder.seen import seen_in
from tests.affscore.recorder.test_recorder import calls_without_numbers


def kinds_in(model, x):
    return [(call.activation, call.kind) for call in seen_in(model, x)[1].calls]


def block_counts(name):
    _, _, recorder = calls_without_numbers(name)
    return Counter(call.kind for call in recorder.calls)


# from the papers: how often each block of a network occurs, and what is in it
BLOCKS = {
    "resnet18": {"hidden": 1, "first": 8, "after-sum": 8},
    "resnet50": {"hidden": 1, "first": 16, "second": 16, "after-sum": 16},
    "densenet121": {"hidden": 5, "first": 58, "second": 58},  # stem, three transitions, head
    "squeezenet1_1": {"hidden": 2, "first": 8, "second": 16},  # squeeze; two that expand, side by side
    "vgg11": {"hidden": 10},
    "alexnet": {"hidden": 7},
    "vit_b_16": {"hidden": 12},
    "swin_t": {"hidden": 12},
    "convnext_tiny": {"hidden": 18},
    "mobilenet_v2": {"hidden": 2, "first": 17, "second": 16},  # the first block does not widen
    "efficientnet_b0": {"hidden": 2, "first": 16, "second": 15, "squeeze": 16, "gate": 16},
    "regnet_y_400mf": {"hidden": 1, "first": 16, "second": 16, "squeeze": 16, "gate": 16, "after-sum": 16},
    "shufflenet_v2_x0_5": {"hidden": 2, "first": 19, "second": 16},  # three of sixteen have two branches
}


@pytest.mark.parametrize(("name", "counts"), BLOCKS.items(), ids=BLOCKS)
@pytest.mark.slow
def test_places_in_the_blocks_of_known_networks(name, counts):
    assert block_counts(name) == counts


class Block(nn.Module):
    """Two activations and a shortcut, or none."""

    def __init__(self, shortcut=True):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU(), conv(4, 4), nn.SiLU(), conv(4, 4))
        self.shortcut = shortcut

    def forward(self, x):
        return x + self.body(x) if self.shortcut else self.body(x)


class Narrow(nn.Module):
    """One activation and a shortcut."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(4, 4), nn.GELU(), conv(4, 4))

    def forward(self, x):
        return x + self.body(x)


class Stage(nn.Module):
    """Four blocks: a class that occurs more than once, and no block."""

    def __init__(self, block):
        super().__init__()
        self.blocks = nn.Sequential(block(), block(), block(), block())

    def forward(self, x):
        return self.blocks(x)


def net(*parts):
    return nn.Sequential(conv(), *parts, conv(4, 4), nn.Tanh())


def test_a_block_is_the_innermost_module_with_a_shortcut(images):
    model = net(Stage(Block), Stage(Block))
    assert kinds_in(model, images) == [("relu", "first"), ("silu", "second")] * 8 + [("tanh", "hidden")]
    model = net(Stage(Narrow), Stage(Narrow))
    assert kinds_in(model, images) == [("gelu", "hidden")] * 8 + [("tanh", "hidden")]


def test_a_block_without_a_shortcut_is_a_module_that_occurs_more_than_once(images):
    twice, once = net(Block(False), Block(False)), net(Block(False))
    assert kinds_in(twice, images) == [("relu", "first"), ("silu", "second")] * 2 + [("tanh", "hidden")]
    assert kinds_in(once, images) == [("relu", "hidden"), ("silu", "hidden"), ("tanh", "hidden")]


@pytest.mark.parametrize("parts", [(Block(True), Block(False)), (Block(),) * 2], ids=["one shortcut", "runs twice"])
def test_one_block_with_a_shortcut_is_enough_and_begins_again_where_it_runs_twice(parts, images):
    assert kinds_in(net(*parts), images)[:4] == [("relu", "first"), ("silu", "second")] * 2


def test_branches_share_a_place(images):
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.short, self.long = conv(4, 4), nn.Sequential(conv(4, 4), nn.ReLU(), conv(4, 4), nn.ReLU())

        def forward(self, x):
            return torch.cat([self.long(x)[:, :2], torch.relu(self.short(x))[:, 2:]], 1)

    assert [kind for _, kind in kinds_in(net(Branches(), Branches()), images)] == [
        "first", "second", "first", "first", "second", "first", "hidden",
    ]  # fmt: skip


def test_a_module_with_many_activations_in_a_row_is_no_block(images):
    class Stage(nn.Module):
        def __init__(self):
            super().__init__()
            self.acts = nn.Sequential(*[nn.Tanh() for _ in range(7)])

        def forward(self, x):
            return self.acts(x)

    assert {kind for _, kind in kinds_in(net(Stage(), Stage()), images)} == {"hidden"}


@pytest.mark.parametrize("activation", ["silu", "gelu", "sigmoid", "relu"])
@pytest.mark.parametrize(
    "spelling", [torch.mul, lambda v, g: g * v, lambda v, g: g.mul_(v), lambda v, g: v * F.dropout(g, 0.1, False)]
)
def test_gated_units(activation, spelling):
    function = getattr(F, activation) if activation != "sigmoid" else torch.sigmoid

    def halves_meet_in_a_product(net, x):
        value, gate = net.both(x).chunk(2, -1)
        return spelling(value, function(gate))

    model, x = Net(halves_meet_in_a_product, both=nn.Linear(6, 10)), torch.randn(4, 7, 6)
    listener, recorder = seen_in(model, x)
    assert [(c.activation, c.kind, c.channel_axis) for c in recorder.calls] == [(activation, "gated-unit", 2)]
    assert torch.equal(listener.inputs[0], model.both(x)[..., 5:])


@pytest.mark.parametrize("axis", [1, -1])
def test_the_sigmoid_inside_a_gated_linear_unit(axis):
    model = nn.Sequential(nn.Linear(6, 10), nn.GLU(axis), nn.Linear(5 if axis == -1 else 10, 3), nn.Tanh())
    x = torch.randn(4, 8, 6)
    listener, recorder = seen_in(model, x)
    assert [(c.layer, c.activation, c.kind, c.depth) for c in recorder.calls] == [
        ("1", "sigmoid", "gated-unit", 1), ("3", "tanh", "hidden", 2),
    ]  # fmt: skip
    assert recorder.calls[0].channel_axis == 2
    gate = model[0](x).chunk(2, axis)[1]
    assert torch.equal(listener.inputs[0], gate)
    assert torch.equal(listener.outputs[0], torch.sigmoid(gate))


def test_of_two_activations_in_a_product_the_later_one_is_the_gate():
    wavenet = Net(lambda net, x: torch.tanh(x[..., :3]) * torch.sigmoid(x[..., 3:]))
    assert kinds_in(wavenet, torch.randn(4, 6)) == [("tanh", "hidden"), ("sigmoid", "gated-unit")]


def test_half_of_an_activation_is_no_gate():
    """As gMLP: the activation sees both halves, and one half is multiplied with what a layer makes of the other."""

    def spatial_gate(net, x):
        a, b = F.gelu(x).chunk(2, -1)
        return a * net.mix(b)

    assert kinds_in(Net(spatial_gate, mix=nn.Linear(5, 5)), torch.randn(4, 10)) == [("gelu", "hidden")]


GATES = {  # an image is scaled by the sigmoid of something smaller: channels (as a vector or not) or positions
    "channels": lambda y: torch.sigmoid(y.mean((2, 3), keepdim=True)),
    "channels, as a vector": lambda y: torch.sigmoid(y.mean((2, 3)))[:, :, None, None],
    "channels, expanded": lambda y: torch.sigmoid(y.mean((2, 3), keepdim=True)).expand_as(y),
    "positions": lambda y: torch.sigmoid(y.mean(1, keepdim=True)),
    "rows": lambda y: torch.sigmoid(y.mean(3, keepdim=True)),
}


@pytest.mark.parametrize("smaller", GATES.values(), ids=GATES)
def test_gates(smaller, images):
    scaled = Net(lambda net, x: (y := net.conv(x)) * smaller(y), conv=conv())
    assert kinds_in(scaled, images) == [("sigmoid", "gate")]


def test_an_outer_product_is_no_gate():
    """As state space models: every number of the activation meets every number of a state."""

    def states(net, x):
        a, b = x.chunk(2, -1)
        return (F.silu(a).unsqueeze(-1) * (a.unsqueeze(-1) * b.unsqueeze(-2))).sum(-1)

    assert kinds_in(Net(states), torch.randn(4, 5, 6)) == [("silu", "hidden")]
