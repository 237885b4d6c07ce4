"""Vision transformers, and the convolutional network that learnt from them: torchvision's classes, narrow."""

from __future__ import annotations

import math
from functools import partial

from torch import nn
from torchvision.models import ConvNeXt, SwinTransformer, VisionTransformer
from torchvision.models.convnext import CNBlockConfig

from affscore.zoo.mini.common import Network, grey


def vit(patch: int, layers: int, width: int, heads: int) -> VisionTransformer:
    """The ViT of torchvision on pictures of 32 pixels.

    Args:
        patch: Side of the patches, a divisor of 32.
        layers: Number of encoder layers; each has one GELU.
        width: Numbers in a token; four times as many within a layer.
        heads: Number of attention heads, a divisor of the width.
    """
    return grey(VisionTransformer(32, patch, layers, heads, width, 4 * width, num_classes=10))


VITS = {
    "vit_b_16": partial(vit, 8, 6, 16, 4),
    "vit_b_32": partial(vit, 16, 6, 16, 4),
    "vit_l_16": partial(vit, 8, 8, 20, 4),
    "vit_l_32": partial(vit, 16, 8, 20, 4),
    "vit_h_14": partial(vit, 4, 10, 24, 4),
}
"""Patches of 16, 8 and 4 pixels stand for the originals' 32, 16 and 14; 6, 8 and 10 layers for 12, 24 and 32."""


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


SWINS = {
    "swin_t": partial(swin, (2, 4, 2), 8),
    "swin_s": partial(swin, (2, 6, 2), 8),
    "swin_b": partial(swin, (2, 6, 2), 10),
}
"""The originals have four stages: 2, 2, 6, 2 blocks, and 2, 2, 18, 2 in the two larger ones."""


def convnext(widths: tuple[int, int, int, int], third: int) -> ConvNeXt:
    """The ConvNeXt of torchvision with four stages and patches of 2 pixels.

    Args:
        widths: Channels of the stages; four times as many within a block.
        third: Blocks of the third stage; the others have two.
    """
    following = [*widths[1:], None]
    blocks = [CNBlockConfig(w, after, n) for w, after, n in zip(widths, following, (2, 2, third, 2), strict=True)]
    return _weights_for_narrow_layers(grey(ConvNeXt(blocks, layer_scale=0.1, num_classes=10), kernel=2, stride=2))


CONVNEXTS = {
    "convnext_tiny": partial(convnext, (8, 12, 16, 24), 3),
    "convnext_small": partial(convnext, (8, 12, 16, 24), 6),
    "convnext_base": partial(convnext, (10, 14, 18, 26), 6),
    "convnext_large": partial(convnext, (12, 16, 20, 28), 6),
}
"""The originals have 96 to 768, 128 to 1024 and 192 to 1536 channels, and 3, 3, 9 or 27, 3 blocks."""


def _weights_for_narrow_layers(model: Network) -> Network:
    """Random weights of variance 1 / inputs: the standard deviation of 0.02 is for layers of 2500 inputs."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            nn.init.trunc_normal_(module.weight, std=math.sqrt(1 / module.weight[0].numel()))
    return model
