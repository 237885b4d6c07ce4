"""Networks made to be small: SqueezeNet, MobileNetV2 and ShuffleNetV2."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torchvision.models import MobileNetV2, ShuffleNetV2
from torchvision.models.squeezenet import Fire
from torchvision.ops.misc import Conv2dNormActivation

from companion.mini_zoo import grey, initialise


class MiniSqueezeNet(nn.Module):
    """SqueezeNet's eight Fire modules: a 1 x 1 convolution squeezes, a 1 x 1 and a 3 x 3 one expand.

    An eighth of the original's widths, but 8 channels at least. The classifier is a convolution, too, and its ReLU
    makes all outputs positive.

    Args:
        version: "1_0" (a wide 7 x 7 stem and late pooling) or "1_1" (a narrow 3 x 3 stem and early pooling).
        classes: Number of outputs.
    """

    def __init__(self, version: str, classes: int = 10) -> None:
        super().__init__()
        old = version == "1_0"
        stem = nn.Conv2d(1, 12, 7, stride=2, padding=3) if old else nn.Conv2d(1, 8, 3, stride=2, padding=1)
        widths = (8, 8, 16, 16, 24, 24, 32, 32)
        inputs = (stem.out_channels, *(2 * width for width in widths))
        fires: list[nn.Module] = [Fire(before, 8, width, width) for before, width in zip(inputs, widths, strict=False)]
        for after in reversed((3, 7) if old else (2, 4)):
            fires.insert(after, nn.MaxPool2d(3, stride=2, ceil_mode=True))
        pool = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.features = nn.Sequential(stem, nn.ReLU(inplace=True), pool, *fires)
        last = nn.Conv2d(64, classes, 1)
        self.classifier = nn.Sequential(last, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1))
        initialise(self, nn.init.kaiming_uniform_)
        nn.init.normal_(last.weight, std=0.01)
        last.bias = nn.Parameter(torch.ones(classes))  # an output that begins below 0 for all images would never learn

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (N, classes), none below 0, of images (N, 1, 32, 32)."""
        return self.classifier(self.features(x)).flatten(1)


MOBILENET_STAGES = [(1, 8, 1, 1), (6, 8, 2, 2), (6, 8, 2, 2), (6, 12, 2, 2), (6, 16, 2, 1), (6, 20, 2, 1),
                    (6, 24, 1, 1)]  # fmt: skip
"""Expansion, channels, blocks and stride; the original has 16 to 320 channels and 1, 2, 3, 4, 3, 3 and 1 blocks."""


def mobilenet() -> MobileNetV2:
    """The MobileNetV2 of torchvision, an eighth as wide, with 128 channels before the classifier instead of 1280."""
    model = MobileNetV2(10, 0.25, [[t, 4 * c, n, s] for t, c, n, s in MOBILENET_STAGES], round_nearest=4, dropout=0.0)
    model.features[-1] = Conv2dNormActivation(24, 128, kernel_size=1, activation_layer=nn.ReLU6)
    model.classifier[-1] = nn.Linear(128, 10)
    return grey(model)


def shufflenet(widths: tuple[int, int, int]) -> ShuffleNetV2:
    """The ShuffleNetV2 of torchvision with half the blocks of the original.

    Args:
        widths: Channels of the three stages; half of them go through each block.
    """
    model = grey(ShuffleNetV2([2, 4, 2], [8, *widths, 128], num_classes=10))
    model.maxpool = nn.Identity()  # the fifth halving would leave one position of a picture of 32 pixels
    return model
