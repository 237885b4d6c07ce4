"""The criteria that the papers compare with the affinity score, on the same reduced pair."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.transport.samples import CentredSample, Samples, as_samples, centred, power_of_two_above, second_moments
from affscore.transport.square_root import regular_factor

__all__ = ["debiased_cka", "entropy", "linear_cka", "norm", "r2"]


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
    source, target = _centred(x, y)
    x, y = source.points, target.points
    if max(x.shape[1], y.shape[1]) >= 2 * len(x):  # the Gram matrices are much the smaller products
        second_x, second_y = second_moments(x.T), second_moments(y.T)
        cross = float((second_x * second_y).sum())
    else:  # those of the score
        second_x, second_y = source.second, target.second
        cross = float((y.T @ x).square().sum())
    scale = float(second_x.norm()) * float(second_y.norm())
    return min(cross / scale, 1.0) if scale > 0 else math.nan


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

    >>> x = torch.randn(50, 400, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> y = torch.randn(50, 400, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> linear_cka(x, y) > 0.8, abs(debiased_cka(x, y)) < 0.05, round(debiased_cka(x, 2 * x), 6)
    (True, True, 1.0)
    """
    x, y = (sample.points for sample in _centred(x, y))
    if len(x) < 4:
        return math.nan
    kernels = [(z @ z.T).fill_diagonal_(0.0) for z in (x, y)]
    own = [_unbiased_hsic(kernel, kernel) for kernel in kernels]
    if min(own) <= 0:
        return math.nan
    return _unbiased_hsic(*kernels) / math.sqrt(own[0] * own[1])


def _unbiased_hsic(k: Tensor, m: Tensor) -> float:
    n = len(k)
    rows_k, rows_m = k.sum(dim=1), m.sum(dim=1)
    trace = float((k * m).sum())
    sums = float(rows_k.sum()) * float(rows_m.sum()) / ((n - 1) * (n - 2))
    return (trace + sums - 2.0 * float(rows_k @ rows_m) / (n - 2)) / (n * (n - 3))


def norm(x: Samples, y: Samples) -> float:
    r"""Frobenius norm :math:`\|X - Y\|_F` over the batch, in the units of x; >= 0.

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, d).

    Source: tables 1 to 3.

    >>> norm([[0.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [0.0, 4.0]])
    5.0
    """
    points_x, points_y = as_samples(x, "x")[0], as_samples(y, "y")[0]
    if points_x.shape != points_y.shape:
        raise AffscoreError(
            f"x and y must have the same shape, got {tuple(points_x.shape)} and {tuple(points_y.shape)}"
        )
    difference = points_x - points_y
    size = power_of_two_above(float(difference.abs().max()))
    return float((difference / size).norm()) * size


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
    points = points / power_of_two_above(float(points.abs().max()))
    low = points.amin(dim=1, keepdim=True)
    width = points.amax(dim=1, keepdim=True) - low
    relative = (points - low).div_(torch.where(width > 0, width, 1.0))
    bins = relative.mul_(d).long().clamp_(max=d - 1)  # the maximum belongs to the last bin
    bins += d * torch.arange(n, device=bins.device)[:, None]
    # what a bin adds depends only on how many values are in it: how many bins have 0, 1, 2, ... values?
    bins_with = torch.bincount(torch.bincount(bins.flatten(), minlength=n * d)).double()
    shares = torch.arange(len(bins_with), dtype=torch.float64, device=bins.device) / d
    return float(bins_with @ torch.special.entr(shares)) / n + math.log(d)


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
    x, y = (sample.points / torch.where(sample.noise > 0, sample.noise, 1.0) for sample in _centred(x, y))
    total = y.square().sum(dim=0)
    fitted = _projected_squares(x, y)
    share = torch.where(total > 0, fitted / total, 1.0)
    return float(share.clamp(max=1.0).mean())


def _projected_squares(x: Tensor, y: Tensor) -> Tensor:
    """Squared norm of each column of y projected on what x varies in by more than one, tensor (e,).

    By a Cholesky factor of the smaller product of x with itself, unless its diagonal shows that this would lose more
    than half of the digits. Then by its eigenvectors: where channels depend on each other, as those behind a
    convolution that has more outputs than inputs do, x varies by rounding in the others. By the singular values of
    x only where it has so many digits that their squares do not tell rounding from signal.
    """
    n, d = x.shape
    rounding = math.sqrt(n)
    if d >= n:
        # x has rank n - 1 where its Gram matrix, with the constant vector added, is regular: then everything is fitted
        gram = second_moments(x.T)
        _, regular = regular_factor(gram + gram.diagonal().mean() / n, rounding)
        if regular:
            return y.square().sum(dim=0)
    else:
        gram = second_moments(x)
        factor, regular = regular_factor(gram, rounding)
        if regular:
            return torch.linalg.solve_triangular(factor, x.T @ y, upper=False).square().sum(dim=0)
    eps = torch.finfo(x.dtype).eps
    values, vectors = torch.linalg.eigh(gram)
    if float(values[-1]) * eps < 0.01 * rounding**2:
        kept = vectors[:, values > rounding**2]
        basis = kept if d >= n else torch.linalg.qr(x @ kept).Q
        return (basis.T @ y).square().sum(dim=0)
    left, singular, _ = torch.linalg.svd(x, full_matrices=False)
    least = max(rounding, float(singular.max()) * max(x.shape) * eps)
    return (left[:, singular > least].T @ y).square().sum(dim=0)


def _centred(x: Samples | CentredSample, y: Samples | CentredSample) -> tuple[CentredSample, CentredSample]:
    """Both clouds centred and of unit size: none of these criteria depends on the size of either."""
    from_x, from_y = centred(x, "x"), centred(y, "y")
    if len(from_x.points) != len(from_y.points):
        raise AffscoreError(f"x and y must have as many samples, got {len(from_x.points)} and {len(from_y.points)}")
    return from_x, from_y
