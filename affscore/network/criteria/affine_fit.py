"""How near the best affine map comes to the output: a score that takes no rotation for a non-linearity."""

from __future__ import annotations

import math

import torch

from affscore.network.columns import ANYWHERE
from affscore.network.criteria.declaration import Criterion, both_centred
from affscore.transport.samples import CentredSample, Samples, second_moments
from affscore.transport.square_root import eigenvectors


def affine_fit(x: Samples | CentredSample, y: Samples | CentredSample) -> float:
    r"""The affinity score with the least-squares affine map in place of the optimal transport map.

    .. math:: 1 - \sqrt{\frac{u}{2}}, \qquad
       u = \frac{\min_{A, b} \sum_i \|A x_i + b - y_i\|^2 / (n - 1 - r)}{\sum_i \|y_i - \bar y\|^2 / (n - 1)}

    u is the share of the variance of y that no affine map of x explains, and r is the rank of x: both variances are
    divided by their degrees of freedom, as in the adjusted :math:`R^2 = 1 - u`, so that u does not fall as r nears n.

    The affinity score asks whether the optimal transport map between two clouds, whose matrix is symmetric with no
    negative eigenvalue, takes one to the other. That suits an elementwise function. A rotation, a convolution or a
    linear layer with a general matrix is affine, but none of these maps, and the score of its 512 samples in 64
    coordinates is far below 1. This one is 1 for every affine map. The scale is that of the score: its map and its
    pairing :math:`i \to i` make the score's numerator an upper bound of the one here, so that ``paired`` is at most
    this (but for the degrees of freedom, which lower this one and not ``paired``), and the difference is due to the
    direction of an affine map.

    Input and output may have different widths. Each coordinate counts by its variance, other than in
    :func:`affscore.network.criteria.r2.r2`, which is 1 for any y where d >= n.

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
    source, target = both_centred(x, y)
    noise = torch.where(source.noise > 0, source.noise, 1.0)
    points, total = source.points / noise, float(target.points.square().sum())
    n, d = points.shape
    values, vectors = eigenvectors(second_moments(points if d < n else points.T))
    # in units of rounding: which are more than that
    varying = values > max(float(n), float(values.max()) * max(n, d) * torch.finfo(values.dtype).eps)
    kept = vectors[:, varying]
    basis = torch.linalg.qr(points @ kept).Q if d < n else kept
    left = float((target.points - basis @ (basis.T @ target.points)).square().sum())
    freedom = n - 1 - basis.shape[1]
    if freedom < 1 or total <= 0:
        return math.nan
    unexplained = max(left, 0.0) / total * (n - 1) / freedom
    return max(1.0 - math.sqrt(unexplained / 2.0), 0.0)


CRITERIA = (
    Criterion(
        "affine_fit", "best\naffine map",
        "the score with the least-squares affine map in place of the optimal transport map: 1 for every affine map, "
        "also a rotation or one to another width, 0.29 where no affine map explains anything; missing for $n$ of at "
        "most the rank of the input and 1", (0, 1),
        of_samples=lambda samples: affine_fit(samples.source, samples.target),
        missing=("constant output", ANYWHERE),
    ),
)  # fmt: skip
