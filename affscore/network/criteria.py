"""The criteria that the papers compare with the affinity score, on the same reduced pair."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affscore.transport.samples import Samples, as_samples

__all__ = ["criteria", "entropy", "linear_cka", "norm", "r2", "sparse_entries"]

SPARSE = 1e-3
"""Entries of at most this magnitude count as zero."""


def criteria(x: Tensor, y: Tensor) -> dict[str, float]:
    """All criteria of a reduced pair: cka, norm, entropy_before, entropy_after, r2.

    Sparsity is missing here: it is a share of the full feature maps (:func:`sparse_entries`).

    Args:
        x: Tensor (n, d), the reduced inputs of an activation.
        y: Tensor (n, d), its reduced outputs.

    Returns:
        A number for each name; NaN where a criterion is not defined (CKA of a constant).
    """
    return {
        "cka": linear_cka(x, y),
        "norm": norm(x, y),
        "entropy_before": entropy(x),
        "entropy_after": entropy(y),
        "r2": r2(x, y),
    }


def linear_cka(x: Samples, y: Samples) -> float:
    r"""Linear centred kernel alignment, with the biased estimate of HSIC.

    .. math:: \mathrm{CKA}(X, Y) = \frac{\|Y_c^\top X_c\|_F^2}{\|X_c^\top X_c\|_F \|Y_c^\top Y_c\|_F}

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, e).

    Returns:
        A number in [0, 1]; NaN if x or y is constant.

    Source: Kornblith et al. (2019), equation 3; tables 1 and 2.

    >>> linear_cka([[0.0, 1.0], [2.0, 0.0], [1.0, 5.0]], [[0.0, 2.0], [4.0, 0.0], [2.0, 10.0]])
    1.0
    """
    x, y = _centred(x), _centred(y)
    if max(x.shape[1], y.shape[1]) > len(x):  # the Gram matrices are the smaller products
        gram_x, gram_y = x @ x.T, y @ y.T
        cross = float((gram_x * gram_y).sum())
    else:
        gram_x, gram_y = x.T @ x, y.T @ y
        cross = float((y.T @ x).square().sum())
    scale = float(gram_x.norm()) * float(gram_y.norm())
    return min(cross / scale, 1.0) if scale > 0 else math.nan


def norm(x: Samples, y: Samples) -> float:
    r"""Frobenius norm :math:`\|X - Y\|_F` over the batch, in the units of x; >= 0.

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, d).

    Source: tables 1 to 3.

    >>> norm([[0.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [0.0, 4.0]])
    5.0
    """
    return float((as_samples(x)[0] - as_samples(y, "y")[0]).norm())


def entropy(x: Samples) -> float:
    r"""Mean entropy of the samples, each as a histogram of its own values.

    .. math:: \frac1n \sum_i \Bigl(-\sum_{b=1}^{d} p_{ib} \ln p_{ib}\Bigr) + \ln d,

    :math:`p_{ib}` being the share of the d values of sample i in the b-th of d equal bins between their
    minimum and maximum.

    Args:
        x: Array or tensor (n, d).

    Returns:
        A number in [ln d, 2 ln d], in nats; a constant sample has ln d.

    Source: tables 1 to 3.

    >>> round(entropy([[0.0, 1.0], [1.0, 0.0]]) / math.log(2), 6)  # two bins, one value in each
    2.0
    """
    points, _ = as_samples(x)
    n, d = points.shape
    low = points.amin(dim=1, keepdim=True)
    width = points.amax(dim=1, keepdim=True) - low
    relative = torch.where(width > 0, (points - low) / width, 0.0)
    bins = (relative * d).long().clamp(max=d - 1)  # the maximum belongs to the last bin
    counts = torch.zeros_like(points).scatter_add_(1, bins, torch.ones_like(points))
    shares = counts / d
    return float(torch.special.entr(shares).sum()) / n + math.log(d)


def r2(x: Samples, y: Samples) -> float:
    r"""Coefficient of determination of the least-squares fit of y on x, averaged over the coordinates of y.

    .. math:: R^2 = \frac1d \sum_j \Bigl(1 -
       \frac{\sum_i (y_{ij} - \hat y_{ij})^2}{\sum_i (y_{ij} - \bar y_j)^2}\Bigr)

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, e).

    Returns:
        A number in [0, 1]; 1 wherever x has rank n - 1, as with d >= n in general. A constant coordinate
        of y counts as fitted. It equals ``LinearRegression().fit(x, y).score(x, y)`` of scikit-learn.

    Source: remark 3.6; tables 1 and 2.

    >>> round(r2([[0.0], [1.0], [2.0]], [[1.0], [3.0], [5.0]]), 6)
    1.0
    """
    x, y = _centred(x), _centred(y)
    left, singular, _ = torch.linalg.svd(x, full_matrices=False)
    basis = left[:, singular > singular.max() * max(x.shape) * torch.finfo(x.dtype).eps]
    residual = y - basis @ (basis.T @ y)
    total = y.square().sum(dim=0)
    share = torch.where(total > 0, residual.square().sum(dim=0) / total, 0.0)
    return float((1.0 - share).mean())


def sparse_entries(features: Tensor) -> int:
    """How many entries of a feature map have a magnitude of at most 1e-3.

    Source: the sparsity of tables 1 to 3 is the share of these.

    >>> sparse_entries(torch.tensor([0.0, -0.0005, 0.5]))
    2
    """
    return int((features.abs() <= SPARSE).sum())


def _centred(x: Samples) -> Tensor:
    points, _ = as_samples(x)
    return points - points.mean(dim=0)
