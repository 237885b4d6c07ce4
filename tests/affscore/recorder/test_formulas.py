"""Activations that are written out: each counts once, under its own name, and nothing else does."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore.recorder import recording
from affscore.recorder.formulas import name_by_values
from tests.affscore.recorder.hard_networks import Net
from tests.affscore.recorder.seen import Seen, seen_in


def written(formula):
    """A linear map, a formula, a linear map."""
    return Net(lambda net, x: net.last(formula(net.first(x))), first=nn.Linear(5, 6), last=nn.Linear(6, 3))


def swish_in_place(x):
    return x.mul_(x.sigmoid())


def hard_swish(x):
    return x.mul(F.relu6(x + 3.0).div_(6.0))


def new_gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def threshold_softplus(x):
    return torch.where(x > 20, x, torch.log1p(torch.exp(x)))


class MemoryEfficientSwish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)


FORMULAS = {
    "x * sigmoid(x)": (lambda x: x * torch.sigmoid(x), "silu", F.silu),
    "sigmoid(x) * x": (lambda x: torch.sigmoid(x).mul_(x), "silu", F.silu),
    "x.mul_(x.sigmoid())": (swish_in_place, "silu", F.silu),
    "x / (1 + exp(-x))": (lambda x: x / (1 + torch.exp(-x)), "silu", F.silu),
    "autograd function": (MemoryEfficientSwish.apply, "silu", F.silu),
    "quick gelu": (lambda x: x * torch.sigmoid(1.702 * x), "quick_gelu", lambda x: x * torch.sigmoid(1.702 * x)),
    "erf gelu": (lambda x: x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0))), "gelu", F.gelu),
    "erf gelu, halved last": (lambda x: x * (1.0 + torch.erf(x / math.sqrt(2.0))) / 2, "gelu", F.gelu),
    "new gelu": (new_gelu, "gelu", lambda x: F.gelu(x, approximate="tanh")),
    "mish": (lambda x: x * torch.tanh(F.softplus(x)), "mish", F.mish),
    "hard swish": (hard_swish, "hardswish", F.hardswish),
    "hard mish": (lambda x: 0.5 * x * (x + 2).clamp(0, 2), "hard_mish", lambda x: 0.5 * x * (x + 2).clamp(0, 2)),
    "maximum(x, 0)": (lambda x: torch.maximum(x, torch.zeros_like(x)), "relu", F.relu),
    "maximum(x, a number)": (lambda x: torch.maximum(x, torch.tensor(0.0)), "relu", F.relu),
    "maximum(x, zeros)": (lambda x: torch.maximum(torch.zeros(x.shape), x), "relu", F.relu),
    "x.max(zeros)": (lambda x: x.max(x.new_zeros(x.shape[-1])), "relu", F.relu),
    "where": (lambda x: torch.where(x > 0, x, 0.0), "relu", F.relu),
    "x * (x > 0)": (lambda x: x * (x > 0), "relu", F.relu),
    "masked_fill": (lambda x: x.masked_fill(x < 0, 0.0), "relu", F.relu),
    "maximum(x, 0.1 x)": (lambda x: torch.maximum(x, 0.1 * x), "leaky_relu", lambda x: F.leaky_relu(x, 0.1)),
    "where, leaky": (lambda x: torch.where(x >= 0, x, 0.1 * x), "leaky_relu", lambda x: F.leaky_relu(x, 0.1)),
    "where, elu": (lambda x: torch.where(x > 0, x, torch.exp(x) - 1), "elu", F.elu),
    "softsign": (lambda x: x / (1 + x.abs()), "softsign", F.softsign),
    "1 / (1 + exp(-x))": (lambda x: 1 / (1 + torch.exp(-x)), "sigmoid", torch.sigmoid),
    "(1 + exp(-x)) ** -1": (lambda x: (1 + (-x).exp()).reciprocal(), "sigmoid", torch.sigmoid),
    "log(1 + exp(x))": (lambda x: torch.log(1 + torch.exp(x)), "softplus", F.softplus),
    "softplus, guarded": (threshold_softplus, "softplus", F.softplus),
    "relu(x) * x": (lambda x: x * F.relu(x), "relu_squared", lambda x: F.relu(x) ** 2),
    "x * tanh(x)": (lambda x: x * torch.tanh(x), "x*tanh", lambda x: x * torch.tanh(x)),
}


class Applying(Seen):
    """Keeps what the activation makes of other numbers, too."""

    def before(self, call, x, apply):
        super().before(call, x, apply)
        self.other = torch.linspace(-3, 3, 14, dtype=x.dtype).view(2, 7)
        self.applied = apply(self.other)


@pytest.mark.parametrize(("formula", "name", "reference"), FORMULAS.values(), ids=FORMULAS)
def test_a_formula_is_one_activation_of_what_goes_into_it(formula, name, reference):
    model, x, listener = written(formula).double(), 3 * torch.randn(40, 5, dtype=torch.float64), Applying()
    with torch.no_grad(), recording(model, listener) as recorder:
        recorder.start(x)
        model(x)
    assert [(call.activation, call.depth, call.kind) for call in recorder.calls] == [(name, 1, "hidden")]
    torch.testing.assert_close(listener.inputs[0], model.first(x))
    for found, y in ((listener.outputs[0], reference(model.first(x))), (listener.applied, reference(listener.other))):
        scale = (found @ y.T).trace() / (y @ y.T).trace()  # a factor behind the product may come later
        torch.testing.assert_close(found, scale * y)
        assert scale > 0


VIEWS = {
    "itself": lambda x: x,
    "a part": lambda x: x[:, :4],
    "every other": lambda x: x[..., ::2],
    "one": lambda x: x[:, 2],
    "a chunk": lambda x: x.chunk(2, -1)[1],
    "another shape": lambda x: x.view(-1, 2, 3),
    "its shape": lambda x: x.view(-1, 6),
    "another axis": lambda x: x[:, None],
    "transposed": lambda x: x.T,
    "expanded": lambda x: x[:, None].expand(-1, 3, 6),
    "all of it": lambda x: x[:],
    "detached": lambda x: x.detach(),
}
OF_VIEWS = {
    "product with a mask": (lambda look: look() * (look() > 0), "relu"),
    "product with an activation": (lambda look: look() * torch.sigmoid(look()), "silu"),
    "the other way round": (lambda look: torch.sigmoid(look()).mul(look()), "silu"),
    "choice": (lambda look: torch.where(look() > 0, look(), 0.1 * look()), "leaky_relu"),
    "quotient": (lambda look: look() / (1 + torch.exp(-look())), "silu"),
    "maximum": (lambda look: torch.maximum(look(), torch.zeros(())), "relu"),
    "in place": (lambda look: look().mul_(look() > 0), "relu"),
    "assigned": (lambda look: (y := look(), y.__setitem__(look() < 0, 0))[0], "relu"),
}


@pytest.mark.parametrize("formula", OF_VIEWS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_formula_of_a_tensor_that_is_viewed_again_each_time(view, formula):
    spelled, name = OF_VIEWS[formula]
    if view == "expanded" and formula in ("in place", "assigned"):
        return  # PyTorch refuses it

    def forward(x):
        y = spelled(lambda: VIEWS[view](x))
        return x + y.sum()

    listener, recorder = seen_in(written(forward), torch.randn(8, 5))
    assert [call.activation for call in recorder.calls] == [name]
    assert listener.inputs[0].shape == VIEWS[view](torch.zeros(8, 6)).shape


def overwritten(x):
    gate = torch.sigmoid(x)
    x.add_(torch.randn(x.shape, generator=torch.Generator().manual_seed(0)))
    return x * gate


def overwritten_in_part(x):
    gate = torch.sigmoid(x[:, :4])
    x[:, :4] += torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    return x + (x[:, :4] * gate).sum()


OTHERS = {
    "all of it was overwritten meanwhile": overwritten,
    "a part was overwritten meanwhile": overwritten_in_part,
    "another part": lambda x: x + (x[:, :4] * torch.sigmoid(x[:, 1:5])).sum(),
    "its bits, turned": lambda x: (
        x + (x[:, :4] * torch.sigmoid(x[:, :4].view(torch.int32).view(torch.float32).flip(0))).sum()
    ),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_formula_of_other_numbers_is_not_one(other):
    _, recorder = seen_in(written(other), torch.randn(8, 5))
    assert [call.activation for call in recorder.calls] == ["sigmoid"]


def chunks(f):
    return lambda x: f(*x.chunk(2, -1)).repeat(1, 2)


NOT_FUSED = {
    "square": (lambda x: x * x, []),
    "norm": (lambda x: x / (x * x).mean(-1, keepdim=True).sqrt(), []),
    "norm of an activation": (lambda x: (y := F.relu(x)) / ((y * y).mean() + 1).sqrt(), ["relu"]),
    "power of an activation": (lambda x: F.relu(x) ** 2, ["relu"]),
    "residual": (lambda x: x + F.relu(x), ["relu"]),
    "one behind the other": (lambda x: torch.tanh(2 * F.relu(x) + 1), ["relu", "tanh"]),
    "unit of two halves": (chunks(lambda a, b: torch.tanh(a) * torch.sigmoid(b)), ["tanh", "sigmoid"]),
    "guarded quotient": (lambda x: x / torch.maximum(x.abs().sum(-1, keepdim=True), torch.tensor(1e-6)), []),
    "lower bound": (lambda x: torch.max(x, torch.tensor(torch.finfo(x.dtype).min)), []),
    "other clamps": (lambda x: torch.minimum(x, torch.tensor(2.0)), []),
    "masks": (lambda x: x.masked_fill(torch.arange(6) > 2, -1.0), []),
    "maxout": (chunks(torch.maximum), []),
    "choice by another": (chunks(lambda a, b: torch.where(b > 0, a, 0.0)), []),
    "softmax": (lambda x: x.exp() / x.exp().sum(-1, keepdim=True), []),
    "linear": (lambda x: 2 * x - 0.5 * x, []),
}


@pytest.mark.parametrize(("formula", "names"), NOT_FUSED.values(), ids=NOT_FUSED)
def test_what_is_no_formula_of_an_activation(formula, names):
    _, recorder = seen_in(nn.Sequential(written(formula), nn.Tanh()), torch.randn(8, 5))
    assert [call.activation for call in recorder.calls] == [*names, "tanh"]


def test_the_source_is_the_nearest_tensor_on_all_ways():
    """The swish of a tanh is two activations."""
    listener, recorder = seen_in(written(lambda x: (y := torch.tanh(x)) * torch.sigmoid(y)), torch.randn(8, 5))
    assert [(call.activation, call.depth) for call in recorder.calls] == [("tanh", 1), ("silu", 2)]
    assert torch.equal(listener.inputs[1], listener.outputs[0])


def test_a_formula_in_a_network_on_the_meta_device():
    _, recorder = seen_in(written(lambda x: x * torch.sigmoid(x)).to("meta"), torch.zeros(2, 5, device="meta"))
    assert [call.activation for call in recorder.calls] == ["silu"]


def test_parameters_of_any_shape():
    """A swish with a factor for each channel has no name, and cannot be applied to vectors of another shape."""

    beta = nn.Parameter(torch.linspace(0.5, 1.5, 3).view(1, 3, 1, 1))
    swish = Net(lambda net, x: x * torch.sigmoid(net.beta * x), beta=beta)
    listener, recorder = seen_in(swish, x := torch.randn(2, 3, 4, 4))
    assert [call.activation for call in recorder.calls] == ["x*sigmoid"]
    assert torch.equal(listener.inputs[0], x)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda z: 3 * F.gelu(z), "gelu"),
        (lambda z: F.gelu(z, approximate="tanh"), "gelu"),
        (lambda z: -F.relu(z), None),
        (lambda z: z, None),
        (lambda z: 0 * z, None),
        (lambda z: z + F.relu(z), "leaky_relu"),
        (lambda z: F.relu(z) + 1e-4, None),
        (lambda z: z.clamp(0, 8), None),
        (lambda z: z.clamp(min=0), "relu"),
        (lambda z: F.silu(2 * z), None),
        (lambda z: z.view(43, 3), None),
        (lambda z: z + torch.zeros(3, 3), None),
    ],
)
def test_names_by_values(function, name):
    assert name_by_values(function) == name


PRODUCTS = {
    "mul": torch.mul,
    "einsum": lambda a, b: torch.einsum("nc,nc->nc", a, b),
    "einsum of any axes": lambda a, b: torch.einsum("...,...->...", b, a),
    "addcmul": lambda a, b: torch.addcmul(torch.zeros_like(a), a, b),
    "addcmul of a number": lambda a, b: torch.addcmul(torch.zeros((), dtype=a.dtype), a, b, value=2),
    "lerp": lambda a, b: torch.lerp(torch.zeros_like(a), a, b),
    "mul, in place": lambda a, b: b.mul_(a),
}
NO_PRODUCTS = {
    "sum": torch.add,
    "product and sum": lambda a, b: torch.addcmul(a, a, b),
    "mean": lambda a, b: torch.lerp(a, b, 0.5),
    "largest": torch.maximum,
}


@pytest.mark.parametrize("gate", ["sigmoid", "tanh"])
@pytest.mark.parametrize("shape", [(8, 5), (8, 2, 5)])
@pytest.mark.parametrize("product", PRODUCTS | NO_PRODUCTS)
def test_a_product_with_an_activation_is_one_by_whatever_function(product, shape, gate):
    if product == "einsum" and len(shape) > 2:
        return
    multiply = (PRODUCTS | NO_PRODUCTS)[product]
    _, recorder = seen_in(written(lambda x: multiply(x, getattr(torch, gate)(x))), torch.randn(shape))
    together = {"sigmoid": "silu", "tanh": "x*tanh"}[gate] if product in PRODUCTS else gate
    assert [call.activation for call in recorder.calls] == [together]
