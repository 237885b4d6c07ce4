"""How far an activation moves its input."""

from __future__ import annotations

import math

from torch import Tensor

from affscore.network.columns import ANYWHERE, OTHER_WIDTH
from affscore.network.criteria.declaration import BatchSamples, Criterion
from affscore.transport.samples import Samples, as_pair, power_of_two_above


def norm(x: Samples, y: Samples) -> float:
    r"""Frobenius norm :math:`\|X - Y\|_F` over the batch, in the units of x; >= 0.

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, d).

    Source: tables 1 to 3.

    >>> norm([[0.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [0.0, 4.0]])
    5.0
    """
    points_x, points_y = as_pair(x, y)
    return _norm(points_x - points_y)


def _norm(difference: Tensor) -> float:
    size = power_of_two_above(float(difference.abs().max()))
    return float((difference / size).norm()) * size


def _of_samples(samples: BatchSamples) -> float:
    """NaN for a block whose output has another width."""
    return _norm(samples.x - samples.y) if samples.x.shape == samples.y.shape else math.nan


CRITERIA = (
    Criterion(
        "norm", "norm", r"Frobenius norm of $r(X) - r(\sigma(X))$ over the batch, in the units of the network",
        (0, math.inf), of_samples=_of_samples,
        missing=(OTHER_WIDTH, ANYWHERE), place=2,
    ),
)  # fmt: skip
