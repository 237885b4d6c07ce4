"""Small networks that come with the package, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock

from affscore.zoo.preprocessing import Preprocessing

__all__ = ["MINI_NETWORKS", "DigitsNet", "MiniNetwork"]

WEIGHTS = Path(__file__).parent / "weights"

DIGITS = Preprocessing(channels=1, size=32, resize=32, mean=(0.305,), std=(0.324,))
"""The scans at 32 x 32 pixels; mean and standard deviation are those of the training part."""


class DigitsNet(nn.Module):
    """A small residual network for digits: a stem and four of torchvision's basic blocks, nine ReLUs.

    It is He et al.'s design at a size that trains in a minute: 16, 32 and 64 channels, average pooling,
    one linear layer, 152 thousand parameters.

    Args:
        classes: Number of outputs.
    """

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True))
        self.blocks = nn.Sequential(BasicBlock(16, 16), _wider(16, 32), _wider(32, 64), BasicBlock(64, 64))
        self.head = nn.Linear(64, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        features = self.blocks(self.stem(x))
        return self.head(features.mean(dim=(2, 3)))


def _wider(before: int, after: int) -> BasicBlock:
    shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride=2, bias=False), nn.BatchNorm2d(after))
    return BasicBlock(before, after, stride=2, downsample=shortcut)


@dataclass(frozen=True)
class MiniNetwork:
    """What is known of a small network.

    Attributes:
        name: As in ``mini:NAME``.
        build: Makes the network, with random weights.
        preprocessing: What it expects.
        family: The family of architectures that it stands for.
        year: The year of that architecture.
    """

    name: str
    build: Callable[[], nn.Module]
    preprocessing: Preprocessing
    family: str
    year: int

    @property
    def weights(self) -> Path:
        """The file of the trained weights."""
        return WEIGHTS / f"{self.name}.safetensors"

    def training_record(self) -> dict[str, Any]:
        """How the weights were made, and what they reach (written by the training script)."""
        return json.loads((WEIGHTS / f"{self.name}.json").read_text(encoding="utf-8"))


MINI_NETWORKS: dict[str, MiniNetwork] = {
    network.name: network for network in [MiniNetwork("digitsnet", DigitsNet, DIGITS, "ResNets", 2015)]
}


def seeded(build: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a network with random weights that the seed fixes, leaving the global generator alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()
