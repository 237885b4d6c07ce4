"""How much of the output a least-squares fit explains."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affscore.network.criteria.declaration import Criterion, both_centred
from affscore.transport.samples import CentredSample, Samples, second_moments
from affscore.transport.square_root import regular_factor


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


CRITERIA = (
    Criterion(
        "r2", "$R^2$", r"$R^2$ of the least-squares fit of the output on the input, 1 for $c \ge n$ in general; "
        "directions in which the input varies by no more than rounding fit nothing", (0, 1),
        of_samples=lambda samples: r2(samples.source, samples.target),
        missing=("constant output",), place=5,
    ),
)  # fmt: skip
