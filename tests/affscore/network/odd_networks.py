"""Networks that hold samples otherwise than one after the other along the first axis, and networks that mix them."""

import torch
import torch.nn.functional as F
from torch import nn


class Grouped(nn.Module):
    """Kernels that each sample makes for itself: samples are folded into the groups of a convolution, and back."""

    def __init__(self):
        super().__init__()
        self.kernels, self.style = nn.Parameter(torch.randn(5, 3, 3, 3)), nn.Linear(3, 3)

    def forward(self, x):
        n, c, h, w = x.shape
        own = self.kernels[None] * self.style(x.mean((2, 3)))[:, None, :, None, None]
        y = F.conv2d(x.reshape(1, n * c, h, w), own.reshape(n * 5, c, 3, 3), padding=1, groups=n)
        return torch.relu(y.view(n, 5, h, w))


class Conditional(nn.Module):
    """A mixture of kernels for each sample; its activation sees the folded tensor itself."""

    def __init__(self):
        super().__init__()
        self.kernels, self.route = nn.Parameter(torch.randn(4, 6, 3, 3, 3)), nn.Linear(3, 4)

    def forward(self, x):
        n, c, h, w = x.shape
        own = torch.einsum("nk,kocij->nocij", self.route(x.mean((2, 3))).softmax(1), self.kernels)
        folded = F.conv2d(x.reshape(1, n * c, h, w), own.flatten(0, 1), padding=1, groups=n)
        return F.gelu(folded).view(n, 6, h, w).mean((2, 3))


class LastState(nn.Module):
    """The last states of a recurrent layer are (layers, N, C)."""

    def __init__(self):
        super().__init__()
        self.gru, self.head = nn.GRU(4, 6, num_layers=2, batch_first=True), nn.Linear(6, 3)

    def forward(self, x):
        return {"state": self.head(torch.tanh(self.gru(x)[1])[-1]), "loss": torch.zeros(())}


class TimeFirst(nn.Module):
    """A recurrent layer that takes time first, and is given it."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(4, 6), nn.Linear(6, 5)

    def forward(self, x):
        return torch.relu(self.head(self.lstm(x.transpose(0, 1))[0])).transpose(0, 1)


class GraphPooling(nn.Module):
    """Graphs of several sizes, put behind each other by their masks, and summed again for each graph."""

    def __init__(self):
        super().__init__()
        self.nodes, self.head = nn.Linear(4, 7), nn.Linear(7, 2)

    def forward(self, x):
        there = x[..., 0] > -0.5
        graph = torch.arange(len(x))[:, None].expand_as(there)[there]
        nodes = torch.relu(self.nodes(x[there]))
        return self.head(x.new_zeros(len(x), 7).index_add_(0, graph, nodes))


class Experts(nn.Module):
    """Tokens go to experts that are modules of their own; some of them see none."""

    def __init__(self, skip=True):
        super().__init__()
        self.gate, self.skip, self.relu = nn.Linear(4, 4, bias=False), skip, nn.ReLU()
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(4, 6 + k), nn.SiLU(), nn.Linear(6 + k, 4)) for k in range(4)
        )

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        chosen, out = self.gate(flat).argmax(-1), torch.zeros_like(flat)
        for k, expert in enumerate(self.experts):
            rows = (chosen == k).nonzero()[:, 0]
            if len(rows) or not self.skip:
                out[rows] = expert(flat[rows])
        return self.relu(out.view_as(x))


class SharedActivation(nn.Module):
    """Experts whose weights are slices of one parameter, or parameters of their own, and whose activation is one."""

    def __init__(self, stacked=True):
        super().__init__()
        self.gate, self.act = nn.Linear(4, 3, bias=False), nn.GELU()
        weights = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(5))
        self.up = nn.Parameter(weights) if stacked else nn.ParameterList(map(nn.Parameter, weights))
        self.down = nn.Parameter(torch.randn(3, 4, 6))

    def forward(self, x):
        flat = x.flatten(0, -2)
        chosen, out = self.gate(flat).topk(1, -1).indices[:, 0], torch.zeros_like(flat)
        for k in chosen.unique():
            rows = (chosen == k).nonzero()[:, 0]
            out.index_add_(0, rows, F.linear(self.act(F.linear(flat[rows], self.up[int(k)])), self.down[int(k)]))
        return out.view_as(x)


class Depth(nn.Module):
    """A layer that each sample goes through as often as it needs."""

    def __init__(self):
        super().__init__()
        self.layer, self.relu = nn.Linear(4, 4), nn.ReLU()

    def forward(self, x):
        x, times = x.clone(), (x[:, :, 0].amax(1) > 0.5).long() + (x[:, :, 1].amax(1) > 0.5).long() + 1
        for time in range(int(times.max())):
            some = times > time
            x[some] = self.relu(self.layer(x[some]) + 0.3)
        return x


class Forgotten(nn.Module):
    """A recurrent layer that takes the samples for time."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(4, 6), nn.Linear(6, 5)

    def forward(self, x):
        return torch.relu(self.head(self.lstm(x)[0][:, -1]))


class RunningMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 8)

    def forward(self, x):
        return torch.relu(self.layer(x).cumsum(0) / torch.arange(1, len(x) + 1)[:, None, None])


class Shifted(nn.Module):
    """Each sample sees the one before; the first one sees nothing."""

    def forward(self, x):
        return torch.relu(x + F.pad(x, (0, 0, 0, 0, 1, 0))[:-1])


class ShiftedBack(nn.Module):
    """Each sample sees the next one; the last one sees nothing."""

    def forward(self, x):
        return torch.relu(x + F.pad(x, (0, 0, 0, 0, 0, 1))[1:])


class BatchMean(nn.Module):
    def forward(self, x):
        return torch.relu(x - x.mean(0))


class Training(nn.Module):
    """A batch norm that is left in training mode."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(7)

    def forward(self, x):
        return torch.relu(F.batch_norm(x, None, None, training=True))


class MixingExperts(Experts):
    """Experts that take tokens of all samples up to a capacity."""

    def forward(self, x):
        return super().forward(x - x.mean((0, 1)))
