"""Paths in the space of inputs: around an image by translations, in random directions, and between two images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from affscore.errors import AffscoreError, guarded
from affscore.linear_regions.inputs import LARGEST, check_number, tensor_of
from affscore.options import check_integer

RADIUS = 1 / 8
"""Of the circle of translations, as a fraction of the shorter side of the image: 4 pixels at 32."""

Prepare = Callable[[Tensor], Tensor]


def closed_paths(images: Any, anchors: int = 8, radius: float | None = None, prepare: Prepare | None = None) -> Tensor:
    r"""A closed path around each image, through translations of it.

    Anchor :math:`k` is the image moved by :math:`(r \cos t_k, r \sin t_k)` pixels to the right and down,
    :math:`t_k = 2 \pi k / K`, rounded to whole pixels (halves to even ones); what comes in at the border repeats the
    image's edge. The last point is the first anchor again. The image itself is not on the path.

    Args:
        images: As they are before normalisation, of floating point, (n, channels, height, width).
        anchors: K, at least 3.
        radius: r in pixels, up to the shorter side; None for an eighth of it.
        prepare: What a network's data go through, normalisation for example, (m, channels, height, width) to
            (m, ...); each anchor goes through it once.

    Returns:
        Paths, (n, K + 1, ...).

    Raises:
        AffscoreError: No images, a number of anchors below 3, a radius that is too large or at which neighbours are
            the same, or a function ``prepare`` that fails or returns another number of images.

    Source: Gamba et al. (2022), by their published code; there each anchor is normalised once for each that follows,
    and the last segment leads to the next image.

    >>> closed_paths(torch.arange(64.0).view(1, 1, 8, 8), radius=1)[0, :, 0, 3, 3]  # the pixel that moves to (3, 3)
    tensor([26., 18., 19., 20., 28., 36., 35., 34., 26.])
    """
    points = _anchors(images, anchors, radius, prepare)
    return torch.cat([points, points[:, :1]], 1)


def open_paths(images: Any, anchors: int = 8, radius: float | None = None, prepare: Prepare | None = None) -> Tensor:
    """The path of :func:`closed_paths` without its last segment, (n, anchors, ...)."""
    return _anchors(images, anchors, radius, prepare)


def random_directions(starts: Any, length: float, seed: int = 0) -> Tensor:
    """A segment from each input in a direction of its own, uniform on the sphere.

    Args:
        starts: Inputs as the network takes them, of floating point, (n, ...).
        length: Of the segments, in the metric of the input.
        seed: Fixes the directions.

    Returns:
        Paths of one segment in double precision, (n, 2, ...).

    Raises:
        AffscoreError: No inputs, or no finite ones, or a length that is not positive or lost to rounding.

    >>> path = random_directions(torch.zeros(3, 2), length=5)
    >>> (path[:, 1] - path[:, 0]).norm(dim=1).numpy().round(9)
    array([5., 5., 5.])
    """
    starts = tensor_of(starts, "starts")
    if starts.ndim < 2 or not starts.numel() or not starts.is_floating_point() or not bool(starts.isfinite().all()):
        raise AffscoreError(
            f"starts must be inputs (n, ...) of finite numbers of floating point, got {starts.dtype} of shape "
            f"{tuple(starts.shape)}"
        )
    starts, length = starts.double(), check_number("length", length, 1 / LARGEST, LARGEST)
    generator = torch.Generator().manual_seed(check_integer("seed", seed, 0))
    ways = torch.randn(starts.shape, generator=generator, dtype=torch.float64).flatten(1)
    ends = starts + (length * ways / ways.norm(dim=1, keepdim=True)).view(starts.shape)
    if not np.allclose((ends - starts).flatten(1).norm(dim=1), length, rtol=1e-6, atol=0):
        raise AffscoreError(f"length {length:g} is lost to rounding next to numbers as large as those of starts")
    return torch.stack([starts, ends], 1)


def class_paths(inputs: Any, labels: Sequence[Any] | Tensor, count: int, seed: int = 0) -> Tensor:
    """Segments between two different inputs of one class, drawn at random.

    Args:
        inputs: As the network takes them, (n, ...).
        labels: The class of each.
        count: How many segments. First an input is drawn, and then another one of its class, with other numbers.
        seed: Fixes which.

    Returns:
        Paths of one segment, (count, 2, ...).

    Raises:
        AffscoreError: Another number of labels than inputs, no class of two inputs, or one whose inputs are all equal.

    >>> path = class_paths(torch.tensor([[0.0], [1.0], [10.0]]), ["a", "a", "b"], count=1)
    >>> sorted(path.flatten().tolist())
    [0.0, 1.0]
    """
    inputs, classes = tensor_of(inputs, "inputs"), _classes(labels)
    if inputs.ndim < 2 or len(classes) != len(inputs):
        raise AffscoreError(
            f"inputs must be a tensor (n, ...) with a label for each, got the shape {tuple(inputs.shape)} and "
            f"{len(classes)} labels"
        )
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
        while others:
            second = others.pop(int(torch.randint(len(others), (1,), generator=generator)))
            if not torch.equal(inputs[first], inputs[second]):
                break
        else:
            raise AffscoreError(f"all inputs of class {classes[first]!r} are equal: there is no pair to connect")
        seconds.append(second)
    return torch.stack([inputs[firsts], inputs[seconds]], 1)


def _classes(labels: Any) -> list[Any]:
    """Labels as numbers, texts, or what else they are, that can be compared."""
    try:
        classes = [label.item() if isinstance(label, Tensor) else label for label in labels]
        hash(tuple(classes))
    except (TypeError, ValueError, RuntimeError) as error:
        raise AffscoreError(f"labels must be one for each input, got {type(labels).__name__}: {error}") from error
    if getattr(labels, "ndim", 1) != 1:
        raise AffscoreError(f"labels must be one for each input, got the shape {tuple(labels.shape)}")
    return classes


def _anchors(images: Any, anchors: int, radius: float | None, prepare: Prepare | None) -> Tensor:
    """The anchors around each image, (n, anchors, ...)."""
    images = tensor_of(images, "images")
    if images.ndim != 4 or not images.numel() or not images.is_floating_point():
        raise AffscoreError(
            f"images must be a tensor of floating point (n, channels, height, width), got {images.dtype} of shape "
            f"{tuple(images.shape)}"
        )
    anchors = check_integer("anchors", anchors, 3)
    height, width = images.shape[2:]
    side = min(height, width)
    radius = RADIUS * side if radius is None else check_number("radius", radius, 0, side)
    angles = [2 * math.pi * k / anchors for k in range(anchors)]
    # halves are rounded as such, whatever the rounding of cos and sin
    moves = [tuple(round(round(radius * way(angle), 9)) for way in (math.cos, math.sin)) for angle in angles]
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
        points.append(moved if prepare is None else _prepared(moved, prepare))
    return guarded(lambda: torch.stack(points, 1), "prepare must make one shape of all images")


def _prepared(moved: Tensor, prepare: Prepare) -> Tensor:
    """What the network gets of images."""
    found = guarded(lambda: prepare(moved), "prepare must be a function of a tensor of images")
    if not isinstance(found, Tensor) or found.shape[:1] != (len(moved),):
        what = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else f"type {type(found).__name__}"
        raise AffscoreError(f"prepare must return a tensor of {len(moved)} prepared images, got {what}")
    return found
