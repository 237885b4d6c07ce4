"""Training images are changed at random: moved for the main task; turned, scaled, moved and noisy for the hard one."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

SHIFT = 3
"""The training images are moved by up to this many pixels, so that the network learns shapes."""


def shifted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image moved by a random number of pixels in both directions."""
    padded = F.pad(images, [SHIFT] * 4, value=float(images.min()))
    size = images.shape[-1]
    moves = torch.randint(0, 2 * SHIFT + 1, (len(images), 2), generator=generator).tolist()
    places = zip(padded, moves, strict=True)
    return torch.stack([image[:, top : top + size, left : left + size] for image, (top, left) in places])


DEGREES, SCALE, MOVE, NOISE = 20.0, 0.15, 0.1, 0.3
"""Of the hard task: largest angle, change of size, move (share of the side), standard deviation of the noise."""


def distorted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image turned, scaled and moved at random, with noise on every pixel.

    The angle is uniform within 20 degrees to either side, the factor between 0.85 and 1.15, the move within 0.1 of
    the side in both directions; the noise is normal with 0.3 times the standard deviation of the data.

    Args:
        images: Prepared images (N, 1, H, W).
        generator: Where the random numbers come from.
    """
    many = len(images)
    angle, scale, right, down = (2 * torch.rand(many, 4, generator=generator) - 1).unbind(1)
    angle, scale = angle * math.radians(DEGREES), 1 / (1 + SCALE * scale)
    rows = [
        torch.stack([scale * angle.cos(), -scale * angle.sin(), 2 * MOVE * right], dim=1),
        torch.stack([scale * angle.sin(), scale * angle.cos(), 2 * MOVE * down], dim=1),
    ]
    grid = F.affine_grid(torch.stack(rows, dim=1), list(images.shape), align_corners=False)
    background = float(images.min())  # outside of the picture there is background, not grey
    moved = F.grid_sample(images - background, grid, align_corners=False) + background
    return moved + NOISE * torch.randn(images.shape, generator=generator)
