"""Paths in the space of inputs: around an image by translations, in random directions, and between two images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.options import check_integer

RADIUS = 1 / 8
"""Of the circle of translations, as a fraction of the shorter side of the image: 4 pixels at 32."""

Prepare = Callable[[Tensor], Tensor]


def closed_paths(
    images: Tensor, anchors: int = 8, radius: float | None = None, prepare: Prepare | None = None
) -> Tensor:
    r"""A closed path around each image, through translations of it.

    Anchor :math:`k` is the image moved by :math:`(r \cos t_k, r \sin t_k)` pixels, :math:`t_k = 2 \pi k / K`, rounded
    to whole pixels; what comes in at the border repeats the image's edge. The last point is the first anchor again. The
    image itself is not on the path.

    Args:
        images: As they are before normalisation, (n, channels, height, width).
        anchors: K, at least 3.
        radius: r in pixels; None for an eighth of the shorter side.
        prepare: What a network's data go through, normalisation for example, (m, channels, height, width) to
            (m, ...); each anchor goes through it once.

    Returns:
        Paths, (n, K + 1, ...).

    Raises:
        AffscoreError: No images, a number of anchors below 3, or a radius at which neighbours are the same.

    Source: Gamba et al. (2022), by their published code; there each anchor is normalised once for each that follows,
    and the last segment leads to the next image.

    >>> closed_paths(torch.arange(64.0).view(1, 1, 8, 8), radius=1)[0, :, 0, 3, 3]  # the pixel that moves to (3, 3)
    tensor([26., 18., 19., 20., 28., 36., 35., 34., 26.])
    """
    points = _anchors(images, anchors, radius, prepare)
    return torch.cat([points, points[:, :1]], 1)


def open_paths(images: Tensor, anchors: int = 8, radius: float | None = None, prepare: Prepare | None = None) -> Tensor:
    """The path of :func:`closed_paths` without its last segment, (n, anchors, ...)."""
    return _anchors(images, anchors, radius, prepare)


def random_directions(starts: Tensor, length: float, seed: int = 0) -> Tensor:
    """A segment from each input in a direction of its own, uniform on the sphere.

    Args:
        starts: Inputs as the network takes them, (n, ...).
        length: Of the segments, in the metric of the input.
        seed: Fixes the directions.

    Returns:
        Paths of one segment, (n, 2, ...).

    Raises:
        AffscoreError: No inputs, or a length that is not positive.

    >>> path = random_directions(torch.zeros(3, 2), length=5)
    >>> (path[:, 1] - path[:, 0]).norm(dim=1)
    tensor([5., 5., 5.])
    """
    if starts.ndim < 2 or not starts.numel():
        raise AffscoreError(f"starts must be inputs (n, ...), got a tensor of shape {tuple(starts.shape)}")
    if not (math.isfinite(length) and length > 0):
        raise AffscoreError(f"length must be a positive number, got {length!r}")
    generator = torch.Generator().manual_seed(check_integer("seed", seed, 0))
    ways = torch.randn(starts.shape, generator=generator, dtype=torch.float64).flatten(1)
    ways = (length * ways / ways.norm(dim=1, keepdim=True)).view(starts.shape).to(starts)
    return torch.stack([starts, starts + ways], 1)


def class_paths(inputs: Tensor, labels: Sequence[Any] | Tensor, count: int, seed: int = 0) -> Tensor:
    """Segments between two different inputs of one class, drawn at random.

    Args:
        inputs: As the network takes them, (n, ...).
        labels: The class of each.
        count: How many segments. First an input is drawn, and then another one of its class.
        seed: Fixes which.

    Returns:
        Paths of one segment, (count, 2, ...).

    Raises:
        AffscoreError: Another number of labels than inputs, or no class of two inputs.

    >>> path = class_paths(torch.tensor([[0.0], [1.0], [10.0]]), ["a", "a", "b"], count=1)
    >>> sorted(path.flatten().tolist())
    [0.0, 1.0]
    """
    classes = labels.tolist() if isinstance(labels, Tensor) else list(labels)
    if len(classes) != len(inputs):
        raise AffscoreError(f"each input needs a label: got {len(inputs)} inputs and {len(classes)} labels")
    count = check_integer("count", count, 1)
    members: dict[Any, list[int]] = {}
    for place, label in enumerate(classes):
        members.setdefault(label, []).append(place)
    possible = [place for place, label in enumerate(classes) if len(members[label]) > 1]
    if not possible:
        raise AffscoreError("no class has two inputs: there is no pair to connect")
    generator = torch.Generator().manual_seed(check_integer("seed", seed, 0))
    firsts = [possible[i] for i in torch.randint(len(possible), (count,), generator=generator).tolist()]
    seconds = []
    for first in firsts:
        others = [place for place in members[classes[first]] if place != first]
        seconds.append(others[int(torch.randint(len(others), (1,), generator=generator))])
    return torch.stack([inputs[firsts], inputs[seconds]], 1)


def _anchors(images: Tensor, anchors: int, radius: float | None, prepare: Prepare | None) -> Tensor:
    """The anchors around each image, (n, anchors, ...)."""
    if images.ndim != 4 or not images.numel() or not images.is_floating_point():
        raise AffscoreError(
            f"images must be a tensor of floating point (n, channels, height, width), got {images.dtype} of shape "
            f"{tuple(images.shape)}"
        )
    anchors = check_integer("anchors", anchors, 3)
    height, width = images.shape[2:]
    radius = RADIUS * min(height, width) if radius is None else float(radius)
    angles = [2 * math.pi * k / anchors for k in range(anchors)]
    moves = [(round(radius * math.cos(angle)), round(radius * math.sin(angle))) for angle in angles]
    if any(one == other for one, other in zip(moves, [*moves[1:], moves[0]], strict=True)):
        raise AffscoreError(
            f"with radius {radius:g} neighbours among {anchors} anchors are moved by the same whole pixels; use a "
            "larger radius or fewer anchors"
        )
    edge = max(max(abs(x), abs(y)) for x, y in moves)
    padded = F.pad(images, (edge,) * 4, mode="replicate")
    points = []
    for x, y in moves:
        moved = padded[:, :, edge - y : edge - y + height, edge - x : edge - x + width]
        points.append(moved if prepare is None else prepare(moved))
    return torch.stack(points, 1)
