"""Centred kernel alignment."""

from __future__ import annotations

import math

from torch import Tensor

from affscore.network.columns import ANYWHERE, CONSTANT
from affscore.network.criteria.declaration import Criterion, both_centred
from affscore.transport.samples import CentredSample, Samples, second_moments


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
    source, target = both_centred(x, y)
    x, y = source.points, target.points
    if max(x.shape[1], y.shape[1]) >= 2 * len(x):  # the Gram matrices are much the smaller products
        second_x, second_y = second_moments(x.T), second_moments(y.T)
        return _cka(float((second_x * second_y).sum()), second_x, second_y)
    return _cka(float((y.T @ x).square().sum()), source.second, target.second)  # the moments of the score


def _cka(cross: float, second_x: Tensor, second_y: Tensor) -> float:
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

    >>> import torch
    >>> x = torch.randn(50, 400, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> y = torch.randn(50, 400, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> linear_cka(x, y) > 0.8, abs(debiased_cka(x, y)) < 0.05, round(debiased_cka(x, 2 * x), 6)
    (True, True, 1.0)
    """
    x, y = (sample.points for sample in both_centred(x, y))
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


CRITERIA = (
    Criterion(
        "cka", "linear CKA", "linear CKA", (0, 1),
        of_samples=lambda samples: linear_cka(samples.source, samples.target),
        missing=CONSTANT, place=1,
    ),
    Criterion(
        "cka_debiased", "debiased\nCKA",
        "linear CKA without bias, about 0 for independent clouds; missing for fewer than four samples", (-math.inf, 1),
        of_samples=lambda samples: debiased_cka(samples.source, samples.target),
        missing=(*CONSTANT, ANYWHERE),
    ),
)  # fmt: skip
