"""The one trained network that comes with affscore: a small residual one for digits."""

from __future__ import annotations

from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock


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
        return self.head(self.blocks(self.stem(x)).mean(dim=(2, 3)))


def _wider(before: int, after: int) -> BasicBlock:
    return BasicBlock(before, after, stride=2, downsample=shortcut(before, after, stride=2))


def shortcut(before: int, after: int, stride: int) -> nn.Sequential:
    """What brings a shortcut to another width and stride: a convolution of one pixel."""
    return nn.Sequential(nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after))
