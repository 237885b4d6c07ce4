"""Vision transformers, and the convolutional network that learnt from them: torchvision's classes, narrow."""

from __future__ import annotations

import math

from torch import nn
from torchvision.models import ConvNeXt, SwinTransformer, VisionTransformer
from torchvision.models.convnext import CNBlockConfig

from companion.mini_zoo import Network, grey


def vit(patch: int, layers: int, width: int, heads: int) -> VisionTransformer:
    """The ViT of torchvision on pictures of 32 pixels.

    Args:
        patch: Side of the patches, a divisor of 32.
        layers: Number of encoder layers; each has one GELU.
        width: Numbers in a token; four times as many within a layer.
        heads: Number of attention heads, a divisor of the width.
    """
    return grey(VisionTransformer(32, patch, layers, heads, width, 4 * width, num_classes=10))


def swin(depths: tuple[int, ...], width: int) -> SwinTransformer:
    """The Swin transformer of torchvision with three stages, patches of 4 pixels and windows of 2 x 2 tokens.

    Args:
        depths: Blocks of each stage, two at least (a plain window and a shifted one).
        width: Numbers in a token of the first stage; each stage doubles it.
    """
    heads = [2 * 2**stage for stage in range(len(depths))]
    options = {"stochastic_depth_prob": 0.0, "num_classes": 10}
    model = SwinTransformer([4, 4], width, list(depths), heads, [2, 2], **options)
    return _weights_for_narrow_layers(grey(model))


def convnext(widths: tuple[int, int, int, int], third: int) -> ConvNeXt:
    """The ConvNeXt of torchvision with four stages and patches of 2 pixels.

    Args:
        widths: Channels of the stages; four times as many within a block.
        third: Blocks of the third stage; the others have two.
    """
    following = [*widths[1:], None]
    blocks = [CNBlockConfig(w, after, n) for w, after, n in zip(widths, following, (2, 2, third, 2), strict=True)]
    return _weights_for_narrow_layers(grey(ConvNeXt(blocks, layer_scale=0.1, num_classes=10), kernel=2, stride=2))


def _weights_for_narrow_layers(model: Network) -> Network:
    """Random weights of variance 1 / inputs: the standard deviation of 0.02 is for layers of 2500 inputs."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            nn.init.trunc_normal_(module.weight, std=math.sqrt(1 / module.weight[0].numel()))
    return model
