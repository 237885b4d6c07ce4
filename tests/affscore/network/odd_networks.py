"""Networks that hold samples otherwise than one after the other along the first axis, and networks that mix them."""

# ruff: noqa: N802  # they are called as classes are

import torch
import torch.nn.functional as F
from torch import nn

from tests.affscore.recorder.hard_networks import Net


def Grouped():
    """Kernels that each sample makes for itself: samples are folded into the groups of a convolution, and back."""

    def run(net, x):
        n, c, h, w = x.shape
        own = net.kernels[None] * net.style(x.mean((2, 3)))[:, None, :, None, None]
        y = F.conv2d(x.reshape(1, n * c, h, w), own.reshape(n * 5, c, 3, 3), padding=1, groups=n)
        return torch.relu(y.view(n, 5, h, w))

    return Net(run, kernels=nn.Parameter(torch.randn(5, 3, 3, 3)), style=nn.Linear(3, 3))


def Conditional():
    """A mixture of kernels for each sample; its activation sees the folded tensor itself."""

    def run(net, x):
        n, c, h, w = x.shape
        own = torch.einsum("nk,kocij->nocij", net.route(x.mean((2, 3))).softmax(1), net.kernels)
        folded = F.conv2d(x.reshape(1, n * c, h, w), own.flatten(0, 1), padding=1, groups=n)
        return F.gelu(folded).view(n, 6, h, w).mean((2, 3))

    return Net(run, kernels=nn.Parameter(torch.randn(4, 6, 3, 3, 3)), route=nn.Linear(3, 4))


def LastState():
    """The last states of a recurrent layer are (layers, N, C)."""
    return Net(
        lambda net, x: {"state": net.head(torch.tanh(net.gru(x)[1])[-1]), "loss": torch.zeros(())},
        gru=nn.GRU(4, 6, num_layers=2, batch_first=True), head=nn.Linear(6, 3),
    )  # fmt: skip


def TimeFirst():
    """A recurrent layer that takes time first, and is given it."""
    return Net(
        lambda net, x: torch.relu(net.head(net.lstm(x.transpose(0, 1))[0])).transpose(0, 1),
        lstm=nn.LSTM(4, 6), head=nn.Linear(6, 5),
    )  # fmt: skip


def GraphPooling():
    """Graphs of several sizes, put behind each other by their masks, and summed again for each graph."""

    def run(net, x):
        there = x[..., 0] > -0.5
        graph = torch.arange(len(x))[:, None].expand_as(there)[there]
        nodes = torch.relu(net.nodes(x[there]))
        return net.head(x.new_zeros(len(x), 7).index_add_(0, graph, nodes))

    return Net(run, nodes=nn.Linear(4, 7), head=nn.Linear(7, 2))


def Experts(skip=True, mix=lambda x: x):
    """Tokens go to experts that are modules of their own; some of them see none."""

    def run(net, x):
        flat = mix(x).reshape(-1, x.shape[-1])
        chosen, out = net.gate(flat).argmax(-1), torch.zeros_like(flat)
        for k, expert in enumerate(net.experts):
            rows = (chosen == k).nonzero()[:, 0]
            if len(rows) or not skip:
                out[rows] = expert(flat[rows])
        return net.relu(out.view_as(x))

    gate = nn.Linear(4, 4, bias=False)
    experts = [nn.Sequential(nn.Linear(4, 6 + k), nn.SiLU(), nn.Linear(6 + k, 4)) for k in range(4)]
    return Net(run, gate=gate, relu=nn.ReLU(), experts=nn.ModuleList(experts))


def SharedActivation(stacked=True):
    """Experts whose weights are slices of one parameter, or parameters of their own, and whose activation is one."""

    def run(net, x):
        flat = x.flatten(0, -2)
        chosen, out = net.gate(flat).topk(1, -1).indices[:, 0], torch.zeros_like(flat)
        for k in chosen.unique():
            rows = (chosen == k).nonzero()[:, 0]
            out.index_add_(0, rows, F.linear(net.act(F.linear(flat[rows], net.up[int(k)])), net.down[int(k)]))
        return out.view_as(x)

    weights = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(5))
    up = nn.Parameter(weights) if stacked else nn.ParameterList(map(nn.Parameter, weights))
    gate = nn.Linear(4, 3, bias=False)
    return Net(run, gate=gate, act=nn.GELU(), up=up, down=nn.Parameter(torch.randn(3, 4, 6)))


def Depth():
    """A layer that each sample goes through as often as it needs."""

    def run(net, x):
        x, times = x.clone(), (x[:, :, 0].amax(1) > 0.5).long() + (x[:, :, 1].amax(1) > 0.5).long() + 1
        for time in range(int(times.max())):
            some = times > time
            x[some] = net.relu(net.layer(x[some]) + 0.3)
        return x

    return Net(run, layer=nn.Linear(4, 4), relu=nn.ReLU())


def Forgotten():
    """A recurrent layer that takes the samples for time."""
    return Net(
        lambda net, x: torch.relu(net.head(net.lstm(x)[0][:, -1])), lstm=nn.LSTM(4, 6), head=nn.Linear(6, 5)
    )  # fmt: skip


def RunningMean():
    return Net(
        lambda net, x: torch.relu(net.layer(x).cumsum(0) / torch.arange(1, len(x) + 1)[:, None, None]),
        layer=nn.Linear(4, 8),
    )


def Shifted():
    """Each sample sees the one before; the first one sees nothing."""
    return Net(lambda net, x: torch.relu(x + F.pad(x, (0, 0, 0, 0, 1, 0))[:-1]))


def ShiftedBack():
    """Each sample sees the next one; the last one sees nothing."""
    return Net(lambda net, x: torch.relu(x + F.pad(x, (0, 0, 0, 0, 0, 1))[1:]))


def BatchMean():
    return Net(lambda net, x: torch.relu(x - x.mean(0)))


def Training():
    """A batch norm that is left in training mode."""
    return Net(lambda net, x: torch.relu(F.batch_norm(x, None, None, training=True)), norm=nn.BatchNorm1d(7))


def MixingExperts():
    """Experts that take tokens of all samples up to a capacity."""
    return Experts(mix=lambda x: x - x.mean((0, 1)))
