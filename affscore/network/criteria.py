"""The criteria that the score is compared with: each is one function, whose decorator says how results call it.

To add one, write a function of two clouds here (or of what ``of`` gives it), and test it in ``test_criteria.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.columns import (
    ALWAYS,
    ANYWHERE,
    CONSTANT,
    CRITERIA,
    EXTRAPOLATED,
    NO_SCORE,
    OTHER_WIDTH,
    criterion,
)
from affscore.transport.decompositions import varying_basis
from affscore.transport.samples import CentredSample, Samples, as_samples, centred, power_of_two_above, second_moments


def _both_centred(x: Samples | CentredSample, y: Samples | CentredSample) -> tuple[CentredSample, CentredSample]:
    """Both clouds centred and of unit size: none of these criteria depends on the size of either."""
    from_x, from_y = centred(x, "x"), centred(y, "y")
    if len(from_x.points) != len(from_y.points):
        raise AffscoreError(f"x and y must have as many samples, got {len(from_x.points)} and {len(from_y.points)}")
    return from_x, from_y


@criterion("cka", "linear CKA", "linear CKA", (0, 1), missing=CONSTANT)
def linear_cka(x: Samples | CentredSample, y: Samples | CentredSample) -> float:
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
    source, target = _both_centred(x, y)
    x, y = source.points, target.points
    if max(x.shape[1], y.shape[1]) >= 2 * len(x):  # the Gram matrices are much the smaller products
        second_x, second_y = second_moments(x.T), second_moments(y.T)
        cross = (second_x * second_y).sum()
    else:
        second_x, second_y, cross = source.second, target.second, (y.T @ x).square().sum()  # the moments of the score
    scale = float(second_x.norm()) * float(second_y.norm())
    return min(float(cross) / scale, 1.0) if scale > 0 else math.nan


@criterion(
    "norm", "norm", r"Frobenius norm of $r(X) - r(\sigma(X))$ over the batch, in the units of the network",
    (0, math.inf), lambda samples: (samples.x, samples.y), missing=(OTHER_WIDTH, ANYWHERE),
)  # fmt: skip
def norm(x: Samples, y: Samples) -> float:
    r"""Frobenius norm :math:`\|X - Y\|_F` over the batch, in the units of x; >= 0, or NaN between several widths.

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, d).

    Source: tables 1 to 3.

    >>> norm([[0.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [0.0, 4.0]])
    5.0
    """
    points_x, points_y = as_samples(x)[0], as_samples(y, "y")[0]
    if points_x.shape[1] != points_y.shape[1]:
        return math.nan
    difference = points_x - points_y
    size = power_of_two_above(float(difference.abs().max()))
    return float((difference / size).norm()) * size


@criterion(
    "sparsity", "sparsity", "share of the entries of the feature maps with a magnitude of at most $10^{-3}$", (0, 1),
    lambda samples: tuple((count, samples.pair.entries) for count in samples.pair.sparse), before_and_after=True,
)  # fmt: skip
def sparsity(count: int, entries: int) -> float:
    """The share of entries next to zero, which are counted as feature maps pass (:mod:`affscore.network.collect`)."""
    return count / entries


@criterion(
    "entropy", "entropy", r"mean entropy of the values of a sample, in nats, in $[\ln c, 2 \ln c]$", (0, math.inf),
    lambda samples: ((samples.x,), (samples.y,)), before_and_after=True,
)  # fmt: skip
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
    points = points / power_of_two_above(float(points.abs().max()))
    n, d = points.shape
    low = points.amin(dim=1, keepdim=True)
    width = points.amax(dim=1, keepdim=True) - low
    relative = (points - low).div_(torch.where(width > 0, width, 1.0))
    bins = relative.mul_(d).long().clamp_(max=d - 1)  # the maximum belongs to the last bin
    bins += d * torch.arange(n, device=bins.device)[:, None]
    # what a bin adds depends only on how many values are in it: how many bins have 0, 1, 2, ... values?
    bins_with = torch.bincount(torch.bincount(bins.flatten(), minlength=n * d)).double()
    shares = torch.arange(len(bins_with), dtype=torch.float64, device=bins.device) / d
    return float(bins_with @ torch.special.entr(shares)) / n + math.log(d)


@criterion(
    "r2", "$R^2$", r"$R^2$ of the least-squares fit of the output on the input, 1 for $c \ge n$ in general; "
    "directions in which the input varies by no more than rounding fit nothing", (0, 1), missing=("constant output",),
)  # fmt: skip
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
    source, target = _both_centred(x, y)
    basis, total = _basis_of(source), target.points.square().sum(dim=0)
    fitted = total if basis is None else (basis.T @ target.points).square().sum(dim=0)
    return float(torch.where(total > 0, fitted / total, 1.0).clamp(max=1.0).mean())


def _basis_of(x: CentredSample) -> Tensor | None:
    """An orthonormal basis (n, k) of what x varies in by more than rounding; None where it is all that n points can."""
    points = x.points / torch.where(x.noise > 0, x.noise, 1.0)  # the unit of a coordinate does not matter
    basis = varying_basis(points, math.sqrt(len(points)))
    return torch.linalg.qr(points).Q if basis is None and points.shape[1] < len(points) else basis


@criterion(
    "affine_fit", "best\naffine map",
    "the score with the least-squares affine map in place of the optimal transport map: 1 for every affine map, "
    "also a rotation or one to another width, 0.29 where no affine map explains anything; missing for $n$ of at "
    "most the rank of the input and 1", (0, 1), missing=("constant output", ANYWHERE),
)  # fmt: skip
def affine_fit(x: Samples | CentredSample, y: Samples | CentredSample) -> float:
    r"""The affinity score with the least-squares affine map in place of the optimal transport map.

    .. math:: 1 - \sqrt{\frac{u}{2}}, \qquad
       u = \frac{\min_{A, b} \sum_i \|A x_i + b - y_i\|^2 / (n - 1 - r)}{\sum_i \|y_i - \bar y\|^2 / (n - 1)}

    u is the share of the variance of y that no affine map of x explains, and r is the rank of x: both variances are
    divided by their degrees of freedom, as in the adjusted :math:`R^2 = 1 - u`, so that u does not fall as r nears n.

    The optimal transport map of the affinity score has a symmetric matrix with no negative eigenvalue, which suits an
    elementwise function. A rotation or a linear layer is affine, but no such map, and scores far below 1; here every
    affine map has 1. The scale is that of the score: ``paired`` is at most this, but for the degrees of freedom.

    Input and output may have different widths. Each coordinate counts by its variance, other than in
    :func:`r2`, which is 1 for any y where d >= n.

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, e).

    Returns:
        A number in [0, 1]: 1 for an affine map of any matrix, :math:`1 - 1/\sqrt 2 = 0.293` on average where x says
        nothing on y; NaN where y is constant, and where n <= r + 1: some affine map then goes through all points.

    Raises:
        AffscoreError: NaN or infinity, or not as many samples in x and y.

    Source: ours. The adjusted share of variance is Ezekiel's (1930).

    >>> x = torch.randn(400, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> turn = torch.tensor([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> round(affine_fit(x, x @ turn.double() + 1), 6)
    1.0
    >>> round(affine_fit(x, x.square()), 1)  # of x squared nothing is linear: 1 - sqrt(1/2) = 0.29
    0.3
    """
    source, target = _both_centred(x, y)
    basis, total, n = _basis_of(source), float(target.points.square().sum()), len(target.points)
    if basis is None or basis.shape[1] > n - 2 or total <= 0:
        return math.nan
    left = float((target.points - basis @ (basis.T @ target.points)).square().sum())
    unexplained = left / total * (n - 1) / (n - 1 - basis.shape[1])
    return max(1.0 - math.sqrt(unexplained / 2.0), 0.0)


@criterion(
    "cka_debiased", "debiased\nCKA",
    "linear CKA without bias, about 0 for independent clouds; missing for fewer than four samples", (-math.inf, 1),
    missing=(*CONSTANT, ANYWHERE),
)  # fmt: skip
def debiased_cka(x: Samples | CentredSample, y: Samples | CentredSample) -> float:
    r"""Linear CKA with the unbiased estimate of HSIC, which does not grow with d / n.

    .. math:: \mathrm{HSIC}(K, L) = \frac{1}{n (n - 3)} \Bigl(\operatorname{tr}(K L)
       + \frac{\mathbf 1^\top K \mathbf 1\; \mathbf 1^\top L \mathbf 1}{(n - 1)(n - 2)}
       - \frac{2}{n - 2} \mathbf 1^\top K L \mathbf 1\Bigr),\qquad
       \mathrm{CKA} = \frac{\mathrm{HSIC}(K, L)}{\sqrt{\mathrm{HSIC}(K, K)\, \mathrm{HSIC}(L, L)}}

    with the Gram matrices :math:`K = X X^\top` and :math:`L = Y Y^\top`, their diagonals set to zero.

    Args:
        x: Array or tensor (n, d), n >= 4.
        y: Array or tensor (n, e).

    Returns:
        A number, about 0 for independent samples (it may be a little below); NaN for fewer than four
        samples or where x or y is constant.

    Source: Song et al. (2012) for HSIC; Kornblith et al. (2019) for CKA.

    >>> import torch
    >>> x = torch.randn(50, 400, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> y = torch.randn(50, 400, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> linear_cka(x, y) > 0.8, abs(debiased_cka(x, y)) < 0.05, round(debiased_cka(x, 2 * x), 6)
    (True, True, 1.0)
    """
    x, y = (sample.points for sample in _both_centred(x, y))
    if len(x) < 4:
        return math.nan
    kernels = [(z @ z.T).fill_diagonal_(0.0) for z in (x, y)]
    own = [_unbiased_hsic(kernel, kernel) for kernel in kernels]
    return _unbiased_hsic(*kernels) / math.sqrt(own[0] * own[1]) if min(own) > 0 else math.nan


def _unbiased_hsic(k: Tensor, m: Tensor) -> float:
    n = len(k)
    rows_k, rows_m = k.sum(dim=1), m.sum(dim=1)
    trace = float((k * m).sum())
    sums = float(rows_k.sum()) * float(rows_m.sum()) / ((n - 1) * (n - 2))
    return (trace + sums - 2.0 * float(rows_k @ rows_m) / (n - 2)) / (n * (n - 3))


@criterion(
    "nlc", "non-linearity\ncoefficient",
    "Philipp's coefficient of the activation on its reduced input, 1 for an affine function; missing, with a note, "
    "where that is no elementwise function of vectors of channels or has no derivative in PyTorch", (0, math.inf),
    lambda samples: (samples.pair.function, samples.pair.x.to(samples.pair.dtype)), missing=(*CONSTANT, ANYWHERE),
)  # fmt: skip
def _nlc(function: Callable[[Tensor], Tensor], x: Tensor) -> float:
    from affscore.network.nlc import nonlinearity_coefficient

    with suppress(AffscoreError):  # it needs more than an elementwise function with a derivative
        return nonlinearity_coefficient(function, x)
    return math.nan


@criterion(
    "diagonal", "diagonal\nscore",
    "the score with an affine map of each channel by itself and the pairing: no matrix, no transport", (0, 1),
    missing=NO_SCORE,
)  # fmt: skip
def _diagonal(x: CentredSample, y: CentredSample) -> float:
    from affscore.transport.diagonal import diagonal_affinity  # few ask for it

    return diagonal_affinity(x, y).value


_OF_CRITERIA = [column for one in CRITERIA.values() for column in one.columns]

SCHEMA = (*ALWAYS[:-1], *_OF_CRITERIA, ALWAYS[-1])
"""The columns of a result that has all criteria."""

COLUMNS = tuple(column.name for column in (*ALWAYS[:-1], *EXTRAPOLATED, *_OF_CRITERIA, ALWAYS[-1]))
"""The names of all columns that a result may have, in their order."""
