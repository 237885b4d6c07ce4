"""Small networks, each named by what makes its activations hard to follow."""

# ruff: noqa: N802  # they are called as classes are

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def conv(before=3, after=4):
    return nn.Conv2d(before, after, 3, padding=1)


class Net(nn.Module):
    """A network of these parts, which a function runs: ``run(net, x)``."""

    def __init__(self, run, **parts):
        super().__init__()
        self.run = run
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args, **kwargs):
        return self.run(self, *args, **kwargs)


def module_class(name, function):
    """A class of modules without parts that computes a function of its input."""
    return type(name, (nn.Module,), {"forward": lambda self, x: function(x)})


def ReusedReLU():
    return Net(
        lambda net, x: net.relu(net.second(net.relu(net.first(x)))),
        first=conv(), second=conv(4, 4), relu=nn.ReLU(inplace=True),
    )  # fmt: skip


def InPlaceOnAView():
    def run(net, x):
        y = net.first(x)
        F.relu_(y[:, :2])
        return torch.tanh(net.second(y))

    return Net(run, first=conv(), second=conv(4, 4))


def FunctionsOnly():
    return Net(lambda net, x: F.gelu(torch.tanh(x).sigmoid() - 0.5))


def InPlaceSum():
    def run(net, x):
        y = F.relu(net.first(x), inplace=True)
        y = net.second(y)
        y += x
        return F.relu(y, inplace=True)

    return Net(run, first=conv(3, 3), second=conv(3, 3))


def ChunkAndShuffle():
    """As ShuffleNetV2: half of the channels take one activation more, then the channels are interleaved."""

    def run(net, x):
        left, right = net.stem(x).chunk(2, dim=1)
        y = torch.cat([left, F.relu_(net.branch(right))], dim=1)
        n, c, h, w = y.shape
        y = y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)
        return torch.sigmoid(net.last(y))

    return Net(run, stem=conv(3, 8), branch=conv(4, 4), last=conv(8, 8))


def ItemAssignment():
    def run(net, x):
        y = torch.zeros(len(x), 4, *x.shape[2:], dtype=x.dtype, device=x.device)
        y[:, :2] = F.relu(net.first(x))
        y[:, 2:] = net.second(x)
        return torch.tanh(y)

    return Net(run, first=conv(3, 2), second=conv(3, 2))


def ActivationOfATable():
    """The first ReLU sees parameters only: it has no distribution over images."""
    table = nn.Parameter(torch.linspace(-1, 1, 4))
    return Net(lambda net, x: torch.relu(net.conv(x) + F.relu(net.table)[:, None, None]), table=table, conv=conv())


def SqueezeAndExcite():
    def run(net, x):
        y = F.relu(net.conv(x))
        gate = torch.sigmoid(net.up(F.silu(net.down(F.adaptive_avg_pool2d(y, 1)))))
        return torch.tanh(gate * y)

    return Net(run, conv=conv(), down=nn.Conv2d(4, 2, 1), up=nn.Conv2d(2, 4, 1))


def ChannelsLastMLP(width=8):
    """As ConvNeXt: the activation in the middle sees (N, H, W, C), the last one (N, C, H, W)."""
    mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
    return Net(
        lambda net, x: F.relu(net.mlp(net.norm(net.conv(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2)),
        conv=conv(3, width), norm=nn.LayerNorm(width), mlp=mlp,
    )  # fmt: skip


def Conv1dAndTokens():
    """Three axes twice: (N, C, L) from a convolution, (N, L, C) from a linear layer."""
    return Net(
        lambda net, x: F.relu(net.linear(F.relu(net.conv(x.flatten(2))).transpose(1, 2))),
        conv=nn.Conv1d(3, 6, 3, padding=1), linear=nn.Linear(6, 5),
    )  # fmt: skip


def PermutedBackAndForth():
    """8 channels of 8 x 8 pixels: no shape tells where the channels are."""

    def run(net, x):
        y = torch.relu(net.first(x).permute(0, 2, 3, 1))
        y = torch.relu(y.permute(0, 3, 1, 2) - 0.1)
        y = torch.relu(net.second(y).permute(0, 2, 3, 1).contiguous())
        return torch.relu(y.transpose(1, 3) - 0.1)

    return Net(run, first=conv(3, 8), second=conv(8, 8))


def Checkpointed(reentrant):
    return Net(
        lambda net, x: torch.tanh(net.head(checkpoint(net.block, x, use_reentrant=reentrant))),
        block=nn.Sequential(conv(), nn.ReLU()), head=conv(4, 4),
    )  # fmt: skip


def FunctionalCall():
    def run(net, x):
        weights = {name: 2 * value for name, value in net.block.named_parameters()}
        return torch.tanh(torch.func.functional_call(net.block, weights, (x,)))

    return Net(run, block=nn.Sequential(conv(), nn.ReLU()))


def SharedUnderTwoNames():
    one = nn.Sequential(conv(3, 3), nn.ReLU())
    return Net(lambda net, x: net.other(net.one(x)), one=one, other=one)


def Recursive():
    def run(net, x, again=2):
        y = torch.relu(net.conv(x))
        return net(y, again - 1) if again else y

    return Net(run, conv=conv(3, 3))


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.sigmoid(x)


def CustomFunction():
    return Net(lambda net, x: F.relu(net.second(Swish.apply(net.first(x)))), first=conv(), second=conv(4, 4))


def IntoABuffer():
    """Operations that write where ``out`` says."""

    def run(net, x):
        y = torch.relu(net.first(x))
        buffer = torch.zeros(y.shape, dtype=y.dtype, device=y.device)
        torch.add(y, 1.0, out=buffer)
        return torch.tanh(net.second(buffer))

    return Net(run, first=conv(), second=conv(4, 4))


def ParallelBranches():
    """As Inception: one branch has two activations, the others one or none."""

    def run(net, x):
        y = F.relu(net.stem(x))
        return torch.cat([F.relu(net.short(y)), net.long(y), F.avg_pool2d(y, 3, 1, 1)], dim=1).tanh()

    long = nn.Sequential(conv(4, 4), nn.ReLU(), conv(4, 4), nn.ReLU())
    return Net(run, stem=conv(), short=conv(4, 4), long=long)


def Counting(first, second):
    """Runs another number of activations in every second forward pass."""

    def run(net, x):
        y = net.conv(x)
        for _ in range((first, second)[net.passes % 2]):
            y = torch.relu(y - 0.1)
        net.passes += 1
        return y

    return Net(run, conv=conv(), passes=0)


class Raising(nn.Module):
    """Raises in the middle until it is repaired."""

    def __init__(self):
        super().__init__()
        self.block, self.head, self.broken = nn.Sequential(conv(), nn.ReLU()), nn.Sequential(conv(4, 4)), True
        self.head.register_forward_pre_hook(self.fail)
        self.dropout = nn.Dropout(0.5)

    def fail(self, module, args):
        if self.broken:
            raise RuntimeError("the head is broken\nand says so on two lines")

    def forward(self, x):
        return torch.tanh(self.head(self.dropout(self.block(x))))
