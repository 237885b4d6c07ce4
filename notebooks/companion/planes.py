"""Where chapter 15 looks: along closed paths around images, and at the points of a plane."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.linear_regions.pieces import Floats
from affscore.linear_regions.segment import directions_of, points_of_one_shape
from affscore.linear_regions.traced_network import TracedNetwork
from affscore.linear_regions.walk import DualPass
from affscore.options import check_integer
from affscore.recorder.model_state import random_states_kept

RADIUS = 1 / 8
"""Of the circle of translations, as a fraction of the shorter side of the image: 4 pixels at 32."""

ANCHORS = 8
"""Points of a path."""

FLAT = 1e-9
"""Two directions whose parallelogram is flatter than this, as a fraction of the longer side, are one."""

CHECKED = 8
"""At how many points the logits are compared with those that the network itself returns."""


def closed_paths(images: Tensor) -> Tensor:
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
    if images.ndim != 4 or not images.is_floating_point():
        what = f"{images.dtype} of shape {tuple(images.shape)}"
        raise AffscoreError(f"images must be a tensor of floating point (n, channels, height, width), got {what}")
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


@dataclass(frozen=True, eq=False)
class Plane:
    """What a network does on a parallelogram in the space of its inputs, at the middles of a grid's cells.

    Attributes:
        regions: The number of each point's region, from 0 in the order of the points, (rows, columns). Points of one
            number have the same activation pattern, and each max pooling chooses the same entries.
        slopes: How steep each logit is there within the plane, the length of its gradient, in logits per unit of the
            input, (rows, columns, logits). It is the same all over a region.
        sides: The lengths of the two sides, along the columns and along the rows, in the metric of the input.
    """

    regions: NDArray[np.int64]
    slopes: Floats
    sides: tuple[float, float]

    @property
    def count(self) -> int:
        """How many regions the points see. A region that lies between the points is not counted."""
        return int(self.regions.max()) + 1


def on_plane(
    model: nn.Module, origin: Any, right: Any, up: Any, points: int = 96, chunk: int | None = None, device: str = "auto"
) -> Plane:
    """The linear regions of a network on the parallelogram that three inputs span.

    Args:
        model: As in :func:`affscore.linear_regions.along_segment`.
        origin: One corner, an input without the axis of samples.
        right: The corner at the end of the columns.
        up: The corner at the end of the rows.
        points: How many there are along a side, each in the middle of a cell.
        chunk: As for :func:`affscore.linear_regions.along_segment`.
        device: As for :func:`affscore.signature`.

    Returns:
        Regions and slopes at the points. Between the points nothing is known: unlike along a segment, regions can be
        missed.

    Raises:
        AffscoreError: As for :func:`affscore.linear_regions.along_segment`, where segment 0 leads from origin to right
            and 1 to up; three inputs on one line.

    >>> quadrants = on_plane(nn.ReLU(), [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], points=2)
    >>> quadrants.regions.tolist()
    [[0, 1], [2, 3]]
    >>> quadrants.slopes[:, :, 0].tolist()  # relu(x) rises to the right of 0 alone
    [[0.0, 1.0], [0.0, 1.0]]
    """
    points = check_integer("points", points, 1)
    corner, *ends = points_of_one_shape(origin=origin, right=right, up=up)
    along, lengths = directions_of(torch.stack([corner, corner]), torch.stack(ends))
    # how both directions are made of two that are at right angles and of length 1: along.flatten(1).T = Q R
    _, mixed = torch.linalg.qr(along.flatten(1).T)
    if mixed.shape != (2, 2) or abs(float(mixed[1, 1])) <= FLAT * max(lengths):
        raise AffscoreError("origin, right and up are on one line: they span no plane")
    network = TracedNetwork(model, corner, chunk, device)
    with random_states_kept(network.device), torch.inference_mode():
        codes, slopes = _looked_at(network, corner.to(network.device), along.to(network.device), points)
    gradients = np.einsum("dpk,de->epk", slopes, np.linalg.inv(mixed.numpy()))
    _, first, regions = np.unique(codes, return_index=True, return_inverse=True)
    numbers = first.argsort().argsort()[regions]
    steep = np.linalg.norm(gradients, axis=0)
    return Plane(numbers.reshape(points, points), steep.reshape(points, points, -1), (lengths[0], lengths[1]))


def _looked_at(network: TracedNetwork, corner: Tensor, along: Tensor, points: int) -> tuple[NDArray[np.bytes_], Floats]:
    """The states of all units and poolings at each point, as a code, and the derivatives along both directions."""
    places = (torch.arange(points, dtype=corner.dtype, device=corner.device) + 0.5) / points
    rows, columns = (part.flatten() for part in torch.meshgrid(places, places, indexing="ij"))
    codes: list[bytes] = []
    slopes: list[Tensor] = []
    logits: list[Tensor] = []
    axes = [1] * corner.ndim

    def at(some: Tensor) -> Tensor:
        return corner + columns[some].view(-1, *axes) * along[0] + rows[some].view(-1, *axes) * along[1]

    for some in torch.arange(points**2, device=corner.device).split(network.chunk // 2):
        there = at(some)
        ahead, aside = (DualPass(network.program, there, way.expand_as(there)) for way in along)
        states = torch.cat([ahead.states, *(one.flatten(1) for one in ahead.choices)], 1).cpu().numpy()
        codes += [blake2b(row, digest_size=16).digest() for row in np.packbits(states, axis=1)]
        slopes.append(torch.stack([ahead.slopes, aside.slopes]))
        logits.append(ahead.logits)
    found = torch.cat(logits).cpu().numpy()
    some = torch.linspace(0, points**2 - 1, CHECKED, device=corner.device).long()
    largest = np.full(CHECKED, np.abs(found).max())
    network.compare(at(some), found[some.cpu()], largest, lambda point: f"at point {int(some[point])} of the plane")
    return np.array(codes), torch.cat(slopes, 1).cpu().numpy()
