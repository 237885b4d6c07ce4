"""What callers give: inputs of a network as tensors, the way from one to another, and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError

LARGEST = 1e140
"""Of logits and of lengths: areas are a product of both, and shall be numbers in double precision."""


def tensor_of(values: Any, name: str) -> Tensor:
    """A tensor of numbers, or an array or lists of them, as a tensor on the CPU."""
    try:
        tensor = values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise AffscoreError(f"{name} must be a tensor or an array of numbers, got {type(values).__name__}") from error
    if tensor.is_complex() or tensor.dtype == torch.bool:
        raise AffscoreError(f"{name} must hold real numbers, got {tensor.dtype}")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested or tensor.is_meta:
        raise AffscoreError(f"{name} must be a plain tensor: not sparse, quantized, nested or on the device meta")
    return tensor.detach().cpu()


def points_of_one_shape(**values: Any) -> list[Tensor]:
    """Inputs in double precision, on the CPU."""
    points = {name: tensor_of(value, name).double() for name, value in values.items()}
    if len({tensor.shape for tensor in points.values()}) > 1:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in points.values())
        raise AffscoreError(f"{' and '.join(points)} must have one shape, got {shapes}")
    return list(points.values())


def directions_of(
    starts: Tensor, ends: Tensor, name: Callable[[int], str] = "segment {}".format
) -> tuple[Tensor, list[float]]:
    """From starts to ends, and how far.

    Raises:
        AffscoreError: Numbers that are not finite, or segments without a length in double precision.
    """
    if starts.ndim < 2 or not starts.numel():
        what = "a start needs an axis of features" if starts.ndim < 2 else "there is no segment, or no feature"
        raise AffscoreError(f"{what}: the shape without samples is {tuple(starts.shape[1:])}")
    for what, points in (("start", starts), ("end", ends)):
        for number in (~points.flatten(1).isfinite()).any(1).nonzero()[:, 0].tolist():
            raise AffscoreError(f"the {what} of {name(number)} holds NaN or infinity")
    directions = ends - starts
    for number in (~directions.flatten(1).any(1)).nonzero()[:, 0].tolist():
        raise AffscoreError(f"start and end of {name(number)} are the same point: it has no length")
    lengths = directions.flatten(1).norm(dim=1).tolist()
    for number, length in enumerate(lengths):
        if not 1 / LARGEST <= length <= LARGEST:
            raise AffscoreError(
                f"the length of {name(number)} must be from {1 / LARGEST:g} to {LARGEST:g}, got {length:g}: scale the "
                "inputs, and the network with them"
            )
    return directions, lengths


def check_number(name: str, value: Any, least: float, most: float = math.inf) -> float:
    """The value as a float, if it is a finite number from least to most.

    >>> check_number("length", 2, 0)
    2.0
    """
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or not least <= float(value) <= most:
        between = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise AffscoreError(f"{name} must be a finite number {between}, got {value!r}")
    return float(value)
