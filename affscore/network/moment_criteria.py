"""The criteria of paired samples of which only the moments are kept."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affscore.transport.moments import PairMoments

__all__ = ["criteria_from_moments"]


def criteria_from_moments(pairs: PairMoments, rounding: float = 2.0**-52) -> dict[str, float]:
    """Linear CKA, the norm and R2, as :mod:`affscore.network.criteria` defines them for samples.

    Args:
        pairs: Moments of n pairs seen from their means (:meth:`PairMoments.centred`).
        rounding: Unit of rounding of the arithmetic that made the samples.

    Returns:
        A number for each name; CKA is NaN for a constant, R2 for a constant output.

    >>> x = torch.arange(8, dtype=torch.float64).reshape(4, 2)
    >>> found = criteria_from_moments(PairMoments.of(x, 2 * x))
    >>> round(found["cka"], 6), round(found["norm"] ** 2, 6) == float(x.square().sum())
    (1.0, True)
    """
    second_x, second_y, cross = pairs.x.second, pairs.y.second, pairs.cross
    scale = float(second_x.norm()) * float(second_y.norm())
    size = max(pairs.x.unit, pairs.y.unit)
    a, b = pairs.x.unit / size, pairs.y.unit / size
    shift = float(((pairs.x.mean - pairs.y.mean) / size).square().sum())
    squared = float(a * a * second_x.trace() + b * b * second_y.trace() - 2 * a * b * cross.trace())
    return {
        "cka": min(float(cross.square().sum()) / scale, 1.0) if scale > 0 else math.nan,
        "norm": math.sqrt(max(squared + pairs.x.count * shift, 0.0)) * size,
        "r2": math.nan if pairs.y.constant else _r2(pairs, pairs.x.noise(rounding)),
    }


def _r2(pairs: PairMoments, noise: Tensor) -> float:
    """R2 does not depend on the units of the coordinates of X: let them be their rounding."""
    inverse = torch.where(noise > 0, 1.0 / noise, 1.0)
    values, vectors = torch.linalg.eigh(inverse[:, None] * pairs.x.second * inverse)
    least = max(float(pairs.x.count), float(values.max()) * len(values) * torch.finfo(values.dtype).eps)
    keep = values > least
    fitted = ((vectors[:, keep].T @ (inverse[:, None] * pairs.cross)).square() / values[keep, None]).sum(dim=0)
    total = pairs.y.second.diagonal()
    return float(torch.where(total > 0, fitted / total, 1.0).clamp(max=1.0).mean())
