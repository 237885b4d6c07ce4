"""Functions that bend features elementwise and are not counted are named; those of norms and softmaxes are not."""

import re
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore import AffscoreError, signature
from affscore.network.recorder import recording
from affscore.network.recorder.uncounted import Uncounted
from tests.network.torchvision_networks import without_numbers

WIDTH = 16


class Around(nn.Module):
    """A function between linear layers, behind a ReLU that counts."""

    def __init__(self, function):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second, self.last = nn.Linear(8, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 4)
        self.bend = function

    def forward(self, x):
        return self.last(self.bend(self.second(torch.relu(self.first(x)))))


def scripted_tanh(x):
    return torch.tanh(x)


class Snake(nn.Module):
    def forward(self, x):
        return x + torch.sin(2 * x) ** 2 / 2


class SquaredReLU(nn.Module):
    def forward(self, x):
        return torch.relu(x) ** 2


class Parabola(nn.Module):
    def forward(self, x):
        return x * x


CLASSES = {"Snake": Snake, "SquaredReLU": SquaredReLU, "Parabola": Parabola}


def tokens(n=128):
    return torch.randn(n, 5, 8, generator=torch.Generator().manual_seed(1))


def measured(network, **options):
    return signature(network, tokens(), n=128, criteria=False, progress=False, **options)


def note_of(network, **options):
    """The note on such functions, or an empty one."""
    found = [note for note in measured(network, **options).notes if "bend features" in note]
    assert len(found) <= 1
    return found[0] if found else ""


def declared_in(note):
    """What the line in the note declares, run as it is printed."""
    (line,) = re.findall(r"activations=(?:\[.*?\]|\{.*?\})", note)
    return eval(f"dict({line})", {"torch": torch, **CLASSES})


BENT = {
    "sin": (torch.sin, "torch.sin"),
    "method": (lambda x: x.exp(), "torch.exp"),
    "in place": (lambda x: x.cos_(), "torch.cos"),
    "abs": (abs, "torch.abs"),
    "power": (lambda x: x**3, "torch.pow"),
    "square": (torch.square, "torch.square"),
    "special": (torch.special.exp2, "torch.exp2"),
    "number to the power of x": (lambda x: 2**x, "torch.pow"),
    "maximum": (lambda x: torch.maximum(x, torch.tensor(0.1)), "torch.maximum"),
    "two bounds": (lambda x: x.clamp(-1, 2), "torch.clamp"),
    "a bound": (lambda x: x.clip(min=-0.5), "torch.clip"),
    "features of linear attention": (lambda x: torch.exp(x) @ (x.mT @ x), "torch.exp"),
    "before a norm": (lambda x: F.layer_norm(torch.sin(x), (WIDTH,)), "torch.sin"),
    "before a norm by hand": (lambda x: rms_norm(torch.sin(x)), "torch.sin"),
    "before a mean over positions": (lambda x: torch.sin(x).mean(1), "torch.sin"),
}  # fmt: skip


@pytest.mark.parametrize("name", BENT)
def test_a_function_is_named_and_the_line_counts_it(name):
    function, written = BENT[name]
    note = note_of(Around(function))
    line = f'activations={{"{written.removeprefix("torch.")}": {written}}}'
    assert note == (
        f"functions bend features elementwise and have no score: {written} in layer '(root)' (1 call); {line} counts it"
    )
    result = measured(Around(function), **declared_in(note))
    assert result.summary["activation"].tolist() == ["relu", written.removeprefix("torch.")]
    assert not any("bend features" in note for note in result.notes)


@pytest.mark.parametrize("name", CLASSES)
def test_of_a_module_that_is_elementwise_the_class_is_declared(name):
    network = nn.Sequential(Around(CLASSES[name]()), nn.Linear(4, 4), CLASSES[name]())
    note = note_of(network)
    assert "in layers '0.bend', '2' (2 calls)" in note
    assert note.endswith(f"; activations=[{name}] counts them")
    result = measured(network, **declared_in(note))
    assert result.summary["activation"].tolist() == ["relu", name.lower(), name.lower()]
    assert not any("bend features" in note for note in result.notes)


class ByName(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Parabola()

    def forward(self, x):
        return self.inner(x=x)


def test_a_module_that_gets_its_input_by_name_is_not_tried_out():
    note = note_of(Around(ByName()))
    assert "x * x in layer 'bend.inner' (1 call)" in note
    assert "Parabola" not in note


def test_classes_and_functions_in_one_line():
    network = nn.Sequential(Around(Snake()), Around(torch.exp))
    network[1].first = nn.Linear(4, WIDTH)
    note = note_of(network)
    assert note.endswith('activations={"snake": Snake, "exp": torch.exp} counts them')
    assert measured(network, **declared_in(note)).summary["activation"].tolist() == ["relu", "snake", "relu", "exp"]


@pytest.mark.parametrize(
    ("square", "written"),
    [
        (lambda y: y**2, "torch.pow"),
        (torch.square, "torch.square"),
        (lambda y: y * y, "x * x"),
        (lambda y: y.mul_(y), "x * x"),
    ],
)
def test_the_square_of_a_relu_is_told_apart(square, written):
    assert f"{written} of the output of relu in layer '(root)' (1 call)" in note_of(
        Around(lambda x: square(torch.relu(x)))
    )
    assert f"{written} in layer" in note_of(Around(square))


@pytest.mark.parametrize(
    ("function", "written"),
    [
        (lambda x: x * x, "x * x"),
        (lambda x: torch.where(x > 0, x, 0.1 * x - 0.1), "torch.where"),
        (lambda x: 1 / (x + 3), "1 / x"),
        (lambda x: torch.max(x, torch.tensor(0.1)), "torch.max"),
    ],
)
def test_what_has_no_function_to_declare(function, written):
    assert note_of(Around(function)).endswith(
        f"; to count {written}, put it into a module of its own and declare its class"
    )


class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0.5).float()


def assigned(x):
    y = x.clone()
    y[y > 1] = 1
    return y


def scaled_where_negative(x):
    y = x.clone()
    y[y < 0] *= 0.1
    return y


def copied_where_positive(x):
    y, chosen = torch.zeros_like(x), x > 0
    y[chosen] = x[chosen]
    return y


def quantised(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(x, 0.5, 0, torch.qint8).dequantize()


IN_NO_LIST = {
    "into out=": (lambda x: torch.sin(x, out=torch.empty_like(x)), "torch.sin"),
    "a part that a mask chooses, in place": (scaled_where_negative, "torch.lt"),
    "what a mask chooses": (copied_where_positive, "torch.gt"),
    "index_put": (lambda x: x.index_put((x < 0,), torch.tensor(0.0)), "torch.lt"),
    "integers": (lambda x: (4 * x).int().float(), "torch.int"),
    "quantised": (quantised, "torch.quantize_per_tensor"),
    "(x > 0).float()": (lambda x: (x > 0).float(), "torch.gt"),
    "step by autograd.Function": (Step.apply, "torch.gt"),
    "where of two numbers": (lambda x: torch.where(x > 0, 1.0, -1.0), "torch.gt"),
    "assignment to a mask": (assigned, "x[...] = y"),
    "nan_to_num of a logarithm": (lambda x: torch.special.xlog1py(x, x.abs()), "torch.abs"),
    "a special function": (torch.special.i0e, "torch.i0e"),
    "fake quantisation": (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.5, 0, -8, 8), "torch.fake_quantize"),
    "in place": (lambda x: x.clone().digamma_(), "torch.digamma"),
    "two tensors": (lambda x: torch.hypot(x, torch.ones(())), "torch.hypot"),
}


@pytest.mark.parametrize("name", IN_NO_LIST)
def test_what_bends_is_seen_by_what_it_does(name):
    function, written = IN_NO_LIST[name]
    note = note_of(Around(function))
    assert f"have no score: {written}" in note
    if "activations=" in note:
        assert len(measured(Around(function), **declared_in(note)).scores) == 2


def test_a_function_that_norms_need_too_is_not_declared():
    note = note_of(Around(lambda x: rms_norm(x**2)))
    assert note.endswith("; to count torch.pow, put it into a module of its own and declare its class")


def rms_norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def layer_norm(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5)


def variance_from_squares(x):
    mean = x.mean(1, keepdim=True)
    variance = (x * x).mean(1, keepdim=True) - mean**2
    return (x - mean) * (variance + 1e-5) ** -0.5


def softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def softmax_with_a_mask(x):
    e = x.sub(x.max(-1, keepdim=True).values).exp() * torch.ones(5, WIDTH).tril()
    return e * (1 / (e.sum(-1, keepdim=True) + 1e-9))


def log_softmax(x):
    z = x - x.max(-1, keepdim=True)[0]
    return z - z.exp().sum(-1, keepdim=True).log()


def unit_length(x):
    return x / x.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-12)


def generalised_mean(x):
    return F.avg_pool1d(x.mT.clamp(min=1e-6).pow(3.0), 5).pow(1 / 3).squeeze(-1)


def positions(x):
    table = torch.arange(5.0)[:, None] * torch.exp(torch.arange(WIDTH / 2) / 8)
    return x + torch.cat([table.sin(), table.cos()], -1)


def rotated(x):
    angles = torch.arange(5.0)[:, None]
    left, right = x.chunk(2, -1)
    return torch.cat([left * angles.cos() - right * angles.sin(), left * angles.sin() + right * angles.cos()], -1)


def causal(x):
    scores = (x @ x.mT).masked_fill(torch.ones(5, 5).triu(1).bool(), -1e9)
    return torch.where(torch.ones(5, 5).tril().bool(), scores, -1e9).softmax(-1) @ x


def chosen_by_a_statistic(x):
    y = x.clone()
    y[x.abs().sum(-1) > 1e9] = 0
    return y


PLAIN = {
    "chosen by a statistic": chosen_by_a_statistic,
    "affine": lambda x: (2 * x - 1).neg() / 3 + x.mean(-1, keepdim=True),
    "powers of one": lambda x: x**1,
    "formula of a sigmoid": lambda x: 1 / (1 + torch.exp(-x)),
    "formula of a gelu": lambda x: 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3))),
    "softplus": lambda x: torch.log1p(torch.exp(x)),
    "temperature": lambda x: x * torch.exp(torch.tensor(0.5)).clamp(max=100),
    "product of halves": lambda x: torch.cat([x[..., :8] * x[..., 8:]] * 2, -1),
    "dropout": lambda x: F.dropout(x, 0.5, training=False),
    "rounded positions": lambda x: x[:, (torch.arange(5.0) / 2).floor().long()],
    **{
        function.__name__: function
        for function in (
            rms_norm, layer_norm, variance_from_squares, softmax, softmax_with_a_mask, log_softmax, unit_length,
            generalised_mean, positions, rotated, causal,
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_norms_softmaxes_and_positions_are_no_activations(name):
    assert note_of(Around(PLAIN[name])) == ""


def test_a_network_without_another_activation():
    class Waves(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(8, WIDTH), nn.Linear(WIDTH, 4)

        def forward(self, x):
            return self.second(torch.sin(30 * self.first(x)))

    with pytest.raises(AffscoreError, match=r"torch\.sin in layer '\(root\)' \(1 call\)") as caught:
        measured(Waves())
    assert measured(Waves(), **declared_in(str(caught.value))).summary["activation"].tolist() == ["sin"]


def test_many_layers_are_counted():
    network = nn.Sequential(*[layer for _ in range(5) for layer in (nn.Linear(8, 8), nn.ReLU(), Snake())])
    note = note_of(network)
    assert "torch.sin in layers '2', '5', '8' and 2 more (5 calls), torch.pow in layers '2', '5', '8'" in note


@pytest.mark.parametrize("name", ["convnext_tiny", "efficientnet_b0", "googlenet", "maxvit_t", "swin_v2_t", "vit_b_16"])
@pytest.mark.slow
def test_networks_of_torchvision_have_no_such_function(name):
    class Deaf:
        def before(self, call, x, apply): ...

        def after(self, call, y): ...

    network, images = without_numbers(name), torch.zeros(1, 3, 224, 224, device="meta")
    with torch.no_grad(), recording(network, Deaf()) as recorder, Uncounted(recorder) as uncounted:
        recorder.start(images)
        network(images)
    assert recorder.calls
    assert uncounted.sentence == ""


def test_nothing_is_left_behind():
    before = dict(nn.modules.module._global_forward_hooks)
    note_of(Around(Snake()))
    assert dict(nn.modules.module._global_forward_hooks) == before


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # TorchScript is on its way out; there are networks with it
    scripted = torch.jit.script(scripted_tanh)


def test_both_kinds_of_activations_without_a_score_are_noted():
    notes = measured(Around(lambda x: x + scripted(torch.sin(x)))).notes
    assert any("torch.sin in layer" in note for note in notes)
    assert any("cannot be seen (1 x tanh)" in note for note in notes)


def test_exponents_that_are_tensors_and_arguments_by_name():
    power = torch.rand(WIDTH) + 1
    notes = [note_of(Around(lambda x: (x.abs() + 1).pow(power).sin())),
             note_of(Around(lambda x: torch.div(input=torch.ones_like(x), other=2 + torch.sin(x))))]  # fmt: skip
    assert "torch.pow" in notes[0]
    assert "torch.sin" in notes[0]
    assert "torch.sin" in notes[1]


def test_what_is_not_checked_is_said(monkeypatch):
    follow = Uncounted._follow

    def failing(self, event, *arguments):
        if event.function is torch.sin:
            raise RuntimeError("no mode")
        follow(self, event, *arguments)

    monkeypatch.setattr(Uncounted, "_follow", failing)
    notes = measured(Around(torch.sin)).notes
    assert any("was not checked" in note and "no mode" in note for note in notes)
