"""What a function does is found out by trying it: compared with a slow reference on functions that are in no list."""

import inspect
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import nn

from affscore import AffscoreError
from affscore.recorder import recording
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import Origin
from affscore.recorder.effects import Effects, bends, check_elementwise
from affscore.recorder.functions import Effect
from affscore.recorder.uncounted import Uncounted
from tests.affscore.recorder.hard_networks import Net

ENTRIES = 8
LEFT_OUT = ("cudnn", "mkldnn", "miopen", "fbgemm", "share_memory", "pin_memory")  # they need a device
SAME = ("shape", "dtype", "layout", "device")
RANDOM = "bernoulli dropout alpha_dropout feature_alpha_dropout rrelu gumbel_softmax poisson rand".split()


def functions_of_one_tensor():
    """Every public function of PyTorch that needs a tensor alone and returns one of its shape."""
    found, x = {}, torch.rand(3, ENTRIES)
    with warnings.catch_warnings(action="ignore"):
        for function, written in torch.overrides.get_testing_overrides().items():
            name = getattr(function, "__name__", "_")
            needed = [p for p in inspect.signature(written).parameters.values() if p.default is p.empty]
            if name.startswith(("_", *LEFT_OUT)) or len(needed) != 1 or any(word in name for word in RANDOM):
                continue
            try:
                y = function(x.clone())
            except Exception:  # noqa: BLE001  # it takes something else
                continue
            if isinstance(y, torch.Tensor) and all(getattr(y, one) == getattr(x, one) for one in SAME):
                found[function] = name
    return found


FUNCTIONS = functions_of_one_tensor()
LOOKS = ("like", "new_")


def reference(function):
    """Entry by entry, in float64: which outputs change with each input, and whether slopes differ between points."""
    generator = torch.Generator().manual_seed(0)
    points = 6 * torch.randn(200, 3, ENTRIES, dtype=torch.float64, generator=generator)
    one = points[0]
    for row in range(3):
        for column in range(ENTRIES):
            other = one.clone()
            other[row, column] = points[1, row, column]
            changed = ~torch.isclose(function(one.clone()), function(other), equal_nan=True)
            changed[row, column] = False
            if changed.any():
                return Effect(False, False)
    at = torch.linspace(-20, 20, 401, dtype=torch.float64).view(401, 1, 1).expand(401, 3, ENTRIES)
    y = torch.stack([function(z.clone()) for z in at])[:, 0, 0]
    slopes = y.diff()[y.diff().isfinite()]
    return Effect(
        True, bool(len(slopes)) and float(slopes.max() - slopes.min()) > 1e-6 * float(y[y.isfinite()].abs().max())
    )


def test_there_are_many():
    assert len(FUNCTIONS) > 150


@pytest.mark.parametrize("function", FUNCTIONS, ids=[*FUNCTIONS.values()])
def test_the_effect_of_every_function_of_pytorch_is_that_of_the_reference(function):
    name = FUNCTIONS[function]
    if any(word in name for word in LOOKS):
        return
    x = torch.rand(3, ENTRIES)
    with warnings.catch_warnings(action="ignore"):
        assert Effects().of(function, (x,), {}, x) == reference(function)


PIECES = {
    "scale": lambda z: 0.5 * z,
    "shift": lambda z: z - 0.3,
    "sum with itself": lambda z: z + z,
    "cast": lambda z: z.to(torch.float64).type_as(z),
    "copy": lambda z: z.clone().contiguous(),
    "reshaped": lambda z: z.flatten(1).view(z.shape),
    "minus": torch.neg,
    "lerp": lambda z: torch.lerp(z, torch.zeros_like(z), 0.25),
    "softshrink by hand": lambda z: z - z.clamp(-0.5, 0.5) * 0.5,
    "sinc": torch.sinc,
    "bessel": torch.special.bessel_j0,
    "triangle": lambda z: (z - z.round()).abs(),
    "assigned": lambda z: torch.where(z > 0.2, torch.full_like(z, 0.7), z),
    "logaddexp": lambda z: torch.logaddexp(z, torch.ones(())),
}
BENT = {"softshrink by hand", "sinc", "bessel", "triangle", "assigned", "logaddexp"}


@given(chain=st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_chain_of_functions_is_noted_where_it_bends(chain):
    def run(net, x):
        y = net.first(x)
        for name in chain:
            y = PIECES[name](y)
        return net.last(y)

    torch.manual_seed(0)
    x, model = 3 * torch.randn(4, 5), Net(run, first=nn.Linear(5, 16), last=nn.Linear(16, 4))
    with torch.no_grad(), recording(model) as recorder, Uncounted(recorder) as uncounted:
        recorder.start(x)
        model(x)
    assert bool(uncounted.sentence or recorder.calls) == bool(BENT & set(chain))


X, Y, EFFECTS = torch.rand(3, ENTRIES), torch.rand(3, ENTRIES), [Effect(True, False), Effect(True, True)]
ALIKE = {
    "a product with itself": ([torch.mul, X, Y], [torch.mul, X, X]),
    "a sum with itself, then a maximum": ([torch.maximum, X, X], [torch.maximum, X, Y]),
    "a constant tensor": ([torch.maximum, X, torch.tensor(-1e9)], [torch.maximum, X, torch.tensor(0.5)]),
    "of one entry": ([torch.pow, X, torch.ones(1)], [torch.pow, X, torch.full((1,), 2.0)]),
    "a number of NumPy": ([torch.pow, X, np.float32(1)], [torch.pow, X, np.float32(2)]),
    "a number": ([torch.pow, X, 1.0], [torch.pow, X, 2.0]),
}


def effect(effects, function, *args):
    """That of a call; tensors beside X and Y are constants."""
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    event = Event(function, args, {}, tensors, [Origin(0) if one is X or one is Y else None for one in tensors])
    effects.tried(event)
    return event.effect


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("name", ALIKE)
def test_calls_that_differ_in_what_varies_or_in_a_constant_are_told_apart(name, order):
    effects = Effects()
    found = [effect(effects, *call) for call in ALIKE[name][::order]]
    assert found == EFFECTS[::order]


def test_products_of_a_product_and_of_a_square():
    x, y = torch.rand(3, 4), torch.rand(3, 4)
    for one, other in (("nc,nk->nk", "nc,nc->nc"), ("nc,nc->nc", "nc,nk->nk")):
        effects = Effects()
        found = {word: effects.of(torch.einsum, (word, x, y), {}, x).elementwise for word in (one, other)}
        assert found == {"nc,nc->nc": True, "nc,nk->nk": False}


def test_what_is_known_does_not_grow_with_numbers_that_vary():
    effects = Effects()
    for value in range(3):
        effects.of(torch.mul, (X, torch.tensor(float(value))), {}, X)
    assert len(effects._known) == 1


def test_a_constant_without_a_value():
    x, one = torch.rand(3, ENTRIES, device="meta"), torch.ones(1, device="meta")
    event = Event(torch.mul, (x, one), {}, [x, one], [Origin(0), None])
    Effects().tried(event)
    assert event.effect == Effect(True, False)


@pytest.mark.parametrize("size", [2, 3, 6, 7, 256])
@pytest.mark.parametrize("first", [0, -1])
def test_indices_that_are_tried_are_in_a_table(size, first):
    table, indices = torch.rand(size), torch.arange(3 * ENTRIES).view(3, ENTRIES).remainder(size) * (1 + 2 * first)
    indices += first
    assert Effects().of(torch.Tensor.__getitem__, (table, indices), {}, indices) == Effect(True, False)


def test_what_is_declared_is_tried_on_entries_that_are_there(device):
    table, x = torch.rand(8, device=device), 3 * torch.arange(8.0, device=device).view(2, 4)
    check_elementwise("a table", lambda x: x * table[x.long().clamp(max=7)], x)
    with pytest.raises(AffscoreError, match="must depend on the same entry"):
        check_elementwise("a sum", lambda x: x + x.sum(-1, keepdim=True), x)


def test_indices_that_do_not_fit_two_samples_break_no_device(device):
    x = torch.zeros(3, ENTRIES, device=device)
    for indices in ([2, 0], torch.tensor([2, 0], device=device)):
        assert not Effects().of(torch.Tensor.__getitem__, (x, indices), {}, x).elementwise
    assert x.sum().item() == 0  # after an assertion on a GPU every call fails


@pytest.mark.parametrize("shape", [(), (1,), (2, 1), (3, ENTRIES)])
@pytest.mark.parametrize("function", [torch.rsqrt, torch.log, torch.relu, torch.neg])
def test_a_function_of_few_entries_has_the_same_effect(function, shape):
    x = torch.rand(shape)
    assert Effects().of(function, (x,), {}, x) == Effect(True, function is not torch.neg)


def test_a_bend_as_small_as_rounding_is_none():
    like = torch.zeros(40, dtype=torch.float64)
    assert not bends(lambda x: x + 1e-5 * x.abs(), like)
    assert bends(lambda x: x + 1e-2 * x.abs(), like)
