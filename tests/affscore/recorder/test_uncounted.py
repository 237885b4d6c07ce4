"""Functions that bend features elementwise and are not counted are named; those of norms and softmaxes are not."""

import re
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore import AffscoreError, signature
from affscore.recorder import recording
from affscore.recorder.uncounted import Uncounted
from tests.affscore.recorder.hard_networks import Net, module_class
from tests.affscore.recorder.torchvision_networks import without_numbers

WIDTH = 16


def around(function):
    """A function between linear layers, behind a ReLU that counts."""
    torch.manual_seed(0)
    return Net(
        lambda net, x: net.last(net.bend(net.second(torch.relu(net.first(x))))),
        first=nn.Linear(8, WIDTH), second=nn.Linear(WIDTH, WIDTH), last=nn.Linear(WIDTH, 4), bend=function,
    )  # fmt: skip


def scripted_tanh(x):
    return torch.tanh(x)


Snake = module_class("Snake", lambda x: x + torch.sin(2 * x) ** 2 / 2)
SquaredReLU = module_class("SquaredReLU", lambda x: torch.relu(x) ** 2)
Parabola = module_class("Parabola", lambda x: x * x)


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
    (line,) = re.findall(r"activations=\[.*?\]", note)
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
    note = note_of(around(function))
    line = f"activations=[{written}]"
    assert note == (
        f"functions bend features elementwise and have no score: {written} in layer '(root)' (1 call); {line} counts it"
    )
    result = measured(around(function), **declared_in(note))
    assert result.summary["activation"].tolist() == ["relu", written.removeprefix("torch.")]
    assert not any("bend features" in note for note in result.notes)


@pytest.mark.parametrize("name", CLASSES)
def test_of_a_module_that_is_elementwise_the_class_is_declared(name):
    network = nn.Sequential(around(CLASSES[name]()), nn.Linear(4, 4), CLASSES[name]())
    note = note_of(network)
    assert "in layers '0.bend', '2' (2 calls)" in note
    assert note.endswith(f"; activations=[{name}] counts them")
    result = measured(network, **declared_in(note))
    assert result.summary["activation"].tolist() == ["relu", name.lower(), name.lower()]
    assert not any("bend features" in note for note in result.notes)


def test_a_module_that_gets_its_input_by_name_is_not_tried_out():
    note = note_of(around(Net(lambda net, x: net.inner(x=x), inner=Parabola())))
    assert "x * x in layer 'bend.inner' (1 call)" in note
    assert "Parabola" not in note


def test_classes_and_functions_in_one_line():
    network = nn.Sequential(around(Snake()), around(torch.exp))
    network[1].first = nn.Linear(4, WIDTH)
    note = note_of(network)
    assert note.endswith("activations=[Snake, torch.exp] counts them")
    assert measured(network, **declared_in(note)).summary["activation"].tolist() == ["relu", "snake", "relu", "exp"]


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
    with warnings.catch_warnings(action="ignore"):
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
    note = note_of(around(function))
    assert f"have no score: {written}" in note
    if "activations=" in note:
        assert len(measured(around(function), **declared_in(note)).scores) == 2


def spectrum(function):
    return lambda x: function(torch.fft.rfft(x)).sum(-1, keepdim=True).real + x


NOT_TO_DECLARE = {
    "square": (lambda x: x * x, "x * x"),
    "choice": (lambda x: torch.where(x > 0, x, 0.1 * x - 0.1), "torch.where"),
    "quotient": (lambda x: 1 / (x + 3), "1 / x"),
    "the larger of two": (lambda x: torch.max(x, torch.tensor(0.1)), "torch.max"),
    "what norms need too": (lambda x: rms_norm(x**2), "torch.pow"),
    "complex exponential": (spectrum(torch.exp), "torch.exp"),
    "complex modulus": (spectrum(torch.abs), "torch.abs"),
    "complex angle": (spectrum(torch.angle), "torch.angle"),
    "complex power": (spectrum(lambda z: z**2), "torch.pow"),
    "complex, times its conjugate": (spectrum(lambda z: z * z.conj()), "torch.mul"),
    "complex, times itself": (spectrum(lambda z: z * z), "x * x"),
    "complex, a mask": (spectrum(lambda z: z * (z.real > 0)), "torch.mul"),
    "complex square": (spectrum(torch.square), "torch.square"),
}


@pytest.mark.parametrize(("function", "written"), NOT_TO_DECLARE.values(), ids=NOT_TO_DECLARE)
def test_what_has_no_function_to_declare(function, written):
    note = note_of(around(function))
    assert f"have no score: {written} in layer '(root)' (1 call); to count" in note
    assert note.endswith(f"; to count {written}, put it into a module of its own and declare its class")


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


LINEAR_IN_COMPLEX = {
    "parts": lambda x: torch.fft.fft(x).real + torch.fft.fft(x).imag,
    "a filter": lambda x: torch.fft.irfft(torch.fft.rfft(x) * torch.linspace(1, 2, WIDTH // 2 + 1)),
    "rotated": lambda x: torch.view_as_real(
        torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones(8), torch.arange(8.0))
    ).flatten(-2),
    "conjugate": lambda x: torch.fft.ifft((torch.fft.fft(x).conj() + 1) / 2j).imag,
}


@pytest.mark.parametrize("function", (PLAIN | LINEAR_IN_COMPLEX).values(), ids=PLAIN | LINEAR_IN_COMPLEX)
def test_norms_softmaxes_positions_and_linear_functions_are_no_activations(function):
    assert note_of(around(function)) == ""


def test_a_network_without_another_activation():
    waves = Net(
        lambda net, x: net.second(torch.sin(net.first(x))), first=nn.Linear(8, WIDTH), second=nn.Linear(WIDTH, 4)
    )
    with pytest.raises(AffscoreError, match=r"torch\.sin in layer '\(root\)' \(1 call\)") as caught:
        measured(waves)
    assert measured(waves, **declared_in(str(caught.value))).summary["activation"].tolist() == ["sin"]


def test_many_layers_are_counted():
    network = nn.Sequential(*[layer for _ in range(5) for layer in (nn.Linear(8, 8), nn.ReLU(), Snake())])
    note = note_of(network)
    assert "torch.sin in layers '2', '5', '8' and 2 more (5 calls), torch.pow in layers '2', '5', '8'" in note


@pytest.mark.parametrize("name", ["convnext_tiny", "efficientnet_b0", "googlenet", "maxvit_t", "swin_v2_t", "vit_b_16"])
@pytest.mark.slow
def test_networks_of_torchvision_have_no_such_function(name):
    network, images = without_numbers(name), torch.zeros(1, 3, 224, 224, device="meta")
    with torch.no_grad(), recording(network) as recorder, Uncounted(recorder) as uncounted:
        recorder.start(images)
        network(images)
    assert recorder.calls
    assert uncounted.sentence == ""


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # TorchScript is on its way out; there are networks with it
    scripted = torch.jit.script(scripted_tanh)


def test_both_kinds_of_activations_without_a_score_are_noted():
    notes = measured(around(lambda x: x + scripted(torch.sin(x)))).notes
    assert any("torch.sin in layer" in note for note in notes)
    assert any("cannot be seen (1 x tanh)" in note for note in notes)


def test_exponents_that_are_tensors_and_arguments_by_name():
    power = torch.rand(WIDTH) + 1
    notes = [note_of(around(lambda x: (x.abs() + 1).pow(power).sin())),
             note_of(around(lambda x: torch.div(input=torch.ones_like(x), other=2 + torch.sin(x))))]  # fmt: skip
    assert "torch.pow" in notes[0]
    assert "torch.sin" in notes[0]
    assert "torch.sin" in notes[1]


@pytest.mark.parametrize("order", [1, -1])
def test_a_product_of_two_features_hides_no_square_and_is_none(order):
    bilinear = Net(lambda net, x: net.a(x) * net.b(x), a=nn.Linear(8, 8), b=nn.Linear(8, 8))
    parts = [bilinear, nn.Linear(8, 8), Parabola()][::order]
    note = note_of(nn.Sequential(nn.Linear(8, 8), *parts, nn.ReLU()))
    assert f"x * x in layer '{2 + order}' (1 call)" in note


def floors(x):
    return torch.maximum(torch.maximum(x, torch.tensor(-1e9)), torch.tensor(0.5))


def test_a_bound_out_of_reach_hides_no_other_bound():
    assert "torch.maximum in layer '(root)' (1 call)" in note_of(around(floors))


def put(x, places, value=0.0):
    y = x.clone()
    y[places] = value
    return y


MASKS = {
    "of one bound": lambda b: b > 0,
    "of two": lambda b: (b > -1) & (b < 1),
    "negated": lambda b: ~b.le(0),
    "of integers": lambda b: torch.bitwise_and((b > 0).int(), 1).bool(),
    "of a copy": lambda b: b[..., [*range(WIDTH)]].ge(0),
    "in another shape": lambda b: (b.unflatten(-1, (2, -1)) > 0).flatten(-2),
    "for each position": lambda b: b[..., :1] > 0,
}
CHOICES = {
    "product": lambda a, mask: a * mask,
    "product of numbers": lambda a, mask: a * mask.float(),
    "where": lambda a, mask: torch.where(mask, a, 0.0),
    "where of two": lambda a, mask: torch.where(mask, a, a.flip(-1)),
    "masked_fill": lambda a, mask: a.masked_fill(mask, 0),
    "assigned": lambda a, mask: put(a, mask.expand(a.shape)),
    "indices": lambda a, mask: put(a, torch.where(mask.expand(a.shape))),
    "nonzero": lambda a, mask: put(a, mask.expand(a.shape).nonzero().unbind(-1)),
    "gather": lambda a, mask: torch.stack([a, 2 * a], -1).gather(-1, mask.expand(a.shape).long()[..., None]).sum(-1),
}


def chosen(choose):
    """Features that a function chooses among by other features."""
    torch.manual_seed(0)
    return Net(
        lambda net, x: torch.relu(net.last(choose(net.a(x), net.b(x)))),
        a=nn.Linear(8, WIDTH), b=nn.Linear(8, WIDTH), last=nn.Linear(WIDTH, 4),
    )  # fmt: skip


TABLE = torch.linspace(0, 1, 6)
BINS = torch.linspace(-1, 1, 5)
TABLES = {
    "indexed": lambda a, _: TABLE[torch.bucketize(a, BINS)],
    "take": lambda a, _: TABLE.take(torch.bucketize(a, BINS)),
    "of two": lambda a, b: TABLE[:2][(b > 0).long()] * a,
    "embedding": lambda a, _: F.embedding(torch.bucketize(a, BINS), TABLE[:, None]).squeeze(-1),
    "numbers": lambda a, _: torch.bucketize(a, BINS).float(),
}


BY_MASKS = {
    f"{choice}, {mask}": lambda a, b, choice=choice, mask=mask: CHOICES[choice](a, MASKS[mask](b))
    for choice in CHOICES
    for mask in MASKS
}


@pytest.mark.parametrize("function", (BY_MASKS | TABLES).values(), ids=BY_MASKS | TABLES)
def test_a_choice_by_features_is_named(function):
    assert re.search(r"have no score: torch\.(gt|le|ge|lt|bitwise_and|bucketize) in layer", note_of(chosen(function)))


UNCHOSEN = {
    "product": torch.mul,
    "by statistics": lambda a, b: a * (b.abs().sum(-1, keepdim=True) < 1e3),
    "by positions": lambda a, _: a.masked_fill(torch.arange(5)[:, None] > 2, 0),
    "what is no number": lambda a, b: torch.where(b.isnan(), 0.0, a).masked_fill(b == float("-inf"), 0),
    "the largest": lambda a, b: a.gather(-1, b.argmax(-1, keepdim=True)) + a,
    "dropout": lambda a, _: F.dropout(a, training=False),
    "the same": lambda a, _: torch.where(a > 0, a, a),
}


@pytest.mark.parametrize("name", UNCHOSEN)
def test_no_choice_by_features_is_named(name):
    assert note_of(chosen(UNCHOSEN[name])) == ""


def test_padding_and_the_way_to_experts_are_no_choice_among_features():
    def routed(net, x):
        y, way = torch.zeros(len(x), 5, 4), (net.inner.b(x)[:, 0, 0] > 0).long()
        for expert in range(2):
            rows = (way == expert).nonzero()[:, 0]
            y[rows] = net.inner(x[rows])
        return y

    for run in (lambda net, x: net.inner(x).masked_fill(x[..., :1] > 0, 0), routed):
        assert note_of(Net(run, inner=chosen(torch.add))) == ""


def hooked(kind, *hooks):
    """A network of two ReLUs with hooks on the input or output of its third module."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
    register = {"before": network[2].register_forward_pre_hook, "after": network[2].register_forward_hook}[kind]
    for hook in hooks:
        register(lambda module, *given, hook=hook: hook(given[0][0] if kind == "before" else given[1]))
    return network


WATCHING = {
    "dead units": lambda x: (x > 0).float().mean().item() and None,
    "a sine": lambda x: torch.sin(x).sum().item() and None,
    "kept": (kept := []).append,
    "a sine that is kept": lambda x: kept.append(torch.sin(x)),
    "an activation that is kept": lambda x: kept.append(torch.tanh(x)),
    "an activation in a formula": lambda x: kept.append(x * torch.sigmoid(x)),
    "what it was given": lambda x: (torch.tanh(x), x)[1],
}


@pytest.mark.parametrize("kind", ["before", "after"])
@pytest.mark.parametrize("name", WATCHING)
def test_a_hook_that_watches_bends_nothing_beside_one_that_changes_the_output(name, kind):
    watching = WATCHING[name]
    assert note_of(hooked(kind, watching)) == ""
    for hooks in ([watching, torch.sigmoid], [torch.sigmoid, watching], [watching, torch.sigmoid, watching]):
        result = measured(hooked(kind, *hooks))
        assert sorted(result.summary["activation"]) == ["relu", "relu", "sigmoid"]
        assert not any("bend features" in note for note in result.notes)


STORED = {
    "tanh": torch.tanh,
    "torch.sin": torch.sin,
    "silu": lambda x: x * torch.sigmoid(x),
    "torch.gt": lambda x: (x > 0).float(),
}


@pytest.mark.parametrize("name", STORED)
def test_what_a_hook_stores_and_another_uses_is_named(name):
    network, stored = hooked("after"), []
    network[0].register_forward_hook(lambda m, i, o: stored.append(STORED[name](o)))
    network[2].register_forward_hook(lambda m, i, o: o + stored.pop())
    note = note_of(network)
    assert f"no score: {name} in layer '0' (1 call); to count {name}, put it into a module" in note


def test_a_hook_may_remove_itself_and_is_as_before():
    network = hooked("after", torch.sigmoid)
    (before,) = network[2]._forward_hooks.values()
    once = network[0].register_forward_hook(lambda *_: once.remove())
    measured(network)
    assert [*network[2]._forward_hooks.values()] == [before]
    assert not network[0]._forward_hooks


FOR_EACH_SAMPLE = {
    "sine": torch.sin,
    "square": lambda x: x * x,
    "relu by where": lambda x: torch.where(x > 0, x, 0.0),
    "relu by a mask": lambda x: x * (x > 0),
    "relu by masked_fill": lambda x: x.masked_fill(x < 0, 0),
    "of a part": lambda x: torch.cat([x[..., :4] * (x[..., :4] > 0), x[..., 4:]], -1),
    "sigmoid by an exponential": lambda x: 1 / (1 + torch.exp(-x)),
    "affine": lambda x: 2 * x + torch.arange(float(WIDTH)) - x.mean(-1, keepdim=True),
    "the same": lambda x: torch.where(x > 0, x, x),
    "softmax": lambda x: x.softmax(-1),
    "a norm": lambda x: rms_norm(x),
    "product": lambda x: x * x.flip(-1),
}
AFFINE = {"affine", "the same", "softmax", "a norm", "product"}


@pytest.mark.parametrize("inside", [lambda f: torch.vmap(f), lambda f: torch.vmap(torch.vmap(f))])
@pytest.mark.parametrize("name", FOR_EACH_SAMPLE)
def test_under_vmap_the_same_functions_are_named(name, inside):
    assert bool(note_of(around(inside(FOR_EACH_SAMPLE[name])))) == (name not in AFFINE)
