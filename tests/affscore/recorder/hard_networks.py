"""Small networks, each named by what makes its activations hard to follow."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def conv(before=3, after=4):
    return nn.Conv2d(before, after, 3, padding=1)


class ReusedReLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.relu = conv(), conv(4, 4), nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.second(self.relu(self.first(x))))


class InPlaceOnAView(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = conv(), conv(4, 4)

    def forward(self, x):
        y = self.first(x)
        F.relu_(y[:, :2])
        return torch.tanh(self.second(y))


class FunctionsOnly(nn.Module):
    def forward(self, x):
        return F.gelu(torch.tanh(x).sigmoid() - 0.5)


class InPlaceSum(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = conv(3, 3), conv(3, 3)

    def forward(self, x):
        y = F.relu(self.first(x), inplace=True)
        y = self.second(y)
        y += x
        return F.relu(y, inplace=True)


class ChunkAndShuffle(nn.Module):
    """As ShuffleNetV2: half of the channels take one activation more, then the channels are interleaved."""

    def __init__(self):
        super().__init__()
        self.stem, self.branch, self.last = conv(3, 8), conv(4, 4), conv(8, 8)

    def forward(self, x):
        left, right = self.stem(x).chunk(2, dim=1)
        y = torch.cat([left, F.relu_(self.branch(right))], dim=1)
        n, c, h, w = y.shape
        y = y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)
        return torch.sigmoid(self.last(y))


class ItemAssignment(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = conv(3, 2), conv(3, 2)

    def forward(self, x):
        y = torch.zeros(len(x), 4, *x.shape[2:], dtype=x.dtype, device=x.device)
        y[:, :2] = F.relu(self.first(x))
        y[:, 2:] = self.second(x)
        return torch.tanh(y)


class ActivationOfATable(nn.Module):
    """The first ReLU sees parameters only: it has no distribution over images."""

    def __init__(self):
        super().__init__()
        self.table, self.conv = nn.Parameter(torch.linspace(-1, 1, 4)), conv()

    def forward(self, x):
        return torch.relu(self.conv(x) + F.relu(self.table)[:, None, None])


class SqueezeAndExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.down, self.up = conv(), nn.Conv2d(4, 2, 1), nn.Conv2d(2, 4, 1)

    def forward(self, x):
        y = F.relu(self.conv(x))
        gate = torch.sigmoid(self.up(F.silu(self.down(F.adaptive_avg_pool2d(y, 1)))))
        return torch.tanh(gate * y)


class ChannelsLastMLP(nn.Module):
    """As ConvNeXt: the activation in the middle sees (N, H, W, C), the last one (N, C, H, W)."""

    def __init__(self, width=8):
        super().__init__()
        self.conv, self.norm = conv(3, width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        y = self.mlp(self.norm(self.conv(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2)
        return F.relu(y)


class Conv1dAndTokens(nn.Module):
    """Three axes twice: (N, C, L) from a convolution, (N, L, C) from a linear layer."""

    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv1d(3, 6, 3, padding=1), nn.Linear(6, 5)

    def forward(self, x):
        y = F.relu(self.conv(x.flatten(2)))
        return F.relu(self.linear(y.transpose(1, 2)))


class PermutedBackAndForth(nn.Module):
    """8 channels of 8 x 8 pixels: no shape tells where the channels are."""

    def __init__(self):
        super().__init__()
        self.first, self.second = conv(3, 8), conv(8, 8)

    def forward(self, x):
        y = torch.relu(self.first(x).permute(0, 2, 3, 1))
        y = torch.relu(y.permute(0, 3, 1, 2) - 0.1)
        y = torch.relu(self.second(y).permute(0, 2, 3, 1).contiguous())
        return torch.relu(y.transpose(1, 3) - 0.1)


class Checkpointed(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.block, self.head, self.reentrant = nn.Sequential(conv(), nn.ReLU()), conv(4, 4), reentrant

    def forward(self, x):
        return torch.tanh(self.head(checkpoint(self.block, x, use_reentrant=self.reentrant)))


class FunctionalCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(conv(), nn.ReLU())

    def forward(self, x):
        weights = {name: 2 * value for name, value in self.block.named_parameters()}
        return torch.tanh(torch.func.functional_call(self.block, weights, (x,)))


class SharedUnderTwoNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(conv(3, 3), nn.ReLU())
        self.other = self.one

    def forward(self, x):
        return self.other(self.one(x))


class Recursive(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = conv(3, 3)

    def forward(self, x, again=2):
        y = torch.relu(self.conv(x))
        return self(y, again - 1) if again else y


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.sigmoid(x)


class CustomFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = conv(), conv(4, 4)

    def forward(self, x):
        return F.relu(self.second(Swish.apply(self.first(x))))


class IntoABuffer(nn.Module):
    """Operations that write where ``out`` says."""

    def __init__(self):
        super().__init__()
        self.first, self.second = conv(), conv(4, 4)

    def forward(self, x):
        y = torch.relu(self.first(x))
        buffer = torch.zeros(y.shape, dtype=y.dtype, device=y.device)
        torch.add(y, 1.0, out=buffer)
        return torch.tanh(self.second(buffer))


class ParallelBranches(nn.Module):
    """As Inception: one branch has two activations, the others one or none."""

    def __init__(self):
        super().__init__()
        self.stem, self.short = conv(), conv(4, 4)
        self.long = nn.Sequential(conv(4, 4), nn.ReLU(), conv(4, 4), nn.ReLU())

    def forward(self, x):
        y = F.relu(self.stem(x))
        return torch.cat([F.relu(self.short(y)), self.long(y), F.avg_pool2d(y, 3, 1, 1)], dim=1).tanh()


class Counting(nn.Module):
    """Runs another number of activations in every second forward pass."""

    def __init__(self, first, second):
        super().__init__()
        self.conv, self.repeats, self.passes = conv(), (first, second), 0

    def forward(self, x):
        y = self.conv(x)
        for _ in range(self.repeats[self.passes % 2]):
            y = torch.relu(y - 0.1)
        self.passes += 1
        return y


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
