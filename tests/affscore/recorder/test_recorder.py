import gc
import warnings
import weakref
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import _get_current_function_mode_stack

import affscore
from affscore.recorder import Listener, recording
from affscore.recorder.functions import ACTIVATIONS, as_function
from tests.affscore.recorder import hard_networks as hard
from tests.affscore.recorder.seen import Seen, seen_in
from tests.affscore.recorder.torchvision_networks import input_of, without_numbers


def negative(x):
    return -x


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # TorchScript is on its way out; there are networks with it
    scripted = torch.jit.script(negative)


# Two images of 3 x 8 x 8 in; layer, call, activation, depth, kind and channel axis of every activation out.
EXPECTED = {
    hard.ReusedReLU: "relu 0 relu 1 hidden 1, relu 1 relu 2 hidden 1",
    hard.InPlaceOnAView: "(root) 0 relu 1 hidden 1, (root) 1 tanh 2 hidden 1",
    hard.FunctionsOnly: "(root) 0 tanh 1 hidden 1, (root) 1 sigmoid 2 hidden 1, (root) 2 gelu 3 hidden 1",
    hard.InPlaceSum: "(root) 0 relu 1 hidden 1, (root) 1 relu 2 after-sum 1",
    hard.ChunkAndShuffle: "(root) 0 relu 1 hidden 1, (root) 1 sigmoid 2 hidden 1",
    hard.ItemAssignment: "(root) 0 relu 1 hidden 1, (root) 1 tanh 2 hidden 1",
    hard.ActivationOfATable: "(root) 0 relu 1 hidden 1",
    hard.SqueezeAndExcite: (
        "(root) 0 relu 1 hidden 1, (root) 1 silu 2 squeeze 1, (root) 2 sigmoid 3 gate 1, (root) 3 tanh 4 hidden 1"
    ),
    hard.ChannelsLastMLP: "mlp.1 0 gelu 1 hidden 3, (root) 0 relu 2 hidden 1",
    hard.Conv1dAndTokens: "(root) 0 relu 1 hidden 1, (root) 1 relu 2 hidden 2",
    hard.PermutedBackAndForth: (
        "(root) 0 relu 1 hidden 3, (root) 1 relu 2 hidden 1, (root) 2 relu 3 hidden 3, (root) 3 relu 4 hidden 1"
    ),
    partial(hard.Checkpointed, reentrant=False): "block.1 0 relu 1 hidden 1, (root) 0 tanh 2 hidden 1",
    partial(hard.Checkpointed, reentrant=True): "block.1 0 relu 1 hidden 1, (root) 0 tanh 2 hidden 1",
    hard.FunctionalCall: "block.1 0 relu 1 hidden 1, (root) 0 tanh 2 hidden 1",
    hard.SharedUnderTwoNames: "one.1 0 relu 1 hidden 1, one.1 1 relu 2 hidden 1",
    hard.Recursive: "(root) 0 relu 1 hidden 1, (root) 1 relu 2 hidden 1, (root) 2 relu 3 hidden 1",
    hard.CustomFunction: "(root) 0 silu 1 hidden 1, (root) 1 relu 2 hidden 1",
    hard.IntoABuffer: "(root) 0 relu 1 hidden 1, (root) 1 tanh 2 hidden 1",
    hard.ParallelBranches: (
        "(root) 0 relu 1 hidden 1, (root) 1 relu 2 hidden 1, long.1 0 relu 2 hidden 1, long.3 0 relu 3 hidden 1, "
        "(root) 2 tanh 4 hidden 1"
    ),
}


def does(function):
    """A network without layers."""
    return hard.Net(lambda net, x: function(x))


def calls_without_numbers(name):
    model, x = without_numbers(name), input_of(name)
    with torch.no_grad(), recording(model) as recorder:
        recorder.start(x)
        model(x)
    return model, x, recorder


@pytest.mark.parametrize(
    ("name", "widths"),
    [
        ("vit_b_16", [3072] * 12),
        ("swin_t", [384] * 2 + [768] * 2 + [1536] * 6 + [3072] * 2),
        ("convnext_tiny", [384] * 3 + [768] * 3 + [1536] * 9 + [3072] * 3),
        ("alexnet", [64, 192, 384, 256, 256, 4096, 4096]),
        ("resnet18", [64] * 5 + [128] * 4 + [256] * 4 + [512] * 4),
    ],
)
def test_widths(name, widths):
    model, x = without_numbers(name), input_of(name)
    listener, _ = seen_in(model, x)
    pairs = zip(listener.calls, listener.inputs, strict=True)
    assert [features.shape[call.channel_axis] for call, features in pairs] == widths


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
@pytest.mark.parametrize(("make", "expected"), EXPECTED.items())
def test_hard_networks(make, expected):
    model = make()
    listener, recorder = seen_in(model, torch.randn(2, 3, 8, 8))
    found = [
        f"{call.layer} {call.call} {call.activation} {call.depth} {call.kind} {call.channel_axis}"
        for call in recorder.calls
    ]
    assert ", ".join(found) == expected
    assert listener.calls == recorder.calls
    assert recorder.independent_of_input == (1 if make is hard.ActivationOfATable else 0)
    for call, x, y in zip(listener.calls, listener.inputs, listener.outputs, strict=True):
        torch.testing.assert_close(getattr(F, call.activation, getattr(torch, call.activation, None))(x), y)
        assert not torch.equal(x, y)  # the input, before an activation in place overwrites it


@pytest.mark.parametrize("width", [(8, 8, 8), (4, 9, 5)])
def test_memory_in_channels_last_order_does_not_mislead(width):
    c, h, w = width
    model = nn.Sequential(nn.Conv2d(3, c, 1), nn.ReLU()).to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, h, w).to(memory_format=torch.channels_last)
    listener, recorder = seen_in(model, x)
    assert listener.inputs[0].is_contiguous(memory_format=torch.channels_last)
    assert recorder.calls[0].channel_axis == 1


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_fast_path_of_a_transformer_layer_does_not_hide_its_activation(norm_first, activation):
    layer = nn.TransformerEncoderLayer(
        8, 2, dim_feedforward=16, activation=activation, batch_first=True, norm_first=norm_first
    )
    encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    before = torch.backends.mha.get_fastpath_enabled()
    _, recorder = seen_in(encoder, torch.randn(4, 5, 8))
    assert [(c.layer, c.activation, c.depth, c.channel_axis, c.positions) for c in recorder.calls] == [
        (f"layers.{i}", activation, i + 1, 2, 5) for i in range(3)
    ]
    assert torch.backends.mha.get_fastpath_enabled() == before


OPTIONS = {"threshold": (0.1, 20.0), "prelu": (torch.tensor([0.25]),)}


@pytest.mark.parametrize(
    ("function", "name"), ACTIVATIONS.items(), ids=[f"{name}-{i}" for i, name in enumerate(ACTIVATIONS.values())]
)
def test_every_spelling_of_an_activation_is_seen_once(function, name):
    x = torch.randn(4, 3)
    listener, recorder = seen_in(does(lambda x: function(2 * x, *OPTIONS.get(name, ()))), x)
    assert [call.activation for call in recorder.calls] == [name]
    assert torch.equal(listener.inputs[0], 2 * x)


NOT_ELEMENTWISE = {"Softmax", "Softmin", "LogSoftmax", "Softmax2d"}


@pytest.mark.parametrize("name", sorted({*torch.nn.modules.activation.__all__} - {"MultiheadAttention"}))
def test_every_activation_module_of_pytorch_is_seen_once(name):
    options = {"Threshold": (0.1, 20.0), "Softmax": (1,), "Softmin": (1,), "LogSoftmax": (1,)}
    _, recorder = seen_in(nn.Sequential(getattr(nn, name)(*options.get(name, ()))), torch.randn(2, 4, 6, 6))
    assert [call.layer for call in recorder.calls] == ([] if name in NOT_ELEMENTWISE else ["0"])


@pytest.mark.parametrize(
    ("clamp", "names"),
    [
        (nn.ReLU6(), ["relu6"]), (nn.Hardtanh(), ["hardtanh"]), (nn.Hardtanh(0, 2), ["hardtanh"]),
        (lambda x: x.clamp(0, 6), ["relu6"]), (lambda x: x.clip(min=0), ["relu"]), (lambda x: x.clamp(-1, 2), []),
    ],
)  # fmt: skip
def test_clamps_are_named_by_their_bounds(clamp, names):
    assert [call.activation for call in seen_in(does(clamp), torch.randn(4, 3))[1].calls] == names


def test_keyword_input():
    network = does(lambda x: F.relu(input=torch.sigmoid(input=x) - 0.5, inplace=True))
    listener, recorder = seen_in(network, torch.randn(3, 4))
    assert [call.activation for call in recorder.calls] == ["sigmoid", "relu"]
    assert (listener.inputs[1] < 0).any()
    assert (listener.outputs[1] >= 0).all()


def test_a_forward_that_raises_leaves_nothing_behind(images):
    model = hard.Raising().eval()
    before = torch.backends.mha.get_fastpath_enabled()
    listener = Seen()

    def run():
        with torch.no_grad(), recording(model, listener) as recorder:
            recorder.start(images)
            model(images)

    with pytest.raises(RuntimeError, match="the head is broken"):
        run()
    assert not _get_current_function_mode_stack()
    assert torch.backends.mha.get_fastpath_enabled() == before
    assert [len(module._forward_hooks) for module in model.modules()] == [0] * len(list(model.modules()))
    assert len(model.head._forward_pre_hooks) == 1  # the network's own
    model.broken = False
    _, recorder = seen_in(model, images)
    assert [call.layer for call in recorder.calls] == ["block.1", "(root)"]


def test_the_path_is_right_again_after_an_error_that_the_network_catches(images):
    class Forgiving(hard.Raising):
        def forward(self, x):
            y = self.block(x)
            try:
                y = self.head(y)
            except RuntimeError:
                y = torch.sigmoid(y)
            return y

    _, recorder = seen_in(Forgiving(), images)
    assert [call.layer for call in recorder.calls] == ["block.1", "(root)"]


def test_a_call_as_a_function_does_not_keep_its_arguments_alive():
    given = [torch.ones(3)]
    added = as_function(torch.add, (given[0], 1), {}, lambda value: value is given[0])
    kept = weakref.ref(given.pop())
    assert (kept(), added(torch.zeros(3)).tolist()) == (None, [1.0, 1.0, 1.0])


def test_feature_maps_are_not_kept_alive():
    seen, x = [], torch.randn(2, 4)

    class Watching(Listener):
        def after(self, call, y):
            seen.append((weakref.ref(y), StorageWeakRef(y.untyped_storage())))

    parts = [nn.Sequential(nn.Linear(4, 4), does(lambda x: 2 * x), nn.ReLU()) for _ in range(5)]
    with torch.no_grad(), recording(model := nn.Sequential(*parts), Watching()) as recorder:
        recorder.start(x)
        model(x)
        gc.collect()
        assert [(tensor(), storage.expired()) for tensor, storage in seen] == [(None, True)] * 5
        assert len(recorder.layout._axes) == 0
        assert len(recorder.formulas._steps) == 0


def test_a_way_that_cannot_be_followed_is_noticed(images):
    with torch.no_grad(), recording(model := does(lambda x: torch.relu(scripted(torch.relu(x))))) as recorder:
        recorder.start(images)
        assert recorder.flow.lost(model(images))
        assert (len(recorder.calls), recorder.independent_of_input) == (1, 1)
        recorder.start(images)
        assert not recorder.flow.lost(hard.FunctionsOnly()(images))
        assert not recorder.flow.lost("no tensor at all")


def test_what_comes_back_from_numpy_is_followed(images):
    table = nn.Buffer(torch.ones(len(images), 1, 1, 1))

    def through_numpy(net, x):
        return torch.relu(torch.from_numpy(torch.relu(x).numpy() - 0.1)) + torch.tanh(net.table)

    with torch.no_grad(), recording(model := hard.Net(through_numpy, table=table)) as recorder:
        recorder.start(images)
        assert not recorder.flow.lost(model(images))
        assert [call.depth for call in recorder.calls] == [1, 2]
        assert recorder.flow.outside == {"(root)"}
        assert recorder.independent_of_input == 1


def test_an_activation_that_raises_is_none():
    def tries(net, x):
        x = net.layer(x)
        try:
            F.prelu(x, torch.ones(99))
        except RuntimeError:
            x = torch.tanh(x)
        return x

    result = affscore.signature(hard.Net(tries, layer=nn.Linear(4, 4)), torch.randn(32, 4), n=32, progress=False)
    assert result.table["activation"].tolist() == ["tanh"]
    assert result.table["call"].tolist() == [0]


def test_a_prelu_of_a_constant_whose_slopes_depend_on_the_samples_is_none():
    def slopes(net, x):
        z = torch.relu(net.layer(x))
        return z + F.prelu(torch.ones(1, 4), z.mean(dim=0))

    result = affscore.signature(hard.Net(slopes, layer=nn.Linear(4, 4)), torch.randn(32, 4), n=32, progress=False)
    assert result.table["activation"].tolist() == ["relu"]


def test_hooks_that_only_watch_are_no_activations(images):
    watched, changed = hard.conv(), hard.conv(4, 4)
    watched.register_forward_pre_hook(lambda module, args: torch.tanh(args[0]).mean().item() and None)
    watched.register_forward_hook(lambda module, args, output: torch.relu(output).mean().item() and None)
    changed.register_forward_pre_hook(lambda module, args: (torch.sigmoid(args[0]),))
    changed.register_forward_hook(lambda module, args, output: torch.relu_(output) is None or None)
    _, recorder = seen_in(nn.Sequential(watched, nn.Tanh(), changed), images)
    assert [(call.layer, call.activation) for call in recorder.calls] == [
        ("1", "tanh"),
        ("2", "sigmoid"),
        ("2", "relu"),
    ]
    assert [call.depth for call in recorder.calls] == [1, 2, 3]


def test_parts_of_a_tensor_that_change_in_place_keep_their_depths(images):
    def halves(net, x):
        y = net.layer(x)
        torch.relu_(y[:, :2])
        y[:, 2:4] = torch.tanh(torch.sigmoid(y[:, 2:4]))
        torch.relu_(y[:, 4:])
        torch.relu_(y[:, 2:4])
        return torch.tanh(y)

    _, recorder = seen_in(hard.Net(halves, layer=hard.conv(3, 6)), images)
    assert [call.depth for call in recorder.calls] == [1, 1, 2, 1, 3, 4]


def test_calls_in_inference_mode_are_the_same(images):
    class Inside(nn.Sequential):
        @torch.inference_mode()
        def forward(self, x):
            y = x + super().forward(x) * torch.sigmoid(super().forward(x))
            y[y < 0] = 0
            return y.mul_(y.sigmoid())

    found = []
    for mode in (torch.no_grad(), torch.inference_mode()):
        for kind in (Inside, nn.Sequential):
            with (
                mode,
                recording(model := nn.Sequential(kind(hard.conv(3, 3)), does(lambda x: x * x.sigmoid()))) as recorder,
            ):
                recorder.start(images)
                model(images)
            found.append([(call.layer, call.activation, call.depth) for call in recorder.calls])
    assert found[0] == found[2]
    assert [call[1] for call in found[0]] == ["sigmoid", "relu", "silu", "silu"]
    assert found[1] == found[3] == [("1", "silu", 1)]


def test_storage_is_not_needed():
    table = torch.eye(7).to_sparse()
    mixing = does(lambda h: torch.relu(torch.stack([torch.sparse.mm(table, one.to_sparse()).to_dense() for one in h])))
    _, recorder = seen_in(nn.Sequential(nn.Linear(5, 8), mixing), torch.randn(4, 7, 5))
    assert [(call.activation, call.channels) for call in recorder.calls] == [("relu", 8)]


def test_a_function_that_writes_into_out_is_not_run_again():
    def gated(x):
        gate = torch.empty_like(x)
        torch.sigmoid(x, out=gate)
        before = gate.clone()
        y = x * gate
        assert torch.equal(gate, before)
        return y

    _, recorder = seen_in(does(gated), torch.randn(4, 7))
    assert [call.activation for call in recorder.calls] == ["silu"]


def test_numpy_functions_of_a_tensor_are_noted():
    _, recorder = seen_in(does(lambda x: torch.relu(x) + torch.as_tensor(np.tanh(x))), torch.randn(4, 7))
    assert "numbers leave PyTorch" in recorder.elsewhere


@pytest.mark.parametrize("make", [lambda x: x.to_sparse(), lambda x: torch.nested.as_nested_tensor([*x])])
def test_tensors_without_axes_are_refused(make):
    with pytest.raises(affscore.AffscoreError, match="runs on a nested or sparse tensor"):
        affscore.signature(does(lambda x: torch.relu(make(x))), torch.randn(8, 7), n=8, progress=False)
