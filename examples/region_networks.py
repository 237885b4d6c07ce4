"""Small piecewise affine networks without normalisation, to count the linear regions of.

    affscore signature examples/region_networks.py:vgg8 --dataset digits --images 512

``vgg8`` is the VGG-like network of Gamba et al. with fewer channels, on pictures of half their side; ``resnet8`` has
three residual blocks. ``vgg8_1`` to ``vgg8_24`` are wider and narrower ones, by the channels of the first stage.

Source: Gamba, Chmielewski-Anders, Sullivan, Azizpour, Björkman, Are all linear regions created equal? (2022); their
code says which layers.
"""

from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.zoo import Preprocessing

DIGITS = Preprocessing(channels=1, size=16, resize=16, mean=(0.305,), std=(0.359,))
"""Grey images of 16 x 16 pixels."""


class VGG8(nn.Module):
    """Three stages of two convolutions of 3 x 3, each with an average pooling behind it, and two linear layers.

    Args:
        width: Channels of the first stage; the others have two and four times as many.
        classes: Number of outputs.
    """

    preprocessing = DIGITS

    def __init__(self, width: int, classes: int = 10) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in pairwise([1, width, 2 * width, 4 * width]):
            for channels in (before, after):
                layers += [nn.Conv2d(channels, after, 3, padding=1), nn.ReLU()]
            layers.append(nn.AvgPool2d(2))
        self.features = nn.Sequential(*layers)
        self.hidden = nn.Linear(16 * width, 8 * width)
        self.head = nn.Linear(8 * width, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
                nn.init.zeros_(module.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 16, 16)."""
        return self.head(F.relu(self.hidden(self.features(x).flatten(1))))


class Block(nn.Module):
    """Two convolutions of 3 x 3 whose output is added to the input, as it was or by a convolution of 1 x 1.

    The second convolution begins with zeros, so that a new block passes its input on (Zhang et al., Fixup, 2019).

    Args:
        before: Channels of the input.
        after: Channels of the output; where they are more, every second pixel is left.
    """

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        stride = 1 if before == after else 2
        self.conv1 = nn.Conv2d(before, after, 3, stride=stride, padding=1)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1)
        self.shortcut = nn.Identity() if before == after else nn.Conv2d(before, after, 1, stride=stride)
        nn.init.kaiming_normal_(self.conv1.weight)
        for tensor in (self.conv2.weight, self.conv1.bias, self.conv2.bias):
            nn.init.zeros_(tensor)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps (N, after, H / stride, W / stride) of feature maps (N, before, H, W)."""
        return F.relu(self.shortcut(x) + self.conv2(F.relu(self.conv1(x))))


class ResNet8(nn.Module):
    """A convolution, three residual blocks, an average over pixels, and a linear layer; no normalisation.

    Args:
        width: Channels of the first block; the others have two and four times as many.
        classes: Number of outputs.
    """

    preprocessing = DIGITS

    def __init__(self, width: int, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
        self.blocks = nn.Sequential(Block(width, width), Block(width, 2 * width), Block(2 * width, 4 * width))
        self.head = nn.Linear(4 * width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 16, 16)."""
        return self.head(torch.mean(self.blocks(self.stem(x)), dim=(2, 3)))


vgg8, resnet8 = partial(VGG8, 6), partial(ResNet8, 6)
vgg8_1, vgg8_2, vgg8_3, vgg8_4 = (partial(VGG8, width) for width in (1, 2, 3, 4))
vgg8_6, vgg8_8, vgg8_12, vgg8_16, vgg8_24 = (partial(VGG8, width) for width in (6, 8, 12, 16, 24))
