"""How much of the output a least-squares fit explains."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affscore.network.criteria.declaration import Criterion, both_centred
from affscore.transport.samples import CentredSample, Samples
from affscore.transport.span import varying_basis


def r2(x: Samples | CentredSample, y: Samples | CentredSample) -> float:
    r"""Coefficient of determination of the least-squares fit of y on x, averaged over the coordinates of y.

    .. math:: R^2 = \frac1d \sum_j \Bigl(1 -
       \frac{\sum_i (y_{ij} - \hat y_{ij})^2}{\sum_i (y_{ij} - \bar y_j)^2}\Bigr)

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, e).

    Returns:
        A number in [0, 1]; 1 wherever x has rank n - 1, as with d >= n in general. A constant coordinate
        of y counts as fitted. It equals ``LinearRegression().fit(x, y).score(x, y)`` of scikit-learn, but that a
        direction in which x varies by no more than rounding fits nothing.

    Source: remark 3.6; tables 1 and 2.

    >>> round(r2([[0.0], [1.0], [2.0]], [[1.0], [3.0], [5.0]]), 6)
    1.0
    """
    # it does not depend on the unit of any coordinate: let that be its rounding
    x, y = (sample.points / torch.where(sample.noise > 0, sample.noise, 1.0) for sample in both_centred(x, y))
    fitted, total = _projected_squares(x, y), y.square().sum(dim=0)
    return float(torch.where(total > 0, fitted / total, 1.0).clamp(max=1.0).mean())


def _projected_squares(x: Tensor, y: Tensor) -> Tensor:
    """Squared norm of each column of y projected on what x varies in by more than one, tensor (e,)."""
    basis = varying_basis(x, math.sqrt(len(x)))
    if basis is None and len(x) <= x.shape[1]:  # x has rank n - 1: everything is fitted
        return y.square().sum(dim=0)
    return ((torch.linalg.qr(x).Q if basis is None else basis).T @ y).square().sum(dim=0)


CRITERIA = (
    Criterion(
        "r2", "$R^2$", r"$R^2$ of the least-squares fit of the output on the input, 1 for $c \ge n$ in general; "
        "directions in which the input varies by no more than rounding fit nothing", (0, 1),
        of_samples=lambda samples: r2(samples.source, samples.target),
        missing=("constant output",), place=5,
    ),
)  # fmt: skip
