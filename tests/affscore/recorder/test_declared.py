"""What counts as one activation because somebody says so, or because a known library calls it one."""

import contextlib
import functools
import importlib
import inspect
import sys
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore import AffinityPenalty, AffscoreError, signature
from affscore.recorder import recording
from affscore.recorder.effects import check_elementwise
from affscore.recorder.functions import LIBRARY_CLASSES, Declared
from tests.affscore.recorder.hard_networks import Net, conv, module_class
from tests.affscore.recorder.seen import seen_in

Snake = module_class("Snake", lambda x: x + torch.sin(x) ** 2)  # no function of it counts by itself


class Quadratic(Snake):
    def forward(self, x):
        return x * x


class Bumpy(nn.Module):
    """Functions inside it count where it is not declared."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Tanh()

    def forward(self, x, *, strength=1.0):
        return torch.sigmoid(self.inner(strength * x)) + torch.relu(x)


InPlace = module_class("InPlace", torch.sin_)


class Fast(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x + torch.sin(x) ** 2


FastModule = module_class("FastModule", Fast.apply)


def doubled_tanh(x):
    return torch.tanh(x) * 2.0


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # TorchScript is on its way out; there are networks with it
    scripted, scripted_module = torch.jit.script(doubled_tanh), torch.jit.script(nn.Tanh())


Scripted = module_class("Scripted", scripted)


def wave(x, frequency=1.0, *, shift=0.0):
    return torch.sin(frequency * x + shift)


def wave_in_place_without_result(x):
    x.sin_()


def around(activation, **options):
    """A network with an activation twice, between things that are known."""
    torch.manual_seed(0)
    act = activation() if inspect.isclass(activation) and issubclass(activation, nn.Module) else activation

    return Net(
        lambda net, x: act(net.relu(net.second(act(net.first(x), **options))), **options),
        first=conv(), second=conv(4, 4), relu=nn.ReLU(), act=act,
    )  # fmt: skip


MODULES = {
    "a class": (Snake, [Snake], "snake"),
    "its subclass": (Quadratic, [Snake], "snake"),
    "functions inside": (Bumpy, [Bumpy], "bumpy"),
    "a name": (Snake, {"Snake": Snake}, "Snake"),
    "in place": (InPlace, [InPlace], "inplace"),
    "an autograd function": (FastModule, [FastModule], "fastmodule"),
    "a scripted function inside": (Scripted, [Scripted], "scripted"),
}


@pytest.mark.parametrize(("module", "given", "name"), MODULES.values(), ids=MODULES)
def test_a_declared_class_is_one_activation(module, given, name, images):
    model = around(module)
    listener, recorder = seen_in(model, images, activations=given)
    assert [(c.layer, c.call, c.activation, c.depth, c.channel_axis) for c in recorder.calls] == [
        ("act", 0, name, 1, 1), ("relu", 0, "relu", 2, 1), ("act", 1, name, 3, 1),
    ]  # fmt: skip
    x = model.first(images)
    assert torch.equal(listener.inputs[0], x)
    assert torch.equal(listener.outputs[0], module()(x.clone()))
    assert "forward" not in model.act.__dict__


def test_a_single_module(images):
    model = nn.Sequential(conv(), Snake(), conv(4, 4), Snake(), nn.ReLU())
    _, recorder = seen_in(model, images, activations=[model[3]])
    assert [(c.layer, c.activation) for c in recorder.calls] == [("3", "snake"), ("4", "relu")]


def test_a_forward_of_the_module_s_own_comes_back(images):
    act = Snake()
    act.forward = own = lambda x: torch.cos(x)
    listener, _ = seen_in(around(act), images, activations=[Snake])
    assert act.forward is own
    torch.testing.assert_close(listener.outputs[0], torch.cos(listener.inputs[0]))


class Waves:
    def __init__(self, frequency):
        self.frequency = frequency

    def method(self, x):
        return torch.sin(self.frequency * x)


def closure(frequency):
    def inner(x):
        return torch.sin(frequency * x)

    return inner


INNER, WAVES = closure(2.0), Waves(2.0)
FUNCTIONS = {
    "a function": (wave, [wave], "wave"),
    "with options": (functools.partial(wave, frequency=2.0), [wave], "wave"),
    "by keyword": (lambda z: wave(x=z, shift=1.0), [wave], "wave"),
    "a partial": (functools.partial(wave, shift=1.0), [functools.partial(wave, shift=1.0)], "wave"),
    "a closure": (INNER, [INNER], "inner"),
    "a lambda": (act := lambda x: x + x.sin(), [act], "lambda"),
    "a method": (WAVES.method, [WAVES.method], "method"),
    "a function of torch": (torch.sin, [torch.sin], "sin"),
    "its method": (lambda x: x.sin(), [torch.sin], "sin"),
    "in place": (lambda x: x.sin_(), {"sine": torch.sin}, "sine"),
    "an autograd function": (Fast.apply, [Fast], "fast"),
    "a function of torch.nn.functional": (F.silu, {"swish": F.silu}, "swish"),
}


@pytest.mark.parametrize(("function", "given", "name"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_declared_function_is_one_activation(function, given, name, images):
    model = around(function)
    listener, recorder = seen_in(model, images, activations=given)
    assert [(c.layer, c.call, c.activation, c.depth) for c in recorder.calls] == [
        ("(root)", 0, name, 1), ("relu", 0, "relu", 2), ("(root)", 1, name, 3),
    ]  # fmt: skip
    x = model.first(images)
    assert torch.equal(listener.inputs[0], x)
    torch.testing.assert_close(listener.outputs[0], function(x.clone()))
    assert sys.getprofile() is None


def test_a_function_that_overwrites_and_returns_nothing(images):
    model = Net(lambda net, x: (y := net.first(x), wave_in_place_without_result(y))[0], first=conv())
    listener, recorder = seen_in(model, images, activations=[wave_in_place_without_result])
    assert len(recorder.calls) == 1
    torch.testing.assert_close(listener.outputs[0], torch.sin(listener.inputs[0]))
    assert torch.equal(listener.inputs[0], model.first(images))


def test_reduce_first_and_the_nonlinearity_coefficient_apply_it(images):
    options = {"n": 8, "order": "reduce-first", "criteria": ["nlc"], "activations": {"sine": torch.sin}}
    by_name, by_class = (
        signature(around(act), images, **options | {"activations": given}, progress=False)
        for act, given in ((torch.sin, {"sine": torch.sin}), (Sine, {"sine": Sine}))
    )
    for column in ("score", "nlc"):
        np.testing.assert_allclose(by_name.table[column], by_class.table[column], rtol=1e-6)
    assert by_name.table["nlc"].notna().all()
    assert by_name.metadata["activations"] == ["sine"]


Sine = module_class("Sine", torch.sin)


class PerChannel(nn.Module):
    def __init__(self):
        super().__init__()
        self.beta = nn.Parameter(torch.linspace(0.5, 1.5, 4).view(4, 1, 1))

    def forward(self, x):
        return torch.sin(self.beta * x)


def test_parameters_for_each_channel(images):
    assert len(signature(around(PerChannel), images, n=8, activations=[PerChannel], progress=False)) == 3
    with pytest.raises(AffscoreError, match=r"perchannel of layer 'act' cannot be applied to vectors of channels"):
        signature(around(PerChannel), images, n=8, order="reduce-first", activations=[PerChannel], progress=False)


Mixing = module_class("Mixing", lambda x: x.softmax(1))
Drawing = module_class("Drawing", lambda x: x + torch.randn_like(x))
Halving = module_class("Halving", lambda x: x[:, ::2])
Nothing = module_class("Nothing", lambda x: x.shape)
OneNumber = module_class("OneNumber", lambda x: x.flatten(1).mean(1))


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (Halving, "halving of layer 'act' was declared as a block, and has width 4 before and 2 after"),
        (Nothing, "nothing of layer 'act' counts as a block, and must return a tensor of numbers"),
        (OneNumber, "onenumber of layer 'act' counts as a block, and must return a tensor of numbers"),
    ],
)
def test_a_module_that_keeps_no_width_is_refused(activation, message, images):
    model = around(activation)
    with pytest.raises(AffscoreError, match=message) as caught:
        signature(model, images, n=8, activations=[activation], progress=False)
    assert "\n" not in str(caught.value)
    assert "forward" not in model.act.__dict__


@pytest.mark.parametrize("module", [Mixing, Drawing])
def test_a_module_that_is_not_elementwise_is_a_block(module, images):
    result = signature(around(module), images, n=8, activations=[module], progress=False)
    assert result.summary["kind"].tolist()[::2] == ["block", "block"]


class Either(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function, self.runs = function, []

    def forward(self, x):
        self.runs.append(x.shape[0])
        return self.function(x)


def softmax(x):
    return x.softmax(1)


@pytest.mark.parametrize(("functions", "kinds"), [
    ((torch.sin, softmax), ["hidden", "block"]), ((softmax, torch.sin), ["block", "hidden"]),
])  # fmt: skip
def test_modules_of_one_class_are_tried_out_one_by_one(functions, kinds, images):
    first, second = map(Either, functions)
    network = nn.Sequential(conv(), first, conv(4, 4), second)
    assert signature(network, images, n=8, activations=[Either], progress=False).summary["kind"].tolist() == kinds


class Block(nn.Module):
    """What runs in training mode leaves statistics, and draws random numbers."""

    runs = 0

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.dropout, self.last = conv(4, 4), nn.BatchNorm2d(4), nn.Dropout(0.3), None

    def forward(self, x):
        Block.runs += 1
        self.last = x + self.dropout(self.norm(self.conv(x)).relu())
        return self.last


@pytest.mark.parametrize("declared", [Block, nn.Dropout, Drawing])
def test_a_training_with_a_penalty_runs_as_one_without(declared, images):
    def outputs(with_penalty):
        torch.manual_seed(0)
        network = nn.Sequential(conv(), Block(), nn.Dropout(0.3), Drawing(), nn.ReLU()).train()
        with contextlib.ExitStack() as stack:
            if with_penalty:
                stack.enter_context(AffinityPenalty(network, 0.9, activations=[declared]))
            found = [network(images)]
            after_one = Block.runs
            found += [network(images) for _ in range(4)]
            assert Block.runs - after_one == 4  # it is tried out at the first pass alone
        return network, found

    plain, expected = outputs(False)
    network, found = outputs(True)
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    assert all(torch.equal(one, other) for one, other in zip(network.buffers(), plain.buffers(), strict=True))
    assert network[1].norm.num_batches_tracked == 5
    assert network[1].last.shape[0] == len(images)
    assert network[1].training


def test_a_function_that_is_not_elementwise_is_refused(images):
    def mixing(x):
        return x.softmax(1)

    with pytest.raises(AffscoreError, match=r"mixing of layer '\(root\)' was declared as an activation, and is none"):
        signature(around(mixing), images, n=8, activations=[mixing], progress=False)
    assert sys.getprofile() is None


def test_elementwise_with_parameters_of_channels_and_nan():
    x = torch.randn(2, 4, 3, 3)
    check_elementwise("prelu", nn.PReLU(4).requires_grad_(False), x)
    check_elementwise("log", torch.log, x)


@pytest.mark.parametrize("given", ["snake", Snake, 3, [3], [Snake, "relu"], [dict], [nn.ReLU(), [nn.ReLU]], [object()]])
def test_what_cannot_be_declared(given, images):
    with pytest.raises(AffscoreError, match="activations must be a list of module classes, modules or functions"):
        signature(around(Snake), images, n=8, activations=given)


@pytest.mark.parametrize("thing", [scripted, scripted_module])
def test_torchscript_cannot_be_declared(thing):
    with pytest.raises(AffscoreError, match="is TorchScript, which cannot be seen; declare the class of modules"):
        Declared([thing])


def test_what_never_ran_is_noted(images):
    model = nn.Sequential(conv(), nn.ReLU())
    notes = signature(model, images, n=8, activations=[Snake, torch.sin], progress=False).notes
    assert "declared as an activation, but never run: snake, sin" in notes


def test_an_activation_that_does_not_depend_on_the_images(images):
    table = Net(lambda net, x: torch.tanh(x + net.act(net.table)), act=Bumpy(), table=nn.Parameter(torch.ones(8)))
    _, recorder = seen_in(table, images, activations=[Bumpy])
    assert [call.activation for call in recorder.calls] == ["tanh"]
    assert recorder.independent_of_input == 1


def test_a_declared_activation_that_raises_leaves_nothing_behind(images):
    class Broken(nn.Module):
        def forward(self, x):
            if len(x) > 1:
                raise RuntimeError("too many")
            return torch.sin(x)

    model = around(Broken)
    with pytest.raises(AffscoreError, match="RuntimeError: too many"):
        signature(model, images, n=8, activations=[Broken], progress=False)
    assert "forward" not in model.act.__dict__

    def broken(x):
        return Broken()(x)

    with pytest.raises(AffscoreError, match="RuntimeError: too many"):
        signature(around(broken), images, n=8, activations=[broken], progress=False)
    assert sys.getprofile() is None


def test_a_profiler_that_is_running_goes_on_afterwards(images):
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append(event))
    try:
        with recording(around(wave), None, [wave]):
            pass
        assert sys.getprofile() is not None
        assert seen
    finally:
        sys.setprofile(None)


def library_modules(library):
    """Every class of the table that a library of this version has, with the module that defines it."""
    places = {
        "timm": ["timm.layers.activations", "timm.layers.activations_me", "timm.models.metaformer"],
        "transformers": [
            "transformers.activations", "transformers.models.bloom.modeling_bloom",
            "transformers.models.pe_audio.modeling_pe_audio", "transformers.models.qwen2_5_omni.modeling_qwen2_5_omni",
        ],
    }  # fmt: skip
    pytest.importorskip(library)
    found = {}
    for place in places[library]:
        try:
            module = importlib.import_module(place)
        except ImportError:
            continue  # this version has no such file
        found |= {name: getattr(module, name) for name in LIBRARY_CLASSES[library] if hasattr(module, name)}
    return found


OPTIONS = {"ClippedGELUActivation": (-10, 10), "Snake1d": (4,), "SnakeBeta": (4,)}


@pytest.mark.parametrize("library", ["timm", "transformers"])
def test_the_activation_classes_of_libraries_are_one_activation_each(library):
    classes = library_modules(library)
    assert len(classes) >= 5
    for class_name, kind in classes.items():
        act = kind(*OPTIONS.get(class_name, ())).float()
        x = torch.randn(2, 4, 7)  # (N, C, length), as the snakes have it
        listener, recorder = seen_in(nn.Sequential(act), x.clone())
        assert [(call.layer, call.activation) for call in recorder.calls] == [
            ("0", LIBRARY_CLASSES[library][class_name])
        ]
        assert torch.equal(listener.inputs[0], x)
        check_elementwise(class_name, act, x)


@pytest.mark.parametrize("library", ["timm", "transformers"])
def test_every_activation_that_a_library_offers_by_name_is_seen_once(library):
    pytest.importorskip(library)
    if library == "timm":
        from timm.layers.create_act import _ACT_LAYER_DEFAULT, _ACT_LAYER_ME

        offered = [*_ACT_LAYER_DEFAULT.items(), *_ACT_LAYER_ME.items()]
        made = {f"{name} {i}": act() for i, (name, act) in enumerate(offered)}
    else:
        from transformers.activations import ACT2FN

        made = {name: ACT2FN[name] for name in ACT2FN}
    assert len(made) > 20
    for name, act in made.items():
        _, recorder = seen_in(nn.Sequential(act.float()), torch.randn(2, 3, 4))
        assert len(recorder.calls) == (0 if name.startswith(("identity", "linear")) else 1), name
