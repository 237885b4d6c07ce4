"""Paths in the space of inputs: around an image, by translations of it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.linear_regions.inputs import tensor_of

RADIUS = 1 / 8
"""Of the circle of translations, as a fraction of the shorter side of the image: 4 pixels at 32."""

ANCHORS = 8
"""Points of a path."""


def closed_paths(images: Any) -> Tensor:
    r"""A closed path around each image, through eight translations of it.

    Anchor :math:`k` is the image moved by :math:`(r \cos t_k, r \sin t_k)` pixels to the right and down,
    :math:`t_k = 2 \pi k / 8` and r an eighth of the shorter side, rounded to whole pixels (halves to even ones); what
    comes in at the border repeats the image's edge. The last point is the first anchor again. The image itself is not
    on the path.

    Args:
        images: Tensor of floating point, (n, channels, height, width).

    Returns:
        Paths, (n, 9, channels, height, width).

    Raises:
        AffscoreError: No images, or some so small that neighbouring anchors are the same.

    Source: Gamba et al. (2022), by their published code; there each anchor is normalised once for each that follows,
    and the last segment leads to the next image.

    >>> closed_paths(torch.arange(64.0).view(1, 1, 8, 8))[0, :, 0, 3, 3]  # the pixel that moves to (3, 3)
    tensor([26., 18., 19., 20., 28., 36., 35., 34., 26.])
    """
    images = tensor_of(images, "images")
    if images.ndim != 4 or not images.numel() or not images.is_floating_point():
        raise AffscoreError(
            f"images must be a tensor of floating point (n, channels, height, width), got {images.dtype} of shape "
            f"{tuple(images.shape)}"
        )
    height, width = images.shape[2:]
    radius = RADIUS * min(height, width)
    angles = [2 * math.pi * k / ANCHORS for k in range(ANCHORS + 1)]
    # halves are rounded as such, whatever the rounding of cos and sin
    moves = [tuple(round(round(radius * way(angle), 9)) for way in (math.cos, math.sin)) for angle in angles]
    if any(one == other for one, other in itertools.pairwise(moves)):
        raise AffscoreError(f"images of {height} x {width} pixels are too small: translations of them are the same")
    edge = max(max(abs(x), abs(y)) for x, y in moves)
    padded = F.pad(images, (edge,) * 4, mode="replicate")
    return torch.stack([padded[:, :, edge - y :, edge - x :][:, :, :height, :width] for x, y in moves], 1)
