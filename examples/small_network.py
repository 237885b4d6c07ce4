"""A network of one's own in a file, with an activation that PyTorch does not have.

In the shell: affscore signature examples/small_network.py:small --dataset digits
"""

import torch
from torch import Tensor, nn

from affscore.models import Preprocessing


class Snake(nn.Module):
    """An activation that PyTorch does not have: x + sin(x)^2."""

    def forward(self, x: Tensor) -> Tensor:
        """The activation of each entry of x."""
        return x + torch.sin(x) ** 2


class Block(nn.Module):
    """Two convolutions, the second of which is added to what came in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(channels, channels, 3, padding=1)
        self.two = nn.Conv2d(channels, channels, 3, padding=1)
        self.snake = Snake()

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps (N, channels, H, W) of the same shape."""
        return torch.relu(x + self.two(self.snake(self.one(x))))


def small() -> nn.Module:
    """The network, with random weights; `@FILE` behind its name loads others."""
    network = nn.Sequential(
        nn.Conv2d(1, 24, 3, padding=1),
        nn.ReLU(),
        Block(24),
        nn.MaxPool2d(2),
        Block(24),
        nn.MaxPool2d(2),
        Block(24),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(24, 10),
    )
    network.preprocessing = Preprocessing(channels=1, size=8, resize=8, mean=(0.5,), std=(0.5,))
    network.declared_activations = [Snake]
    return network
