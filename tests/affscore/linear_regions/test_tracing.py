"""Networks in every way of writing them give the same regions; what is not piecewise affine is refused by name."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore import AffscoreError
from affscore.linear_regions import along_segment
from tests.affscore.linear_regions.brute_force import look


class Halves(NamedTuple):
    """A tuple with names."""

    first: torch.Tensor
    second: torch.Tensor


class Of(nn.Module):
    """A network from a function of a tensor (n, 2, 6, 6), with some weights."""

    def __init__(self, function):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4).eval()
        self.weights = nn.Parameter(torch.linspace(-1, 1, 36).sin().view(6, 6))
        self.function = function

    def forward(self, x):
        return self.function(self, x)


def with_loops(net, x):
    for step in range(x.shape[-1] // 3):
        x = torch.relu(x - 0.2 * step) + x[:, [1, 0]]
    return x.flatten(1)[:, ::5]


def in_place(net, x):
    y = net.conv(x)
    y.relu_()
    y += 0.5
    y[:, 0] = -y[:, 1]
    y.mul_(2).sub_(x.mean(1, keepdim=True))
    return F.relu(y, inplace=True).sum((2, 3))


def matrices(net, x):
    rows = x[:, 0].relu()
    mixed = torch.einsum("ij,njk->nik", net.weights, rows) + rows @ net.weights + torch.matmul(net.weights, rows)
    return (mixed + torch.bmm(rows, net.weights.expand(len(x), 6, 6))).relu().reshape(x.size(0), -1).narrow(1, 3, 5)


def shapes(net, x):
    x = F.pad(x, (1, 1, 1, 1), mode="reflect").transpose(1, 3).contiguous().movedim(-1, 1)
    x = F.interpolate(x, scale_factor=0.5, mode="bilinear").unflatten(1, (1, 2)).squeeze(1)
    x = torch.cat(x.chunk(2, dim=1)[::-1], dim=1).repeat(1, 2, 1, 1).flip(3).roll(1, 2)
    return F.leaky_relu(F.pixel_shuffle(x, 2), 0.3).expand(-1, 3, -1, -1).reshape(len(x), 3, -1).mean(-1)


def casts_and_constants(net, x):
    x = net.norm(net.conv(x.to(x.dtype))).double()
    assert x.type() == "torch.DoubleTensor"
    mask = torch.ones_like(x, dtype=torch.bool)
    mask[:, :, ::2] = False
    x = torch.where(mask, x, x.new_zeros(())) / 3 - (1 - x).masked_fill(mask, 0.0)
    return F.prelu(x.type_as(net.weights), x.new_full((4,), 0.25)).mean((2, 3))


def parts(net, x):
    first, second = net.conv(x).chunk(2, dim=1)
    rows = torch.stack([-row for row in (first - second).unbind(2)], 2)
    y = net.conv(x).clone()
    y[:, :2] += rows
    y[:] *= 2.0
    one, other = torch.cat(Halves(first.relu(), rows), 1).split([1, 3], 1)
    return torch.cat([torch.cat(y.split(3, 1), 1).relu(), one, other], 1).mean(3).flatten(1)


def by_name(net, x):
    x = F.conv2d(input=x, weight=net.conv.weight, bias=net.conv.bias, padding=1).relu()
    x = torch.add(torch.div(input=x, other=2.0), other=net.weights[:4, :1, None])
    x = torch.mul(input=F.conv2d(x, weight=net.conv.weight[:, :1].expand(-1, 4, -1, -1)), other=net.weights[0, 0])
    return torch.diff(F.relu(input=x)).flatten(1)[:, ::7]


WRITTEN = [parts, by_name, with_loops, in_place, matrices, shapes, casts_and_constants]


@pytest.mark.parametrize("function", WRITTEN, ids=lambda function: function.__name__)
def test_however_it_is_written(function):
    torch.manual_seed(4)
    model = Of(function)
    start, end = torch.randn(2, 2, 6, 6, dtype=torch.float64)
    found = along_segment(model, start, end)
    expected = look(model, start, end, samples=501)
    assert found.crossings == len(expected.units) > 3
    assert found.switches == len(expected.switches)
    np.testing.assert_allclose(found.breakpoints, expected.breakpoints, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.absolute_deviation, expected.areas, rtol=1e-6, atol=1e-6)


def one_by_one(net, x):
    return torch.stack([F.max_pool2d(net.conv(one).relu(), 2).flatten() for one in x.unbind(0)])


def with_casts(net, x):
    """They do nothing, since all is in double precision."""
    x = net.conv(x.half()).type(torch.float32).relu().to(torch.float16).float()
    return F.max_pool2d(x, 2).flatten(1)


@pytest.mark.parametrize("function", [one_by_one, with_casts])
def test_samples_without_an_axis_of_samples_and_casts_change_nothing(function):
    model = Of(lambda net, x: F.max_pool2d(net.conv(x).relu(), 2).flatten(1))
    start, end = torch.randn(2, 2, 6, 6, generator=torch.Generator().manual_seed(0))
    expected = along_segment(model, start, end)
    model.function = function
    found = along_segment(model, start, end)
    np.testing.assert_allclose(found.t, expected.t, rtol=0, atol=1e-13)
    assert (found.count, found.switches) == (expected.count, expected.switches)


def test_one_number_of_a_sample():
    model = Of(lambda net, x: torch.stack([torch.relu(one.sum() - 1.0) * 2.0 for one in x.unbind(0)]))
    found = along_segment(model, torch.zeros(2, 6, 6), torch.ones(2, 6, 6))
    np.testing.assert_allclose(found.breakpoints, [1 / 72])
    np.testing.assert_allclose(found.logits[-1], [142.0])


REFUSED = {
    "sigmoid": nn.Sigmoid(),
    "relu6": nn.ReLU6(),
    "group_norm": nn.GroupNorm(1, 2),
    "max_pool2d_with_indices": nn.MaxPool2d(2, return_indices=True),
    "adaptive_max_pool2d": nn.AdaptiveMaxPool2d(1),
    "batch_norm": nn.BatchNorm2d(2, track_running_stats=False),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_layer_that_is_not_piecewise_affine_is_named_with_its_place(name):
    model = nn.Sequential(nn.Conv2d(2, 2, 1), nn.Sequential(nn.ReLU(), REFUSED[name]))
    with pytest.raises(AffscoreError, match=rf"^layer '1\.1': {name} .*not affine"):
        along_segment(model, torch.zeros(2, 6, 6), torch.ones(2, 6, 6))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda net, x: x * x, "the network: mul multiplies features"),
        (lambda net, x: x @ x.mT, "matmul multiplies features"),
        (lambda net, x: x / x.sum(), "div multiplies features, divides by them"),
        (lambda net, x: 1 / x, "rdiv is not affine"),
        (lambda net, x: torch.div(x, 2, rounding_mode="floor"), "div .* or rounds"),
        (lambda net, x: x**2, "pow is not affine"),
        (lambda net, x: x.clamp(-1, 1), "clamp is not affine"),
        (lambda net, x: x.int().double(), "int is not affine"),
        (lambda net, x: x.to(torch.int32).double(), "to makes torch.int32 of features"),
        (lambda net, x: x if x.sum() > 0 else -x, "gt is not affine .* where no number decides what runs"),
        (lambda net, x: x * float(x[0, 0, 0, 0]), "float is not affine"),
        (lambda net, x: x + torch.full_like(x, x.mean()), "full_like is not affine"),
        (lambda net, x: x.sum(1, dtype=torch.float32), "sum makes torch.float32 of features; regions need double"),
        (lambda net, x: 1e7 * x.sum((2, 3), dtype=torch.int64), "sum makes torch.int64 of features"),
        (lambda net, x: x + x.sum().item(), "item is not affine"),
        (lambda net, x: F.dropout(x, 0.5), "dropout is random in evaluation mode"),
        (lambda net, x: torch.zeros(1, 2, 6, 6).add_(x), "add writes features into a constant: use torch.cat"),
        (lambda net, x: (x, x), "returns a tuple, and no tensor that depends"),
        (lambda net, x: net.weights, "returns a Parameter, and no tensor that depends on its input"),
        (lambda net, x: x + 1e-9 * torch.randn_like(x), "is random: it gives other numbers"),
        (
            lambda net, x: x.sum(0),
            r"a batch of 1 to torch\.float64 of shape \(2, 6, 6\); it must keep the axis of samples",
        ),
        (lambda net, x: x.relu().sum(), r"to torch\.float64 of shape \(\); it must keep the axis of samples"),
        (lambda net, x: x[:, :0], "at least one number for each"),
        (lambda net, x: net.conv(x[:, :1]), "the network fails on a sample of shape .*RuntimeError"),
        (lambda net, x: x / 0, "NaN or infinite"),
    ],
)
def test_what_is_not_affine_or_does_not_map_samples_to_logits_is_refused(function, message):
    with pytest.raises(AffscoreError, match=message):
        along_segment(Of(function), torch.zeros(2, 6, 6), torch.ones(2, 6, 6))


def flattened(net, x):
    y = net.conv(x)
    F.relu_(y.flatten(1))
    return y.flatten(1)


def put_elsewhere(net, x):
    """A part that was changed in place goes back to its own place alone."""
    y = net.conv(x).flatten(1)
    part = y[:, 0]
    part += 1
    y[:, 1] = part
    return F.relu(y)


def part_of_a_part(net, x):
    """What goes back to its place is a part of what was changed, and the rest of the change would be lost."""
    y = net.conv(x).flatten(1)
    part = y[:, :2]
    part += 1
    y[:, :1] = part[:, :1]
    return F.relu(y)


@pytest.mark.parametrize(
    ("function", "name"), [(flattened, "flatten"), (put_elsewhere, "setitem"), (part_of_a_part, "setitem")]
)
def test_what_is_overwritten_through_a_view_is_refused(function, name):
    with pytest.raises(AffscoreError, match=f"{name} reads what an operation in place has overwritten through a view"):
        along_segment(Of(function), torch.zeros(2, 6, 6), torch.ones(2, 6, 6))


def test_compiled_and_parallel_networks_are_taken_as_what_is_inside():
    model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    ends = [-3.0, 1.0], [4.0, 2.0]
    expected = along_segment(model, *ends)
    for wrapped in (nn.DataParallel(model), torch.compile(model, backend="eager")):
        np.testing.assert_array_equal(along_segment(wrapped, *ends).breakpoints, expected.breakpoints)
