"""Small networks for digits with one part that can be set: their filters, their attention, or their shortcuts.

A factory is called after a design and the level of the part, as ``small_filters_3x6``, ``small_attention_uniform`` or
``small_shortcuts_0.5``. Levels of one design begin with the same weights, given the same seed, wherever these have the
same shapes.

    affscore signature notebooks/companion/studies/intervention_networks.py:small_attention_uniform --dataset digits
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.models import Preprocessing

GREY = partial(Preprocessing, channels=1, mean=(0.305,), std=(0.359,))


def convolution(before: int, after: int, side: int, norm: bool, stride: int = 1) -> nn.Sequential:
    """A convolution that keeps the picture's size, and a batch norm or a bias."""
    layer = nn.Conv2d(before, after, side, stride, side // 2, bias=not norm)
    nn.init.kaiming_normal_(layer.weight)
    return nn.Sequential(layer, nn.BatchNorm2d(after) if norm else nn.Identity())


class Filters(nn.Module):
    """Stages of convolutions with ReLUs, an average pooling between two, an average over pixels, a linear layer.

    Args:
        widths: Channels of each stage.
        norm: Whether there are batch norms.
        level: Side of the filters and layers of a stage, as "7x2". Six layers of 3, three of 5 and two of 7 pixels
            all see 13 pixels of the input of their stage.
    """

    preprocessing = GREY(size=16, resize=16)

    def __init__(self, widths: Sequence[int], norm: bool, level: str) -> None:
        super().__init__()
        side, layers = map(int, level.split("x"))
        parts: list[nn.Module] = []
        for before, after in pairwise([1, *widths]):
            for number in range(layers):
                parts += [convolution(after if number else before, after, side, norm), nn.ReLU()]
            parts.append(nn.AvgPool2d(2))
        self.features = nn.Sequential(*parts[:-1])
        self.head = nn.Linear(widths[-1], 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, 10) of images (N, 1, 16, 16)."""
        return self.head(self.features(x).mean(dim=(2, 3)))


class Layer(nn.Module):
    """A layer of a transformer: tokens are mixed, then each goes through two linear layers with a GELU.

    Args:
        width: Features of a token.
        heads: Of the attention.
        before: Whether parts normalise their input; else the sum of their input and output.
        level: "softmax", or what replaces the attention weights: "uniform" ones, or the "identity".
    """

    def __init__(self, width: int, heads: int, before: bool, level: str) -> None:
        super().__init__()
        self.heads, self.before, self.level = heads, before, level
        self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.hidden, self.back = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.gelu = nn.GELU()

    def attention(self, x: Tensor) -> Tensor:
        """Tokens (N, T, width) mixed by the weights of the level; values and output are learned at each level."""
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.mixed(x).chunk(3, dim=-1))
        if self.level == "softmax":
            v = F.scaled_dot_product_attention(q, k, v)
        elif self.level == "uniform":
            v = v.mean(dim=2, keepdim=True).expand_as(v)
        return self.out(v.transpose(1, 2).flatten(2))

    def forward(self, x: Tensor) -> Tensor:
        """Tokens (N, T, width) of tokens."""
        parts: list[Callable[[Tensor], Tensor]] = [self.attention, lambda y: self.back(self.gelu(self.hidden(y)))]
        for part, norm in zip(parts, self.norms, strict=True):
            x = x + part(norm(x)) if self.before else norm(x + part(x))
        return x


class Attention(nn.Module):
    """A transformer on the 16 patches of a picture of 8 pixels; the mean of its tokens goes to a linear layer.

    Args:
        width: Features of a token.
        layers: How many.
        heads: Of each attention.
        before: As of :class:`Layer`.
        level: As of :class:`Layer`.
    """

    preprocessing = GREY(size=8, resize=8)

    def __init__(self, width: int, layers: int, heads: int, before: bool, level: str) -> None:
        super().__init__()
        self.patches, self.places = nn.Conv2d(1, width, 2, 2), nn.Parameter(0.02 * torch.randn(16, width))
        self.layers = nn.Sequential(*(Layer(width, heads, before, level) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, 10) of images (N, 1, 8, 8)."""
        tokens = self.layers(self.patches(x).flatten(2).mT + self.places)
        return self.head(self.norm(tokens).mean(dim=1))


class Block(nn.Module):
    """Two convolutions; the input, times the strength, is added before the second ReLU.

    Args:
        before: Channels of the input.
        after: Channels of the output; where they are more, every second pixel is left, with channels of zeros.
        norm: Whether there are batch norms.
        strength: From 0 to 1.
    """

    def __init__(self, before: int, after: int, norm: bool, strength: float) -> None:
        super().__init__()
        self.added, self.stride, self.strength = after - before, 2 if after > before else 1, strength
        self.first = convolution(before, after, 3, norm, self.stride)
        self.second = convolution(after, after, 3, norm)

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps (N, after, H / stride, W / stride) of feature maps (N, before, H, W)."""
        short = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.added))
        return F.relu(self.strength * short + self.second(F.relu(self.first(x))))


class Shortcuts(nn.Module):
    """A stem that halves the picture, two stages of blocks, an average over pixels, a linear layer.

    Args:
        blocks: Of each stage.
        width: Channels of the first stage; the second one has twice as many.
        norm: Whether there are batch norms.
        level: The strength of the shortcuts, from 0 to 1.
    """

    preprocessing = GREY(size=16, resize=16)

    def __init__(self, blocks: int, width: int, norm: bool, level: str) -> None:
        super().__init__()
        widths = [width] * (blocks + 1) + [2 * width] * blocks
        self.stem = convolution(1, width, 3, norm, 2)
        self.blocks = nn.Sequential(*(Block(one, two, norm, float(level)) for one, two in pairwise(widths)))
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, 10) of images (N, 1, 16, 16)."""
        return self.head(self.blocks(F.relu(self.stem(x))).mean(dim=(2, 3)))


DESIGNS: dict[str, Callable[[str], nn.Module]] = {
    "narrow_filters": partial(Filters, (8,), False), "narrow_filters_norm": partial(Filters, (8,), True),
    "wide_filters_norm": partial(Filters, (16,), True),
    "two_filters": partial(Filters, (8, 16), False), "two_filters_norm": partial(Filters, (8, 16), True),
    "small_attention": partial(Attention, 16, 2, 2, True), "wide_attention": partial(Attention, 32, 2, 4, True),
    "deep_attention": partial(Attention, 16, 4, 2, True),
    "small_attention_after": partial(Attention, 16, 2, 2, False),
    "wide_attention_after": partial(Attention, 32, 2, 4, False),
    "small_shortcuts": partial(Shortcuts, 1, 8, False), "small_shortcuts_norm": partial(Shortcuts, 1, 8, True),
    "deep_shortcuts": partial(Shortcuts, 2, 8, False), "deep_shortcuts_norm": partial(Shortcuts, 2, 8, True),
    "wide_shortcuts_norm": partial(Shortcuts, 1, 16, True),
}  # fmt: skip
"""By name; each is called with the level."""


def __getattr__(name: str) -> Callable[[], nn.Module]:
    """The factory of a design at a level."""
    design, _, level = name.rpartition("_")
    if design not in DESIGNS:
        raise AttributeError(name)
    return partial(DESIGNS[design], level)
