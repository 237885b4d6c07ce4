"""Networks that were found by a search: MNASNet and EfficientNet, torchvision's classes with few channels."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import nn
from torchvision.models import EfficientNet, MNASNet
from torchvision.models.efficientnet import MBConv, MBConvConfig
from torchvision.ops.misc import SqueezeExcitation

from companion.mini_zoo import grey


def mnasnet(alpha: float) -> MNASNet:
    """The MNASNet of torchvision with a narrow last layer.

    Its batch normalisation forgets 0.0003 of its running statistics a step, too little for a short training, and
    that is raised to the usual 0.1.

    Args:
        alpha: The factor of all widths, which are multiples of 8 at least 8.
    """
    model = grey(MNASNet(alpha, num_classes=10, dropout=0.0))
    widest = model.get_submodule("layers.12.0.layers.3")
    widest.stride = (1, 1)  # a fifth halving would leave one position of 32 x 32
    last: Any = model.layers[-3]  # 1280 channels before the classifier, which the class does not let one choose
    model.layers[-3], model.layers[-2] = nn.Conv2d(last.in_channels, 128, 1, bias=False), nn.BatchNorm2d(128)
    model.classifier[-1] = nn.Linear(128, 10)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 0.1
    return model


EFFICIENTNET_STAGES = [(1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3),
                       (6, 5, 1, 80, 112, 3), (6, 5, 1, 112, 192, 4), (6, 3, 1, 192, 320, 1)]  # fmt: skip
"""Expansion, kernel, stride, channels before and after, and blocks: the original's, but for the stride of the sixth,
since a fifth halving would leave one position of a picture of 32 pixels."""


def efficientnet(width: float, depth: float) -> EfficientNet:
    """The EfficientNet of torchvision: seven stages of inverted bottlenecks with squeeze and excitation.

    Args:
        width: The factor of all widths, which are multiples of 8 at least 8.
        depth: The factor of the number of blocks.
    """
    stage = partial(MBConvConfig, width_mult=width, depth_mult=depth, block=partial(MBConv, se_layer=_gate))
    stages = [stage(*numbers) for numbers in EFFICIENTNET_STAGES]
    return grey(EfficientNet(stages, dropout=0.0, stochastic_depth_prob=0.0, num_classes=10))


def _gate(channels: int, squeezed: int, **options: type[nn.Module]) -> SqueezeExcitation:
    """Squeeze and excitation through 8 channels at least: a quarter of so few would be 2."""
    return SqueezeExcitation(channels, max(8, squeezed), **options)
