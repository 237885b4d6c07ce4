"""The networks of Gamba et al. for CIFAR, without normalisation, to count the linear regions of.

    affscore signature examples/poster_networks.py:vgg8 --dataset cifar10 --images 512

``vgg8`` and ``resnet18`` have ten outputs, ``vgg8_cifar100`` has a hundred. ``examples/region_networks.py`` has smaller
ones for digits.

Source: Gamba, Chmielewski-Anders, Sullivan, Azizpour, Björkman, Are all linear regions created equal? (2022); their
code says which layers, and how their weights begin.
"""

import math
from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.zoo import Preprocessing

CIFAR10 = Preprocessing(size=32, resize=32, mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))
CIFAR100 = Preprocessing(size=32, resize=32, mean=(0.5071, 0.4865, 0.4409), std=(0.2673, 0.2564, 0.2762))
"""Images of 32 x 32 pixels, with mean and standard deviation of the training images."""

BLOCKS = 8
"""Residual blocks of the ResNet-18."""

NEARLY_ZERO = 1e-6
"""Standard deviation of weights that begin near zero: of the second convolution of a block, and of the last layer."""


def _he(convolution: nn.Conv2d) -> float:
    """The standard deviation of He et al.: sqrt(2 / (C_out k^2)) for k x k pixels."""
    return math.sqrt(2 / (convolution.out_channels * math.prod(convolution.kernel_size)))


def _begin(layer: nn.Conv2d | nn.Linear, std: float) -> None:
    """Weights that are normal around zero, and no bias."""
    nn.init.normal_(layer.weight, std=std)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


class VGG8(nn.Module):
    """Three stages of two convolutions of 3 x 3, each with an average pooling behind it, and two linear layers.

    The weights begin as in torchvision's VGGs: normal around zero, with the standard deviation sqrt(2 / (9 C_out)) in
    convolutions and 0.01 in linear layers. Biases begin with zeros.

    Args:
        classes: Number of outputs.
        preprocessing: What the network expects of an image.
    """

    def __init__(self, classes: int = 10, preprocessing: Preprocessing = CIFAR10) -> None:
        super().__init__()
        self.preprocessing = preprocessing
        layers: list[nn.Module] = []
        for before, after in pairwise([3, 6, 16, 64]):
            for channels in (before, after):
                layers += [nn.Conv2d(channels, after, 3, padding=1), nn.ReLU()]
            layers.append(nn.AvgPool2d(2))
        self.features = nn.Sequential(*layers)
        self.hidden = nn.Linear(1024, 120)
        self.head = nn.Linear(120, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                _begin(module, _he(module))
            elif isinstance(module, nn.Linear):
                _begin(module, 0.01)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 3, 32, 32)."""
        return self.head(F.relu(self.hidden(self.features(x).flatten(1))))


class Block(nn.Module):
    """Two convolutions of 3 x 3 whose output is added to the input, as it was or by a convolution of 1 x 1.

    A new block nearly passes its input on (Zhang et al., Fixup, 2019): the second convolution begins near zero, and the
    first one with the standard deviation sqrt(2 / (9 C_out)), divided by the root of the number of blocks.

    Args:
        before: Channels of the input.
        after: Channels of the output; where they are more, every second pixel is left.
    """

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        stride = 1 if before == after else 2
        self.conv1 = nn.Conv2d(before, after, 3, stride=stride, padding=1)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1)
        self.shortcut = nn.Identity() if before == after else nn.Conv2d(before, after, 1, stride=stride, bias=False)
        _begin(self.conv1, _he(self.conv1) / BLOCKS**0.5)
        _begin(self.conv2, NEARLY_ZERO)

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps (N, after, H / stride, W / stride) of feature maps (N, before, H, W)."""
        return F.relu(self.shortcut(x) + self.conv2(F.relu(self.conv1(x))))


class ResNet18(nn.Module):
    """A convolution of 3 x 3, eight residual blocks, an average over pixels, and a linear layer.

    The last layer begins near zero; the first one and the shortcuts begin as PyTorch draws them.

    Args:
        classes: Number of outputs.
        preprocessing: What the network expects of an image.
    """

    def __init__(self, classes: int = 10, preprocessing: Preprocessing = CIFAR10) -> None:
        super().__init__()
        self.preprocessing = preprocessing
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU())
        channels = [64, 64, 64, 128, 128, 256, 256, 512, 512]
        self.blocks = nn.Sequential(*(Block(before, after) for before, after in pairwise(channels)))
        self.head = nn.Linear(512, classes)
        _begin(self.head, NEARLY_ZERO)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 3, 32, 32)."""
        return self.head(torch.mean(self.blocks(self.stem(x)), dim=(2, 3)))


vgg8, resnet18, vgg8_cifar100 = VGG8, ResNet18, partial(VGG8, 100, CIFAR100)
