"""Piecewise affine networks without normalisation, to count the linear regions of.

    affscore signature examples/region_networks.py:vgg8 --dataset digits --images 512
    affscore signature examples/region_networks.py:vgg8_cifar10 --dataset cifar10 --images 512

``vgg8_cifar10``, ``vgg8_cifar100`` and ``resnet18_cifar10`` are those of Gamba et al.; ``vgg8`` and ``resnet8`` small
ones of their kind for digits, with pictures of half the side; ``vgg8_1`` to ``vgg8_24`` are narrower and wider ones, by
the channels of the first stage.

Source: Gamba, Chmielewski-Anders, Sullivan, Azizpour, Björkman, Are all linear regions created equal? (2022); their
code says which layers, and how their weights begin.
"""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.models import Preprocessing

DIGITS = Preprocessing(channels=1, size=16, resize=16, mean=(0.305,), std=(0.359,))
"""Grey images of 16 x 16 pixels."""

CIFAR10 = Preprocessing(size=32, resize=32, mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))
CIFAR100 = Preprocessing(size=32, resize=32, mean=(0.5071, 0.4865, 0.4409), std=(0.2673, 0.2564, 0.2762))
"""Images of 32 x 32 pixels, with mean and standard deviation of the training images."""

NEARLY_ZERO = 1e-6
"""Standard deviation of weights that begin near zero: of the second convolution of a block, and of the last layer."""


class VGG8(nn.Module):
    """Three stages of two convolutions of 3 x 3, each with an average pooling behind it, and two linear layers.

    Args:
        stages: Channels of the stages.
        hidden: Features between the linear layers.
        preprocessing: What the network expects of an image.
        classes: Number of outputs.
    """

    def __init__(
        self, stages: Sequence[int], hidden: int, preprocessing: Preprocessing = DIGITS, classes: int = 10
    ) -> None:
        super().__init__()
        self.preprocessing = preprocessing
        layers: list[nn.Module] = []
        for before, after in pairwise([preprocessing.channels, *stages]):
            for channels in (before, after):
                layers += [nn.Conv2d(channels, after, 3, padding=1), nn.ReLU()]
            layers.append(nn.AvgPool2d(2))
        self.features = nn.Sequential(*layers)
        self.hidden = nn.Linear(stages[-1] * (preprocessing.size // 8) ** 2, hidden)
        self.head = nn.Linear(hidden, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
                nn.init.zeros_(module.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, channels, size, size)."""
        return self.head(F.relu(self.hidden(self.features(x).flatten(1))))


class Block(nn.Module):
    """Two convolutions of 3 x 3 whose output is added to the input, as it was or by a convolution of 1 x 1.

    The second convolution begins with zeros, so that a new block passes its input on (Zhang et al., Fixup, 2019).

    Args:
        before: Channels of the input.
        after: Channels of the output; where they are more, every second pixel is left.
        bias: Whether the convolution of 1 x 1 has one.
    """

    def __init__(self, before: int, after: int, bias: bool = True) -> None:
        super().__init__()
        stride = 1 if before == after else 2
        self.conv1 = nn.Conv2d(before, after, 3, stride=stride, padding=1)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1)
        self.shortcut = nn.Identity() if before == after else nn.Conv2d(before, after, 1, stride=stride, bias=bias)
        nn.init.kaiming_normal_(self.conv1.weight)
        for tensor in (self.conv2.weight, self.conv1.bias, self.conv2.bias):
            nn.init.zeros_(tensor)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps (N, after, H / stride, W / stride) of feature maps (N, before, H, W)."""
        return F.relu(self.shortcut(x) + self.conv2(F.relu(self.conv1(x))))


class ResNet(nn.Module):
    """A convolution, residual blocks, an average over pixels, and a linear layer; no normalisation.

    Args:
        channels: Of the input of the first block, and of the output of each.
        preprocessing: What the network expects of an image.
        classes: Number of outputs.
        bias: As of :class:`Block`.
    """

    def __init__(
        self, channels: Sequence[int], preprocessing: Preprocessing = DIGITS, classes: int = 10, bias: bool = True
    ) -> None:
        super().__init__()
        self.preprocessing = preprocessing
        self.stem = nn.Sequential(nn.Conv2d(preprocessing.channels, channels[0], 3, padding=1), nn.ReLU())
        self.blocks = nn.Sequential(*(Block(before, after, bias) for before, after in pairwise(channels)))
        self.head = nn.Linear(channels[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, channels, size, size)."""
        return self.head(torch.mean(self.blocks(self.stem(x)), dim=(2, 3)))


def _begin(layer: nn.Conv2d | nn.Linear, std: float) -> None:
    """Weights that are normal around zero, and no bias."""
    nn.init.normal_(layer.weight, std=std)
    nn.init.zeros_(layer.bias)  # type: ignore[arg-type]


def _he(convolution: nn.Conv2d) -> float:
    """The standard deviation of He et al.: sqrt(2 / (C_out k^2)) for k x k pixels."""
    return math.sqrt(2 / (convolution.out_channels * math.prod(convolution.kernel_size)))


def _published_vgg8(preprocessing: Preprocessing, classes: int) -> VGG8:
    """As published: convolutions begin with the standard deviation sqrt(2 / (9 C_out)), linear layers with 0.01."""
    model = VGG8([6, 16, 64], 120, preprocessing, classes)
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            _begin(layer, _he(layer) if isinstance(layer, nn.Conv2d) else 0.01)
    return model


def resnet18_cifar10() -> ResNet:
    """As published: the first convolution of a block begins with sqrt(2 / (9 C_out L)), L = 8 being their number.

    The second one and the last layer begin near zero, the stem and the shortcuts as PyTorch draws them.
    """
    model = ResNet([64, 64, 64, 128, 128, 256, 256, 512, 512], CIFAR10, bias=False)
    for block in model.blocks:
        assert isinstance(block, Block)
        _begin(block.conv1, _he(block.conv1) / len(model.blocks) ** 0.5)
        _begin(block.conv2, NEARLY_ZERO)
    _begin(model.head, NEARLY_ZERO)
    return model


def _small_vgg8(width: int) -> VGG8:
    return VGG8([width, 2 * width, 4 * width], 8 * width)


vgg8_cifar10, vgg8_cifar100 = partial(_published_vgg8, CIFAR10, 10), partial(_published_vgg8, CIFAR100, 100)
vgg8, resnet8 = partial(_small_vgg8, 6), partial(ResNet, [6, 6, 12, 24])
vgg8_1, vgg8_2, vgg8_3, vgg8_4 = (partial(_small_vgg8, width) for width in (1, 2, 3, 4))
vgg8_6, vgg8_8, vgg8_12, vgg8_16, vgg8_24 = (partial(_small_vgg8, width) for width in (6, 8, 12, 16, 24))
