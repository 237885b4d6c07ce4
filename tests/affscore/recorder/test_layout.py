import pytest
import torch
import torch.nn.functional as F
import torchvision
from torch import nn

from affscore import signature
from affscore.recorder import kinds
from affscore.recorder.axes import channels_last
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import Origin
from affscore.recorder.layout import Layout
from tests.affscore.recorder.hard_networks import Net, module_class
from tests.affscore.recorder.seen import seen_in


def event(function, *data, args=None):
    return Event(function, data if args is None else args, {}, list(data), [Origin(0)] * len(data))


@pytest.mark.parametrize(
    ("function", "shape", "axis"),
    [
        (F.conv1d, (2, 5, 7), 1),
        (F.conv3d, (2, 5, 7, 7, 7), 1),
        (F.batch_norm, (2, 5, 7), 1),
        (F.group_norm, (2, 5, 7, 7), 1),
        (F.linear, (2, 7, 7, 5), 3),
        (F.layer_norm, (2, 7, 5), 2),
        (F.scaled_dot_product_attention, (2, 4, 7, 5), 3),
    ],
)
def test_operations_that_make_channels(function, shape, axis):
    layout, output = Layout(), torch.zeros(shape)
    layout.observe(event(function, torch.zeros(shape)), output)
    place = layout.place(output)
    assert (place.image_axis, place.channel_axis, place.axes, place.guessed) == (0, axis, (), False)


@pytest.mark.parametrize(
    ("shape", "axis", "guessed"),
    [
        ((2, 3), 1, False),
        ((2, 7, 3), 2, True),
        ((2, 3, 8, 8), 1, True),
        ((2, 3, 4, 4, 4), 1, True),
        ((2, 3, 1, 1), 1, False),
        ((2,), 1, False),
    ],
)
def test_what_is_assumed_of_an_unknown_tensor(shape, axis, guessed):
    place = Layout().place(torch.zeros(shape))
    assert (place.channel_axis, place.guessed) == (axis, guessed)


@pytest.mark.parametrize(
    ("module", "shape", "axis"),
    [
        (nn.Conv1d(7, 2, 1), (2, 7, 3), 1),
        (nn.ConvTranspose2d(3, 2, 1), (2, 3, 8, 8), 1),
        (nn.Linear(3, 2), (2, 7, 8, 3), 3),
        (nn.InstanceNorm1d(7), (2, 7, 3), 1),
        (nn.GroupNorm(1, 7), (2, 7, 3), 1),
        (nn.LayerNorm(3), (2, 7, 8, 3), 3),
        (nn.AdaptiveAvgPool1d(1), (2, 7, 3), 1),
        (nn.AvgPool2d(2), (2, 7, 3), None),  # an image without channels
        (nn.LayerNorm((8, 3)), (2, 7, 8, 3), None),
        (torchvision.models.convnext.LayerNorm2d(7), (2, 7, 8, 3), None),
        (nn.Identity(), (2, 7, 3), None),
    ],
)
def test_a_module_takes_its_channels_where_its_class_says(module, shape, axis):
    layout, x = Layout(), torch.zeros(shape)
    guess = layout.place(x)
    if (found := kinds.channel_axis(module)) is not None:
        layout.taken(x, found)
    assert layout.place(x) == guess if axis is None else layout.place(x).channel_axis == axis
    assert layout.place(x).guessed == (axis is None)
    known = torch.zeros(2, 5, 5)
    layout.observe(event(F.conv1d, torch.zeros(2, 3, 5)), known)
    layout.taken(known, -1)
    assert layout.place(known).channel_axis == 1


def test_a_linear_layer_that_takes_the_features_of_heads_leaves_the_heads_channels():
    layout, tokens = Layout(), torch.zeros(2, 7, 6)
    layout.observe(event(F.linear, torch.zeros(2, 7, 6)), tokens)
    layout.observe(event(torch.unflatten, tokens), heads := tokens.unflatten(2, (3, 2)))
    assert layout.place(heads, -1) == layout.place(heads)
    assert layout.place(heads).channels == 6
    assert layout.place(heads, 1).channels == 7


def test_a_sum_keeps_the_axis_of_what_is_known():
    layout = Layout()
    known, table = torch.zeros(2, 6, 6, 6), torch.zeros(6)
    layout.observe(event(F.linear, torch.zeros(2, 6, 6, 3)), known)
    for inputs in ([known, table], [table, known], [torch.zeros(2, 6, 6, 6), known]):
        output = known + table
        layout.observe(event(torch.add, *inputs), output)
        assert layout.place(output).channel_axis == 3


def test_a_norm_over_several_axes_makes_no_channels():
    layout, features = Layout(), torch.zeros(2, 3, 4, 5)
    layout.observe(event(F.conv2d, torch.zeros(2, 1, 4, 5)), features)
    for shape, axis in (((3, 4, 5), 1), ((5,), 3)):
        layout.observe(event(F.layer_norm, features, args=(features, shape)), output := features + 1)
        assert layout.place(output).channel_axis == axis


def test_a_single_image_is_everywhere():
    layout = Layout(1)
    scores = torch.zeros(2, 6, 6)  # heads of one image
    layout.observe(event(torch.Tensor.view, scores), apart := scores.view(1, 2, 6, 6))
    assert layout.place(apart).image_axis == 0


# Linear attention, with all the ways in which q, k and v are cut into heads. N = 5 sequences of T = 6 tokens.
N, T, HEADS, FEATURES = 5, 6, 2, 3


def apart(qkv, n):
    return [z.view(n, T, HEADS, FEATURES) for z in qkv.chunk(3, -1)]


HEAD_LAYOUTS = {
    "(N, heads, T, D)": lambda z, n: [q.transpose(1, 2) for q in apart(z, n)],
    "(N, heads, T, D), fused": lambda z, n: z.reshape(n, T, 3, HEADS, FEATURES).permute(2, 0, 3, 1, 4),
    "(N, T, heads, D)": lambda z, n: z.unflatten(-1, (3, HEADS, FEATURES)).unbind(2),
    "(N, T, heads, D) a copy": lambda z, n: z.transpose(0, 1).reshape(T, n, 3, HEADS, FEATURES).permute(2, 1, 0, 3, 4),
    "(N, heads, D, T)": lambda z, n: [q.transpose(1, 2).reshape(n, HEADS, FEATURES, T) for q in z.chunk(3, -1)],
    "(N heads, T, D)": lambda z, n: [q.transpose(1, 2).reshape(n * HEADS, T, FEATURES) for q in apart(z, n)],
    "(N heads, D, T)": lambda z, n: [q.permute(0, 2, 3, 1).flatten(0, 1) for q in apart(z, n)],
    "(heads, N, T, D)": lambda z, n: [q.movedim(2, 0) for q in apart(z, n)],
    "(heads N, T, D)": lambda z, n: [q.permute(2, 0, 1, 3).reshape(HEADS * n, T, FEATURES) for q in apart(z, n)],
    "(T, N heads, D)": lambda z, n: z.transpose(0, 1).reshape(T, n * HEADS, 3 * FEATURES).chunk(3, -1),
    "(N, T heads, D)": lambda z, n: [q.flatten(1, 2) for q in apart(z, n)],
    "an einsum": lambda z, n: [torch.einsum("nthd->nhtd", q) for q in apart(z, n)],
    "swapaxes and contiguous": lambda z, n: [q.swapaxes(1, 2).contiguous() for q in apart(z, n)],
}


def heads(how=lambda qkv, n: qkv.chunk(3, -1)):
    """What linear attention does to q and k."""

    def run(net, x):
        q, k, _ = how(net.qkv(x), len(x))
        return F.elu(q) + 1, torch.relu(k)

    torch.manual_seed(0)
    return Net(run, qkv=nn.Linear(8, 3 * HEADS * FEATURES))


@pytest.mark.parametrize("n", [N, 1])
@pytest.mark.parametrize("how", HEAD_LAYOUTS)
def test_heads_and_their_features_are_the_channels(how, n):
    """The rows are those of a tensor (N, tokens, heads x features), up to the order of the columns."""
    x = torch.randn(n, T, 8, generator=torch.Generator().manual_seed(1))
    fused = "T, N heads" in how  # there, head h has the columns h of q, k and v one behind the other
    with torch.no_grad():
        plain = heads().qkv(x)
        order = torch.arange(3 * HEADS * FEATURES).view(HEADS, 3, FEATURES).transpose(0, 1).flatten()
        inputs = (plain[..., order] if fused else plain).chunk(3, -1)
    listener, recorder = seen_in(heads(HEAD_LAYOUTS[how]), x)
    assert len(recorder.calls) == 2
    for call, features, expected in zip(recorder.calls, listener.inputs, inputs, strict=False):
        assert not call.guessed
        assert call.positions == T
        together = channels_last(features, call.axes)
        assert together.shape[0] == n
        assert together.shape[-1] == HEADS * FEATURES
        rows = together.flatten(1, -2)
        assert torch.equal(rows.sort(-1).values, expected.sort(-1).values)
        columns, wanted = (z.flatten(0, 1).T.tolist() for z in (rows, expected))
        assert sorted(columns) == sorted(wanted)


@pytest.mark.parametrize("reduction", ["mean", "sum", "flatten"])
def test_the_score_of_heads_is_that_of_channels(reduction):
    x = torch.randn(64, T, 8, generator=torch.Generator().manual_seed(1))
    options = {"n": 64, "reduction": reduction, "criteria": False, "progress": False}
    networks = heads(), heads(HEAD_LAYOUTS["(N heads, T, D)"])
    one, other = (signature(network, x, **options) for network in networks)
    assert one.summary["width"].tolist() == other.summary["width"].tolist()
    assert one.scores == pytest.approx(other.scores, abs=1e-6)


def test_a_linear_layer_of_each_head_keeps_the_heads():
    """Feature maps that are learned: W q of every head; while a layer over the tokens makes channels of them."""

    def run(net, x):
        y = net.first(x).view(-1, T, HEADS, FEATURES).transpose(1, 2)
        y = torch.relu(F.layer_norm(net.head(y), (4,)))  # (N, heads, T, 4)
        return torch.tanh(net.tokens(y.transpose(2, 3)))  # (N, heads, 4, 7)

    net = Net(run, first=nn.Linear(8, HEADS * FEATURES), head=nn.Linear(FEATURES, 4), tokens=nn.Linear(T, 7))
    _, recorder = seen_in(net, torch.randn(N, T, 8))
    first, second = recorder.calls
    assert [first.axes[axis][0].role for axis in range(4)] == ["image", "channel", "", "channel"]
    assert (second.axes, second.channel_axis, second.positions) == ((), 3, HEADS * 4)


def test_channels_in_groups_are_put_together_again():
    """As a channel shuffle does it, and with an activation in between."""

    def run(net, x):
        y = torch.relu(net.conv(x).unflatten(1, (2, 3)).transpose(1, 2))
        return torch.tanh(y.flatten(1, 2))

    listener, recorder = seen_in(Net(run, conv=nn.Conv2d(3, 6, 1)), torch.randn(4, 3, 5, 5))
    grouped, shuffled = recorder.calls
    assert channels_last(listener.inputs[0], grouped.axes).shape == (4, 5, 5, 6)
    assert (shuffled.axes, shuffled.channel_axis, shuffled.positions) == ((), 1, 25)


# nothing that runs says where the channels are
Bare = module_class("Bare", lambda x: torch.tanh(torch.relu(x)) + torch.sigmoid(x).square())


@pytest.mark.parametrize(("shape", "axis"), [((16, 6, 3), 2), ((16, 3, 4, 4), 1)])
def test_a_guess_is_noted(shape, axis):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    options, named = {"n": 16, "criteria": False, "progress": False}, str(shape).replace("16", "N")
    (note,) = (note for note in signature(Bare(), x, **options).notes if "guess" in note)
    assert note.startswith(f"the axis of the channels is a guess for relu of layer '(root)' (axis {axis} of {named})")
    linear = nn.Sequential(nn.Linear(shape[-1], 4), Bare())
    assert not any("guess" in note for note in signature(linear, x, **options).notes)
    assert not any("guess" in note for note in signature(Bare(), x, reduction="flatten", **options).notes)
    assert not any("guess" in note for note in signature(Bare(), x.flatten(1), **options).notes)


def test_the_only_channel_that_a_slice_leaves_is_a_channel():
    net = Net(lambda net, x: torch.relu(net.conv(x)[:, :1].permute(0, 2, 3, 1)), conv=nn.Conv2d(3, 6, 1))
    (call,) = seen_in(net, torch.randn(4, 3, 5, 5))[1].calls
    assert (call.channel_axis, call.channels) == (3, 1)


@pytest.mark.parametrize(("network", "shape", "declared", "width"), [
    (Net(lambda net, z: torch.relu(net.one(z)[..., None, None].expand(-1, -1, 4, 4).permute(0, 2, 3, 1)),
         one=nn.Linear(8, 4)), (8,), (), 4),
    (nn.Sequential(nn.MaxPool1d(2), nn.ReLU()), (6, 8), (), 6),
    (Net(lambda net, x: net.one(x) + torch.relu(x), one=nn.Conv1d(6, 6, 3, padding=1)), (6, 8), (), 6),
    (nn.Sequential(nn.Conv1d(6, 6, 3, padding=1)), (6, 8), [nn.Conv1d], 6),
    (nn.Sequential(nn.LayerNorm(6)), (4, 4, 6), [nn.LayerNorm], 6),
])  # fmt: skip
def test_the_width_is_the_number_of_channels_of_an_input_that_modules_know(network, shape, declared, width):
    images = torch.randn(16, *shape)
    found = signature(network, images, n=16, criteria=False, activations=declared, progress=False)
    assert found.table["width"].tolist() == [width]
    assert not any("is a guess" in note for note in found.notes)
