"""Networks of parallel branches: GoogLeNet and Inception v3, from torchvision's own modules."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torchvision.models.googlenet import BasicConv2d, Inception
from torchvision.models.inception import InceptionA, InceptionB, InceptionC, InceptionD, InceptionE


class MiniGoogLeNet(nn.Module):
    """GoogLeNet's stem of three convolutions and nine Inception modules, with 8 to 16 channels a branch.

    Each module has four branches of two depths: 1 x 1, 3 x 3, "5 x 5" (in torchvision 3 x 3) and pooling.

    Args:
        classes: Number of outputs.
    """

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            BasicConv2d(1, 8, kernel_size=7, stride=2, padding=3),
            BasicConv2d(8, 8, kernel_size=1),
            BasicConv2d(8, 24, kernel_size=3, padding=1),
        )
        small, large = (8, 8, 12, 8, 8, 8), (16, 12, 16, 8, 8, 8)  # 36 and 48 channels together
        self.inception3 = nn.Sequential(Inception(24, *small), Inception(36, *small))
        self.inception4 = nn.Sequential(*[Inception(36, *small) for _ in range(4)], Inception(36, *large))
        self.inception5 = nn.Sequential(Inception(48, *large), Inception(48, *large))
        self.pool = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.head = nn.Linear(48, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        x = self.inception3(self.pool(self.stem(x)))
        x = self.inception4(self.pool(x))
        return self.head(self.inception5(self.pool(x)).mean(dim=(2, 3)))


class MiniInception(nn.Module):
    """Inception v3: its stem and its five kinds of modules, 16 times narrower and with 8 channels at least.

    The original has the modules A, A, A, B, C, C, C, C, D, E, E; here it is A, B, C, C, D, E.

    Args:
        classes: Number of outputs.
    """

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            BasicConv2d(1, 8, kernel_size=3, stride=2, padding=1),
            BasicConv2d(8, 8, kernel_size=3, padding=1),
            BasicConv2d(8, 12, kernel_size=3, padding=1),
        )
        self.mixed = nn.Sequential(
            _narrow(InceptionA, 192, 12, pool_features=32),  # 4 branches of 8
            _narrow(InceptionB, 288, 32),  # 24 + 8, and what came in
            _narrow(InceptionC, 768, 64, channels_7x7=128),  # 4 branches of 12
            _narrow(InceptionC, 768, 48, channels_7x7=160),
            _narrow(InceptionD, 768, 48),  # 20 + 12, and what came in
            _narrow(InceptionE, 1280, 80),  # 20 + 2 * 24 + 2 * 24 + 12
        )
        self.head = nn.Linear(128, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        return self.head(self.mixed(self.stem(x)).mean(dim=(2, 3)))


def _narrow(module: Any, original: int, ours: int, **options: int) -> nn.Module:
    """One of torchvision's modules of Inception v3, which have fixed widths, made narrower.

    They build their layers with a function that is an argument, and that function divides the widths by 16.

    Args:
        module: The class.
        original: Channels that come in, in the original: a number that is no width within that module.
        ours: Channels that come in here.
        options: What else the class wants.
    """

    def convolution(inputs: int, outputs: int, **shape: Any) -> nn.Module:
        return BasicConv2d(ours if inputs == original else _width(inputs), _width(outputs), **shape)

    return module(original, conv_block=convolution, **options)


def _width(original: int) -> int:
    return max(8, original // 16)
