"""Random small networks, and all of their paths one by one."""

import random

import torch
import torch.nn.functional as F
from torch import nn


class Node:
    """A channel: the branches that are added up in it, each a list of channels that are mixed, and its own unit."""

    def __init__(self, *branches, unit=0):
        self.branches, self.unit = branches, unit

    def paths(self):
        """Yields (probability, length) of every path from the input; an input has no branches."""
        if not self.branches:
            yield 1.0, 0
        for branch in self.branches:
            for before in branch:
                for probability, length in before.paths():
                    yield probability / len(branch) / len(self.branches), length + self.unit


def all_paths(outputs, most=200_000):
    found = []
    for node in outputs:
        for probability, length in node.paths():
            found.append((probability / len(outputs), length))
            if len(found) > most:
                return None
    return found


class RandomGraph(nn.Module):
    """A network of random operations on earlier tensors, the nodes of each being kept beside it.

    Args:
        seed: What fixes it.

    Attributes:
        shape: Of its input.
        activations: The nodes of the activations, in the order of their calls.
        outputs: The nodes of its output.
    """

    def __init__(self, seed):
        super().__init__()
        draw = self.draw = random.Random(seed)
        channels = draw.randint(1, 3)
        self.shape = (1, channels, 2, 2)
        self.layers, self.steps, self.activations = nn.ModuleList(), [], []
        values = [[Node() for _ in range(channels)]]
        for _ in range(draw.randint(6, 14)):
            kind = draw.choice("conv conv relu relu add add add sub cat take turn norm depthwise".split())
            at = len(values) - 1 if draw.random() < 0.7 else draw.randrange(len(values))
            values.append(self._step(kind, at, values))
        self.outputs = values[-1]
        if draw.random() < 0.5:
            self.steps.append(("flat", len(values) - 1, self._layer(nn.Linear(4 * len(values[-1]), 2))))
            every = [node for node in values[-1] for _ in range(4)]
            self.outputs = [Node(every), Node(every)]

    def _layer(self, layer):
        self.layers.append(layer)
        return len(self.layers) - 1

    def _step(self, kind, at, values):
        nodes, draw = values[at], self.draw
        width = len(nodes)
        if kind == "conv":
            groups = draw.choice([g for g in (1, 2, 3) if width % g == 0])
            out = groups * draw.randint(1, 2)
            layer = draw.choice([nn.Conv2d, nn.ConvTranspose2d])(width, out, 3, padding=1, groups=groups)
            self.steps.append(("layer", at, self._layer(layer)))
            size, per = width // groups, out // groups
            return [Node(nodes[size * (c // per) : size * (c // per + 1)]) for c in range(out)]
        if kind == "depthwise":
            self.steps.append(("layer", at, self._layer(nn.Conv2d(width, 2 * width, 1, groups=width))))
            return [Node([nodes[c // 2]]) for c in range(2 * width)]
        if kind == "norm":
            self.steps.append(("layer", at, self._layer(nn.Sequential(nn.BatchNorm2d(width), nn.MaxPool2d(1)))))
            return nodes
        if kind == "relu":
            self.steps.append(("relu", at, None))
            self.activations.append([Node([node], unit=1) for node in nodes])
            return self.activations[-1]
        if kind in ("add", "sub"):
            other = draw.choice([i for i, value in enumerate(values) if len(value) == width])
            self.steps.append((kind, at, other))
            return [Node([one], [two]) for one, two in zip(nodes, values[other], strict=True)]
        if kind == "cat":
            other = draw.choice([i for i, value in enumerate(values) if len(value) <= 4])
            self.steps.append((kind, at, other))
            return [*nodes, *values[other]]
        if kind == "take":
            start = draw.randrange(width)
            self.steps.append((kind, at, start))
            return nodes[start:]
        self.steps.append((kind, at, None))  # turn: the channels go to the end, are reversed, and come back
        return nodes[::-1]

    def forward(self, x):
        values = [x]
        for kind, at, what in self.steps:
            one = values[at]
            if kind == "layer":
                one = self.layers[what](one)
            elif kind == "relu":
                one = F.relu(one)
            elif kind == "add":
                one = one + values[what]
            elif kind == "sub":
                one = torch.sub(one, values[what])
            elif kind == "cat":
                one = torch.cat([one, values[what]], dim=1)
            elif kind == "take":
                one = one[:, what:]
            elif kind == "turn":
                one = one.permute(0, 2, 3, 1).flip(-1).movedim(-1, 1)
            else:
                one = self.layers[what](one.flatten(1))
            values.append(one)
        return values[-1]
