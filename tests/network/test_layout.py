import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from affscore.network.layout import ChannelLayout, ImageLayout, einsum_axes
from tests.network.seen import seen_in

CHANNELS = 8


class Followed:
    """A tensor and the layout that watches what is done to it; the entries of channel k are k + noise below 0.1."""

    def __init__(self, channels_last, side=8, images=2):
        self.layout = ChannelLayout()
        generator = torch.Generator().manual_seed(0)
        noise = torch.rand(images, side, side, CHANNELS, generator=generator) / 10
        values = noise + torch.arange(CHANNELS)
        self.tensor = values if channels_last else values.permute(0, 3, 1, 2).contiguous()
        source = torch.zeros_like(self.tensor)
        self.layout.observe(F.linear if channels_last else F.conv2d, [source], self.tensor)

    def do(self, function, *args, **kwargs):
        output = function(self.tensor, *args, **kwargs)
        self.layout.observe(function, [self.tensor], output)
        self.tensor = output

    def true_axis(self):
        """The one axis along which whole parts change, by 1 from one channel to the next."""
        floor = self.tensor.floor()
        axes = [
            axis for axis in range(1, floor.ndim) if floor.shape[axis] == CHANNELS and (floor.diff(dim=axis) == 1).all()
        ]
        assert len(axes) == 1
        return axes[0]


STEPS = {
    "permute": lambda f, order: f.do(torch.permute, (0, *[1 + i for i in order if i < f.tensor.ndim - 1])),
    "contiguous": lambda f, _: f.do(torch.Tensor.contiguous),
    "double": lambda f, _: f.do(torch.mul, 1.0),
    "relu": lambda f, _: f.do(torch.relu),
    "relu in place": lambda f, _: f.do(torch.relu_),
    "slice": lambda f, _: f.do(torch.narrow, 0, 0, 1) if len(f.tensor) > 1 else None,
}


@given(
    channels_last=st.booleans(),
    steps=st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.permutations(range(3))), max_size=6),
)
def test_the_channels_are_followed_where_no_shape_tells_them_apart(channels_last, steps):
    followed = Followed(channels_last)
    for name, order in steps:
        STEPS[name](followed, order)
    assert followed.layout.axis(followed.tensor) == followed.true_axis()


@pytest.mark.parametrize("channels_last", [False, True])
def test_tokens(channels_last):
    followed = Followed(channels_last, side=6)
    if channels_last:
        followed.do(torch.flatten, 1, 2)  # (N, H W, C)
    else:
        followed.do(torch.flatten, 2)  # (N, C, H W)
    assert followed.layout.axis(followed.tensor) == followed.true_axis() == (2 if channels_last else 1)
    followed.do(torch.transpose, 1, 2)
    assert followed.layout.axis(followed.tensor) == followed.true_axis() == (1 if channels_last else 2)


@pytest.mark.parametrize("channels_last", [False, True])
def test_pooling_and_averaging(channels_last):
    followed = Followed(channels_last)
    if not channels_last:
        followed.do(F.max_pool2d, 2)
        assert followed.layout.axis(followed.tensor) == 1
        followed.do(F.adaptive_avg_pool2d, 1)
        assert followed.layout.axis(followed.tensor) == 1
        followed.do(torch.flatten, 1)
    else:
        followed.do(torch.mean, dim=(1, 2))
    assert followed.layout.axis(followed.tensor) == 1


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
        (torch.matmul, (2, 7, 5), 2),
    ],
)
def test_operations_that_make_channels(function, shape, axis):
    layout, output = ChannelLayout(), torch.zeros(shape)
    layout.observe(function, [torch.zeros(shape)], output)
    assert layout.axis(output) == axis


@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3), 1), ((2, 7, 3), 2), ((2, 3, 8, 8), 1), ((2, 3, 4, 4, 4), 1), ((2,), 1)]
)
def test_what_is_assumed_of_an_unknown_tensor(shape, axis):
    assert ChannelLayout().axis(torch.zeros(shape)) == axis


def test_a_sum_keeps_the_axis_of_what_is_known():
    layout = ChannelLayout()
    known, table = torch.zeros(2, 6, 6, 6), torch.zeros(6)
    layout.observe(F.linear, [table], known)
    for inputs in ([known, table], [table, known]):
        output = known + table
        layout.observe(torch.add, inputs, output)
        assert layout.axis(output) == 3


def test_tensors_are_not_kept_alive():
    layout = ChannelLayout()
    for _ in range(3):
        output = torch.zeros(2, 3, 4, 4)
        layout.observe(F.conv2d, [], output)
    del output
    assert len(layout._axes) == 0


def test_a_matrix_from_the_left_makes_channels_in_the_middle():
    """W z of (N, C, L), as some write a convolution with kernels of one; z W of (N, L, C) makes them last."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Parameter(torch.randn(5, 3)), nn.Parameter(torch.randn(7, 4))

        def forward(self, x):
            y = torch.relu(self.left @ x)  # (N, 5, 7)
            return torch.tanh(torch.matmul(y, self.right))  # (N, 5, 4)

    _, recorder = seen_in(Net(), torch.randn(6, 3, 7))
    assert [(call.channel_axis, call.positions) for call in recorder.calls] == [(1, 7), (2, 5)]


EINSUMS = {
    "ntc, cd -> ntd": ((4, 6, 3), (3, 5), 0, 2),
    "ntc, cd -> tnd": ((4, 6, 3), (3, 5), 1, 2),
    "ntc, dc -> ndt": ((4, 6, 3), (5, 3), 0, 1),
    "dc, ntc -> dtn": ((5, 3), (4, 6, 3), 2, 0),
    "ntc, c -> cnt": ((4, 6, 3), (3,), 1, 0),
}


@pytest.mark.parametrize(("equation", "axes"), EINSUMS.items(), ids=EINSUMS)
def test_einsum_with_a_weight(equation, axes):
    *shapes, images, channels = axes
    place = 0 if equation.startswith("n") else 1

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(shapes[1 - place]))

        def forward(self, x):
            operands = [x, self.weight] if place == 0 else [self.weight, x]
            return torch.relu(torch.einsum(equation, *operands))

    _, recorder = seen_in(Net(), torch.randn(shapes[place]))
    (call,) = recorder.calls
    assert (call.image_axis, call.channel_axis) == (images, channels)


@pytest.mark.parametrize("equation", ["ntc,cd", "...c,cd->...d", "ntc,chd->nthd", "ntc,cd->nd"])
def test_what_an_einsum_does_not_tell(equation):
    operands = [torch.zeros(2, 3, 4), torch.zeros(4, 5)]
    channels, _ = einsum_axes(equation, operands, [False, True], ChannelLayout(), ImageLayout())
    assert channels == (1 if equation.endswith("->nd") else None)
    assert einsum_axes(equation, operands, [False, False], ChannelLayout(), ImageLayout()) == (None, None)


def test_products_of_matrices_on_merged_tokens():
    """As GPT-2 writes a linear layer: addmm of (N tokens, C), then back."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.randn(3, 5)), nn.Parameter(torch.zeros(5))

        def forward(self, x):
            y = torch.addmm(self.bias, x.view(-1, 3), self.weight).view(*x.shape[:-1], 5)
            return torch.relu(y)

    for images in (1, 5, 6):
        _, recorder = seen_in(Net(), torch.randn(images, 5, 3))
        (call,) = recorder.calls
        assert (call.image_axis, call.channel_axis, call.positions) == (0, 2, 5)


def test_a_single_image_is_everywhere():
    layout = ImageLayout(1)
    scores = torch.zeros(2, 6, 6)  # heads of one image
    layout.observe([scores], apart := scores.view(1, 2, 6, 6))
    assert layout.axis(apart) == 0
