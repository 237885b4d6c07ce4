"""Networks with and without shortcuts that are otherwise the same, small enough to train on digits in a minute.

    affscore signature examples/matched_networks.py:residual20 --dataset digits --images 512

``residual8`` to ``residual32`` are He et al.'s networks for CIFAR-10 with half their channels, ``residual18`` and
``residual34`` have the four stages of their networks for ImageNet; ``plain14`` to ``plain34`` are the same networks
without shortcuts. Shortcuts have no parameters, so both twins begin with the same weights, given the same seed.

``residual8_wide`` and ``residual14_wide`` have as many channels as He et al.'s. ``plain1_wide`` to ``plain7_wide`` have
so many ReLUs, and are as wide as makes their parameters about as many as those of ``residual14`` (43,000).

Source: He, Zhang, Ren, Sun, Deep residual learning for image recognition (2015).
"""

from functools import partial
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from affscore.models import Preprocessing

DIGITS = Preprocessing(channels=1, size=32, resize=32, mean=(0.305,), std=(0.324,))
"""Grey images of 32 x 32 pixels, with the mean and the standard deviation of scikit-learn's digits."""


class Block(nn.Module):
    """Two convolutions of 3 x 3, each with a batch norm and a ReLU.

    Args:
        before: Channels of the input.
        after: Channels of the output. Where they are more, the first convolution takes every second pixel.
        shortcut: Whether the input is added before the second ReLU: every second pixel of it, with channels of
            zeros behind its own, where the output has more.
    """

    def __init__(self, before: int, after: int, shortcut: bool) -> None:
        super().__init__()
        self.added, self.shortcut = after - before, shortcut
        self.stride = 2 if self.added else 1
        self.conv1 = nn.Conv2d(before, after, 3, stride=self.stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps (N, after, H / stride, W / stride) of feature maps (N, before, H, W)."""
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.shortcut:
            y = y + F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.added))
        return F.relu(y)


class MatchedNetwork(nn.Module):
    """A stem that halves the picture, stages of blocks, an average over pixels, and a linear layer.

    Args:
        blocks: Number of blocks of each stage.
        widths: Channels of each stage, more from stage to stage.
        shortcuts: Whether the blocks have shortcuts.
        classes: Number of outputs.
    """

    preprocessing = DIGITS

    def __init__(self, blocks: tuple[int, ...], widths: tuple[int, ...], shortcuts: bool, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, widths[0], 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU()
        )
        channels = [width for many, width in zip(blocks, widths, strict=True) for _ in range(many)]
        steps = pairwise([widths[0], *channels])
        self.blocks = nn.Sequential(*(Block(before, after, shortcuts) for before, after in steps))
        self.head = nn.Linear(widths[-1], classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        return self.head(self.blocks(self.stem(x)).mean(dim=(2, 3)))


THREE, FOUR = (8, 16, 32), (8, 12, 16, 20)

residual14 = partial(MatchedNetwork, (2, 2, 2), THREE, shortcuts=True)
residual20 = partial(MatchedNetwork, (3, 3, 3), THREE, shortcuts=True)
residual32 = partial(MatchedNetwork, (5, 5, 5), THREE, shortcuts=True)
residual18 = partial(MatchedNetwork, (2, 2, 2, 2), FOUR, shortcuts=True)
residual34 = partial(MatchedNetwork, (3, 4, 6, 3), FOUR, shortcuts=True)
plain14 = partial(MatchedNetwork, (2, 2, 2), THREE, shortcuts=False)
plain20 = partial(MatchedNetwork, (3, 3, 3), THREE, shortcuts=False)
plain32 = partial(MatchedNetwork, (5, 5, 5), THREE, shortcuts=False)
plain18 = partial(MatchedNetwork, (2, 2, 2, 2), FOUR, shortcuts=False)
plain34 = partial(MatchedNetwork, (3, 4, 6, 3), FOUR, shortcuts=False)

WIDE = (16, 32, 64)

residual8 = partial(MatchedNetwork, (1, 1, 1), THREE, shortcuts=True)
residual8_wide = partial(MatchedNetwork, (1, 1, 1), WIDE, shortcuts=True)
residual14_wide = partial(MatchedNetwork, (2, 2, 2), WIDE, shortcuts=True)
plain1_wide = partial(MatchedNetwork, (0,), (2000,), shortcuts=False)
plain3_wide = partial(MatchedNetwork, (1,), (48,), shortcuts=False)
plain5_wide = partial(MatchedNetwork, (1, 1), (24, 48), shortcuts=False)
plain7_wide = partial(MatchedNetwork, (1, 1, 1), (12, 24, 48), shortcuts=False)
