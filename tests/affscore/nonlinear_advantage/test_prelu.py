"""Surgery: the same function, a slope for each channel of each call, and the way back."""

import copy
import inspect
import io
import pickle
import re
import threading
import warnings

import pytest
import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torch.utils.checkpoint import checkpoint

import affscore
from affscore import AffscoreError, AffscoreWarning
from affscore.models import Preprocessing
from affscore.nonlinear_advantage import ChannelGELU, ChannelPReLU, slopes, to_prelu, without_slopes
from tests.affscore.linear_regions.architectures import Written, normalised

# torchvision's networks, how many slopes each has, and the side of the images
NETWORKS = {
    "alexnet": (9344, 96), "vgg11_bn": (10944, 64), "resnet18": (3904, 64), "resnet50": (22720, 64),
    "wide_resnet50_2": (30272, 64), "resnext50_32x4d": (30272, 64), "densenet121": (41824, 64),
    "densenet201": (114528, 64),
    "googlenet": (7280, 64), "inception_v3": (17216, 96), "squeezenet1_1": (3944, 64), "shufflenet_v2_x0_5": (2944, 64),
    "regnet_y_400mf": (13736, 64), "mobilenet_v2": (0, 64), "mobilenet_v3_small": (928, 64), "mnasnet0_5": (9424, 64),
    "vit_b_16": (12 * 3072, 224), "convnext_tiny": (26496, 64), "swin_t": (17664, 64), "swin_v2_t": (17664, 64),
    "maxvit_t": (43072, 224),
}  # fmt: skip


def same(one, other, x, tolerance=1e-5):
    with torch.no_grad():
        expected, found = one(x), other(x)
    scale = float(expected.abs().max())
    assert scale > 0
    assert float((expected - found).abs().max()) <= tolerance * scale
    return expected


def set_slopes(model, value):
    for unit in slopes(model).values():
        unit.weight.data.fill_(value)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_torchvision_compute_the_same(name):
    torch.manual_seed(0)
    number, side = NETWORKS[name]
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    net = normalised(torchvision.models.get_model(name, weights=None, **options))
    for part, weights in net.named_parameters():  # heads of zeros, and branches that begin near zero
        if part.endswith("layer_scale") or not weights.any():
            nn.init.normal_(weights, std=1.0 if part.endswith("layer_scale") else 0.01)
    x = torch.randn(2, 3, side, side)
    sloped = to_prelu(net, x)
    expected = same(net, sloped, x)
    same(net, without_slopes(sloped), x)
    assert sum(unit.num_parameters for unit in slopes(sloped).values()) == number
    assert set(net.state_dict()) <= set(sloped.state_dict())
    if number:
        assert not torch.allclose(set_slopes(sloped, 0.5)(x), expected, rtol=1e-3)


def test_the_two_calls_of_one_module_have_slopes_of_their_own():
    net = normalised(torchvision.models.resnet18())
    sloped = to_prelu(net, torch.zeros(1, 3, 32, 32))
    found = slopes(sloped)
    assert list(found)[:4] == [("relu", 0), ("layer1.0.relu", 0), ("layer1.0.relu", 1), ("layer1.1.relu", 0)]
    assert [unit.num_parameters for unit in found.values()] == [64] * 5 + [128] * 4 + [256] * 4 + [512] * 4
    x = torch.randn(2, 3, 32, 32)
    outputs = []
    for call in (0, 1):
        unit = found["layer3.0.relu", call]
        unit.weight.data.fill_(0.7)
        outputs.append(sloped(x))
        unit.weight.data.fill_(0.0)
    assert not torch.allclose(outputs[0], outputs[1])


def test_a_replica_bends_by_its_own_slopes():
    act, x = nn.ReLU(), torch.randn(5, 4)
    sloped = to_prelu(nn.Sequential(act, nn.Linear(4, 4), act), x)
    replica, units, expected = copy.copy(sloped), copy.copy(sloped[0]), sloped(x)  # hooks stay those of the original
    units._modules = {name: copy.deepcopy(unit) for name, unit in sloped[0]._modules.items()}
    replica._modules = {"0": set_slopes(units, 0.5), "1": sloped[1], "2": units}
    assert not torch.allclose(replica(x), expected)
    assert torch.equal(sloped(x), expected)


class LeakyBlocks(nn.Module):
    """Functions and modules, in place and not, one behind the other; with a slope below zero."""

    def __init__(self, slope, kind):
        super().__init__()
        self.slope, self.kind = slope, kind
        self.first, self.second, self.third = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 6, 1)
        in_place = kind == "in place"
        self.act = nn.LeakyReLU(slope, in_place) if slope else nn.ReLU(in_place)

    def bent(self, x):
        if self.kind in ("module", "in place"):
            return self.act(x)
        if self.slope:
            return F.leaky_relu_(x, self.slope) if self.kind == "function in place" else F.leaky_relu(x, self.slope)
        if self.kind == "function in place":
            return F.relu(x, inplace=True) if x.shape[1] == 4 else x.relu_()
        return x.clamp(min=0) if self.kind == "clamp" else torch.relu(input=x)

    def forward(self, x):
        x = self.first(x)
        skip = self.bent(x)
        x = x + self.second(skip)  # where the first was in place, x is what it returned
        return self.bent(self.third(self.bent(x))).mean((2, 3))


@pytest.mark.parametrize("kind", ["module", "in place", "function", "function in place", "clamp"])
def test_any_slope_is_that_of_leaky_relu(kind):
    torch.manual_seed(1)
    net = LeakyBlocks(0, kind)
    leaky = LeakyBlocks(0.3, kind)
    leaky.load_state_dict(net.state_dict())
    x = torch.randn(3, 2, 5, 5)
    sloped = to_prelu(net, x)
    same(net, sloped, x, 1e-6)
    same(leaky, set_slopes(sloped, 0.3), x, 1e-6)
    assert [unit.num_parameters for unit in slopes(sloped).values()] == [4, 4, 6]
    same(net, without_slopes(sloped), x, 0)
    assert type(without_slopes(sloped)) is LeakyBlocks
    sloped(x).sum().backward()
    leaky(x).sum().backward()
    torch.testing.assert_close(sloped.first.weight.grad, leaky.first.weight.grad)
    assert all(unit.weight.grad.abs().sum() > 0 for unit in slopes(sloped).values())


class Functional(nn.Module):
    """A block that calls a function, with a part that calls it, too."""

    def __init__(self, function, inner=None):
        super().__init__()
        self.function, self.inner, self.linear = function, inner, nn.Linear(4, 4)

    def forward(self, x):
        x = self.function(self.linear(x))
        return x + (self.inner(x) + self.function(-x) if self.inner is not None else 0)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_as_a_function_and_as_a_module(approximate):
    def function(x):
        return F.gelu(x, approximate=approximate)

    torch.manual_seed(2)
    inner = nn.Sequential(nn.Linear(4, 6), nn.GELU(approximate), nn.Linear(6, 4), Functional(function))
    net, x = Functional(function, inner), torch.randn(5, 3, 4)
    sloped = to_prelu(net, x)
    assert list(slopes(sloped)) == [("inner.1", 0), ("inner.3", 0), ("(root)", 0), ("(root)", 1)]
    assert all(isinstance(unit, ChannelGELU) for unit in slopes(sloped).values())
    same(net, sloped, x, 1e-7)
    half = set_slopes(copy.deepcopy(sloped), 0.25)
    y = torch.randn(5, 6)
    torch.testing.assert_close(half.inner[1](y), 0.75 * function(y) + 0.25 * y)
    linear = set_slopes(sloped, 1.0)
    torch.testing.assert_close(linear(x) + linear(-x), 2 * linear(0 * x), atol=1e-5, rtol=1e-5)


def test_copies_files_and_state():
    net = nn.Sequential(Functional(F.relu, Functional(torch.relu)), nn.ReLU(), nn.Linear(4, 2))
    x = torch.randn(5, 4)
    sloped = set_slopes(to_prelu(net), 0.4)
    slopes(sloped)["1", 0].frozen[1] = True
    expected = sloped(x)
    file = io.BytesIO()
    torch.save(sloped, file)
    file.seek(0)
    others = [
        copy.deepcopy(sloped),
        pickle.loads(pickle.dumps(sloped)),
        torch.load(file, weights_only=False),
        to_prelu(net),
    ]
    others[3].load_state_dict(sloped.state_dict())
    for other in others:
        assert torch.equal(other(x), expected)
        assert list(slopes(other)) == list(slopes(sloped))
    others[0].zero_grad()
    set_slopes(others[0], 0.0)
    assert torch.equal(sloped(x), expected)
    assert {name for name in sloped.state_dict() if name in net.state_dict()} == set(net.state_dict())


def test_modes_types_and_gradients_are_kept():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(), nn.Linear(4, 2)).double().train()
    net[0].requires_grad_(False)
    net[2].eval()
    state, seed = copy.deepcopy(net.state_dict()), torch.get_rng_state()
    sloped = to_prelu(net)
    assert torch.equal(torch.get_rng_state(), seed)
    assert [part.training for part in sloped.modules()] == [part.training for part in net.modules()]
    assert sloped[1].weight.dtype is torch.float64
    assert sloped[1].weight.requires_grad
    assert not sloped[0].weight.requires_grad
    assert sloped[3].weight.requires_grad
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    assert isinstance(net[1], nn.ReLU)
    assert not net._forward_pre_hooks


def test_an_exception_in_a_forward_pass_does_not_shift_the_turns():
    def failing(x, act):
        x = act(x)
        if len(x) == 1:
            raise RuntimeError("stop")
        return F.relu(act(x.repeat(1, 2)) - 0.1)

    net, x = Written(failing, nn.ReLU()), torch.randn(3, 2)
    sloped = to_prelu(net, x)
    with pytest.raises(RuntimeError, match="stop"):
        sloped(x[:1])
    same(net, sloped, x, 0)


def test_a_part_alone_and_checkpoints():
    net = normalised(torchvision.models.resnet18())
    sloped, x = to_prelu(net, torch.zeros(1, 3, 32, 32)), torch.randn(2, 64, 8, 8, requires_grad=True)
    for _ in range(2):
        assert torch.equal(sloped.layer1(x), net.layer1(x))
    set_slopes(sloped, 0.2)
    plain = torch.autograd.grad(sloped.layer1(x).square().sum(), x)[0]
    again = torch.autograd.grad(checkpoint(sloped.layer1, x, use_reentrant=False).square().sum(), x)[0]
    torch.testing.assert_close(plain, again)


@pytest.mark.parametrize("activation", [F.relu, F.gelu, nn.ReLU(), nn.GELU(), "relu"])
def test_the_fast_path_of_transformers_does_not_hide_the_slopes(activation):
    torch.manual_seed(0)
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, activation=activation, batch_first=True), 2).eval()
    x, mask = torch.randn(3, 5, 8), torch.arange(5) > torch.tensor([[4], [3], [4]])
    sloped = to_prelu(net, x)
    with torch.no_grad():
        for masked in ({}, {"src_key_padding_mask": mask}):
            found, expected = sloped(x, **masked), net(x, **masked)
            torch.testing.assert_close(found[0], expected[0], rtol=1e-4, atol=1e-5)  # the first has no mask
        assert not torch.allclose(set_slopes(sloped, 1.0)(x), net(x), rtol=1e-2)
    undone = without_slopes(sloped)
    assert undone.layers[0].activation_relu_or_gelu == net.layers[0].activation_relu_or_gelu > 0
    assert undone.use_nested_tensor == net.use_nested_tensor


@pytest.mark.slow
@pytest.mark.parametrize("name", ["googlenet", "inception_v3"])
def test_auxiliary_heads_run_in_training_only_and_stay(name):
    net = torchvision.models.get_model(name, weights=None, init_weights=False).train()
    sloped = to_prelu(net, torch.zeros(2, 3, 96, 96))
    x = torch.randn(2, 3, 299 if name == "inception_v3" else 224, 299 if name == "inception_v3" else 224)
    outputs = sloped(x)
    assert sum(one is not None for one in outputs) == len(outputs) > 1
    sum(one.sum() for one in outputs).backward()
    assert all(unit.weight.grad is not None for unit in slopes(sloped).values())


def test_what_the_network_expects_goes_along():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 14 * 14, 3))
    net.preprocessing = Preprocessing(channels=1, size=16, mean=(0.0,), std=(1.0,))
    assert to_prelu(net).preprocessing.size == 16
    assert affscore.models.card_of(to_prelu(affscore.load_model("mini:digitsnet"))).preprocessing.channels == 1


@pytest.mark.parametrize(
    "net",
    [
        nn.Sequential(nn.Conv1d(2, 3, 3), nn.ReLU()),
        nn.Sequential(nn.Conv3d(1, 3, 3), nn.ReLU()),
        nn.Sequential(nn.Conv2d(3, 4, 5), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 24 * 24, 3), nn.ReLU()),
        nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 3), nn.ReLU()),
    ],
)
def test_inputs_are_found(net):
    assert next(iter(slopes(to_prelu(net)).values())).num_parameters in (3, 4)


@pytest.mark.parametrize("kind", [nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose2d])
def test_an_example_without_an_axis_of_samples(kind):
    """The slopes are of the channels, and not of the rows, of which a batch may have as many."""
    net = nn.Sequential(kind(1, 3, 3), nn.ReLU(), kind(3, 4, 3), nn.ReLU())
    sides = [8] * len(net[0].kernel_size)
    sloped = to_prelu(net, torch.randn(1, *sides))
    assert [(one.num_parameters, one.axis) for one in slopes(sloped).values()] == [(n, -1 - len(sides)) for n in (3, 4)]
    same(net, sloped, torch.randn(2, 1, *sides))


def two_layers():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU())


def held_outside():
    act, holder = nn.ReLU(), nn.Identity()
    holder.held = [act]
    return Written(lambda x, _, holder: holder.held[0](x), act, holder)


@pytest.mark.parametrize(
    ("net", "example", "message"),
    [
        (Written(F.relu), None, "nothing says what it takes; give example_input"),
        (nn.Sequential(nn.Conv2d(5, 3, 3), nn.Flatten(), nn.Linear(7, 2), nn.ReLU()), None,
         r"shape \(2, 5, 64, 64\) or .*\(2, 5, 299, 299\).*give example_input"),
        (two_layers(), torch.zeros(2, 5), "the network fails"),
        (nn.ReLU(), "image", "example_input must be a tensor"),
        (to_prelu(two_layers()), None, "has channel-wise slopes already"),
        (Written(lambda x: torch.maximum(x, torch.zeros(()))), torch.randn(2, 3), "by a formula"),
        (Written(lambda x: x.sum(1).relu()), torch.randn(2, 3), "without an axis of channels"),
        (held_outside(), torch.randn(2, 3), "cannot be replaced"),
        (Written(lambda x, line: (x * line.weight[0].relu()).relu(), nn.Linear(3, 1)), torch.randn(2, 3),
         r"more often than .* or on weights"),
        (3, None, "model must be"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(net, example, message):
    with pytest.raises(AffscoreError, match=message):
        to_prelu(net, example)


def test_more_calls_or_other_channels_than_in_the_example():
    def repeating(x, act):
        for _ in range(len(x)):
            x = act(x - 0.1)
        return x

    sloped = to_prelu(Written(repeating, nn.ReLU()), torch.ones(2, 3))
    with pytest.raises(AffscoreError, match="more often than on the example input"):
        sloped(torch.ones(3, 3))
    with pytest.raises(AffscoreError, match="with 3 slopes got features of shape"):
        sloped(torch.ones(2, 4))


class Skipping(nn.Module):
    """One activation in several blocks, each with a function of its own; blocks and calls can be left out."""

    def __init__(self):
        super().__init__()
        self.act, self.blocks, self.skipped = nn.ReLU(), nn.ModuleList([Functional(F.relu) for _ in range(3)]), ()

    def forward(self, x):
        for number, block in enumerate(self.blocks):
            x = x if number in self.skipped else self.act(block(x))
        return x


def test_fewer_calls_than_in_the_example():
    net, x = Skipping(), torch.randn(5, 4)
    sloped = to_prelu(net, x)
    sloped.skipped = (0,)
    with pytest.raises(AffscoreError, match="called 2 times, and 3 times on the example input"):
        sloped(x)
    sloped.skipped = ()
    same(net, sloped, x, 0)
    sloped.act, sloped.skipped = nn.ReLU(), (0, 2)  # blocks whose calls are all left out shift no slopes
    net.skipped = (0, 2)
    same(net, sloped, x, 0)


def test_a_part_whose_activation_belongs_to_others_too():
    """Also in the thread of a backward pass, which may recompute it and has begun no forward."""
    act = nn.ReLU()
    net = nn.Sequential(nn.Sequential(nn.Linear(3, 4), act), nn.Sequential(nn.Linear(4, 3), act))
    sloped, x = to_prelu(net), torch.randn(2, 3)
    for _ in range(2):
        same(net, sloped, x, 0)
        with pytest.raises(AffscoreError, match="counted over the whole"):
            sloped[0](x)


def test_wrappers_do_not_change_the_names_of_layers():
    sloped = to_prelu(two_layers())
    for wrapped in (nn.DataParallel(sloped), torch.compile(sloped)):
        assert slopes(wrapped) == slopes(sloped) == {("1", 0): sloped[1]}


def test_a_shared_activation_is_compiled_as_one_graph():
    act = nn.ReLU()
    sloped, x = to_prelu(nn.Sequential(nn.Linear(3, 4), act, nn.Linear(4, 4), act)), torch.randn(2, 3)
    assert torch.equal(torch.compile(sloped, fullgraph=True, backend="eager")(x), sloped(x))


def test_two_threads_at_once():
    """The second begins between the two calls of the first, and ends after it."""
    inside, waiting = threading.Event(), threading.Event()

    def pausing(x):
        x = F.relu(x)
        if len(x) == 3:
            inside.set()
            assert waiting.wait(10)
        return F.relu(x - 0.1)

    sloped = to_prelu(Written(pausing), torch.randn(2, 4))
    for value, unit in zip((0.2, 0.7), slopes(sloped).values(), strict=True):
        unit.weight.data.fill_(value)
    x, found = torch.randn(3, 4), []
    thread = threading.Thread(target=lambda: found.append(sloped(x)))
    thread.start()
    assert inside.wait(10)
    expected = F.leaky_relu(F.leaky_relu(x[:2], 0.2) - 0.1, 0.7)
    try:
        torch.testing.assert_close(sloped(x[:2]), expected)
    finally:
        waiting.set()
        thread.join()
    torch.testing.assert_close(found[0][:2], expected)


def test_the_signature_of_forward_stays():
    class Named(nn.Module):
        def forward(self, pixels, *, scale: float = 2.0):
            return F.relu(pixels * scale)

    net, x = Named(), torch.randn(20, 4)
    sloped = to_prelu(net, {"pixels": x})
    assert inspect.signature(sloped.forward) == inspect.signature(net.forward)
    assert len(affscore.signature(sloped, {"pixels": x, "other": x}, progress=False)) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_of_what_is_not_finite_a_slope_of_0_makes_what_relu_does(dtype):
    x = torch.tensor([[-torch.inf, torch.inf, torch.nan, -1.0, torch.finfo(dtype).min]], dtype=dtype)
    sloped = to_prelu(nn.ReLU(), torch.zeros(1, 5, dtype=dtype))
    torch.testing.assert_close(sloped(x), x.relu(), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook"])
def test_hooks_of_an_activation_are_not_lost_silently(register):
    net = two_layers()
    handle = getattr(net[1], register)(lambda module, args, *_: args[0])
    with pytest.raises(AffscoreError, match="activation '1' has hooks"):
        to_prelu(net)
    handle.remove()
    assert len(slopes(to_prelu(net))) == 1


@pytest.mark.parametrize(
    ("function", "messages"),
    [
        (lambda x, *_: x.relu() * (x + 1).relu(), ["^2 calls of ReLU or GELU stayed", "relu of layer", "nothing"]),
        (lambda x, act, other: other(x * act(x + 3) / 6), [r"^1 call.* 'layers\.0' in x\*relu$"]),
        (lambda x, *_: F.relu6(x).tanh(), ["nothing was replaced, .* it calls relu6, tanh, and no ReLU"]),
        (lambda x, *_: x.relu(), []),
    ],
)
def test_what_is_left_is_said_once(function, messages):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        to_prelu(Written(function, nn.ReLU(), nn.ReLU()), torch.randn(2, 3))
    assert [issubclass(one.category, AffscoreWarning) for one in given] == [True] * bool(messages)
    assert all(re.search(message, str(given[0].message)) for message in messages)
    assert all(one.filename == __file__ for one in given)


def test_a_root_that_is_an_activation_and_one_without():
    sloped = to_prelu(nn.ReLU(), torch.zeros(1, 3))
    assert isinstance(sloped, ChannelPReLU)
    assert list(slopes(sloped)) == [("(root)", 0)]
    assert isinstance(without_slopes(sloped), nn.ReLU)
    assert slopes(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.SiLU()))) == {}


def test_linear_regions_of_a_sloped_network():
    net = nn.Sequential(nn.Linear(2, 6), nn.ReLU(inplace=True), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2))
    start, end = torch.randn(2, generator=torch.Generator().manual_seed(0)) - 9, torch.full((2,), 9.0)
    sloped = to_prelu(net)
    along = affscore.linear_regions.along_segment
    assert along(sloped, start, end).crossings == along(net, start, end).crossings > 0
    assert along(set_slopes(sloped, 1.0), start, end).crossings == 0
