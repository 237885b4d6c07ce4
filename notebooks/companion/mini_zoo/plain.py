"""Plain convolutional networks, of 2012 and 2014: one layer after the other, without normalisation."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn
from torchvision.models.vgg import make_layers

from companion.mini_zoo import grey, initialise

ALEXNET_CONVOLUTIONS = [(1, 12, 7, 2, True), (12, 24, 5, 1, True), (24, 32, 3, 1, False), (32, 24, 3, 1, False),
                        (24, 24, 3, 1, True)]  # fmt: skip
"""Channels before and after, size of the kernel, stride, and whether pooling follows."""


class MiniAlexNet(nn.Module):
    """AlexNet's five convolutions and three linear layers, seven ReLUs.

    The original has 64, 192, 384, 256 and 256 channels and 4096 twice; this one 12, 24, 32, 24 and 24, and 64 twice.

    Args:
        classes: Number of outputs.
    """

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after, kernel, stride, pooled in ALEXNET_CONVOLUTIONS:
            layers += [nn.Conv2d(before, after, kernel, stride, padding=kernel // 2), nn.ReLU(inplace=True)]
            layers += [nn.MaxPool2d(3, stride=2, padding=1)] if pooled else []
        self.features = nn.Sequential(*layers)
        self.classifier = _two_hidden_layers(24 * 2 * 2, 64, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        return self.classifier(self.features(x).flatten(1))


VGG_WIDTHS = (8, 12, 16, 20, 20)
"""Channels of the five stages; the originals have 64, 128, 256, 512 and 512."""


class MiniVGG(nn.Module):
    """A VGG with all the layers of the original: 8 to 16 convolutions and three linear layers.

    The convolutions come from torchvision's ``make_layers``, without batch normalisation.

    Args:
        convolutions: How many there are in each stage.
        classes: Number of outputs.
    """

    def __init__(self, convolutions: tuple[int, ...], classes: int = 10) -> None:
        super().__init__()
        stages = zip(VGG_WIDTHS, convolutions, strict=True)
        self.features = grey(make_layers([layer for width, many in stages for layer in [*[width] * many, "M"]]))
        self.classifier = _two_hidden_layers(VGG_WIDTHS[-1], 48, classes)
        # deep and without normalisation: the scale must be kept
        initialise(self, partial(nn.init.kaiming_normal_, nonlinearity="relu"))

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        return self.classifier(self.features(x).flatten(1))


def _two_hidden_layers(inputs: int, hidden: int, classes: int) -> nn.Sequential:
    relus = nn.ReLU(inplace=True), nn.ReLU(inplace=True)
    linear = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, classes)
    return nn.Sequential(linear[0], relus[0], linear[1], relus[1], linear[2])
