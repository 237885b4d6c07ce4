"""Small piecewise affine networks of every kind that the library takes, with the shape of their input."""

import torch
import torch.nn.functional as F
from torch import nn


def normalised(model):
    """With statistics in the batch norms that are not those of a new network."""
    generator = torch.Generator().manual_seed(3)
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.copy_(0.5 * torch.randn(module.num_features, generator=generator))
            module.running_var.copy_(0.5 + torch.rand(module.num_features, generator=generator))
            with torch.no_grad():
                module.weight.copy_(1 + 0.3 * torch.randn(module.num_features, generator=generator))
                module.bias.copy_(0.3 * torch.randn(module.num_features, generator=generator))
    return model.eval()


class Written(nn.Module):
    """A network of one function of its input, with layers that it may use."""

    def __init__(self, function, *layers):
        super().__init__()
        self.function, self.layers = function, nn.ModuleList(layers)

    def forward(self, x):
        return self.function(x, *self.layers)


def mlp():
    layers = [nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.LeakyReLU(0.2), nn.Linear(16, 16), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(16, 3))


def prelu():
    """One slope for each feature; some units are linear, and some bend downwards."""
    net = nn.Sequential(nn.Linear(6, 12), nn.PReLU(12), nn.Linear(12, 12), nn.PReLU(), nn.Linear(12, 2))
    with torch.no_grad():
        net[1].weight.copy_(torch.tensor([0.0, 1.0, -0.5, 0.25] * 3))
    return net


def pooled():
    """Max pooling of separate windows, after an activation."""
    return nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(True), nn.MaxPool2d(2), nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(True),
        nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(), nn.Linear(16, 3),
    )  # fmt: skip


class Overlapping(nn.Module):
    """Max pooling of overlapping windows with padding, before an activation; functions and methods."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Conv2d(2, 3, 3), nn.Conv2d(3, 4, 3, padding=1), nn.Linear(4, 3)

    def forward(self, x):
        count = x.size(0)
        x = F.max_pool2d(self.first(x), 3, stride=2, padding=1).relu()
        x = F.leaky_relu_(self.second(x), 0.1)
        return self.head(F.adaptive_avg_pool2d(x, 1).view(count, -1))


class Residual(nn.Module):
    """Two residual blocks with batch norm, the second with a projection; additions in place."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.a, self.norm_a = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.b, self.norm_b = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.c, self.norm_c = nn.Conv2d(4, 6, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(6)
        self.d, self.norm_d = nn.Conv2d(6, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6)
        self.shortcut = nn.Sequential(nn.Conv2d(4, 6, 1, stride=2, bias=False), nn.BatchNorm2d(6))
        self.relu, self.head = nn.ReLU(inplace=True), nn.Linear(6, 3)

    def forward(self, x):
        x = self.relu(self.norm(self.stem(x)))
        out = self.norm_b(self.b(self.relu(self.norm_a(self.a(x)))))
        out += x
        x = self.relu(out)
        out = self.norm_d(self.d(self.relu(self.norm_c(self.c(x)))))
        out += self.shortcut(x)
        return self.head(self.relu(out).mean(dim=(2, 3)))


class Dense(nn.Module):
    """Concatenations of everything before, and max pooling at the end."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(2 + 2 * i, 2, 3, padding=1) for i in range(3)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(2 + 2 * i) for i in range(3)])
        self.head = nn.Linear(8 * 4, 3)

    def forward(self, x):
        found = [x]
        for layer, norm in zip(self.layers, self.norms, strict=True):
            found.append(layer(torch.relu(norm(torch.cat(found, 1)))))
        return self.head(nn.functional.max_pool2d(torch.cat(found, 1), 4).flatten(1))


class Mixed(nn.Module):
    """Branches with max pooling and strided convolutions, scaling, indexing, permutation, a sum over axes."""

    def __init__(self):
        super().__init__()
        self.first, self.left = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 3, 3, stride=2, padding=1)
        self.tokens, self.head = nn.Linear(16, 16), nn.Linear(14, 3)
        self.scale = nn.Parameter(torch.linspace(0.5, 1.5, 7).view(1, 7, 1, 1))

    def forward(self, x):
        x = F.relu(self.first(2 * x - 0.1))
        x = torch.cat([self.left(x), F.max_pool2d(x, 2)], 1) * self.scale
        x = x.reshape(x.shape[0], 7, 16)
        x = x + self.tokens(x).clamp(min=0)
        x = x.permute(0, 2, 1)
        return self.head(torch.cat([x[:, 3], x.sum(1) / 4], dim=-1))


ARCHITECTURES = {
    "mlp": (mlp, (6,)),
    "prelu": (prelu, (6,)),
    "pooled": (pooled, (2, 8, 8)),
    "overlapping": (Overlapping, (2, 8, 8)),
    "residual": (lambda: normalised(Residual()), (2, 6, 6)),
    "dense": (lambda: normalised(Dense()), (2, 8, 8)),
    "mixed": (Mixed, (2, 8, 8)),
}


def network(name, seed=0):
    """A network with random weights of that seed, and the shape of its input."""
    make, shape = ARCHITECTURES[name]
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        model = make()
    return model, shape


def segments(shape, count, seed=1, way=0.5):
    """Starts and ends of random segments, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(count, *shape, generator=generator, dtype=torch.float64)
    return start, start + way * torch.randn(count, *shape, generator=generator, dtype=torch.float64)
