"""In how many directions the output of an activation varies."""

from __future__ import annotations

import math

from affscore.network.criteria.declaration import Criterion
from affscore.transport.samples import CentredSample, Samples, centred, second_moments


def effective_rank(y: Samples | CentredSample) -> float:
    r"""The participation ratio of the eigenvalues of the empirical covariance.

    .. math:: \frac{(\operatorname{tr} S)^2}{\operatorname{tr} S^2}
       = \frac{\bigl(\sum_j \lambda_j\bigr)^2}{\sum_j \lambda_j^2}

    It is k where y varies equally in k directions. Rotations, shifts and a common scale do not change it.

    The column ``effective_width``, which comes with every score, is another number: four times the participation ratio
    of the input or of the output, the larger one, from which is taken what n samples add by chance, and at most d
    (:func:`affscore.transport.sample_size.effective_width`). It says how many samples a score needs. This one is plain
    and of the output alone, so that n samples of d independent coordinates have about :math:`d / (1 + d/n)`.

    Args:
        y: Array or tensor (n, d).

    Returns:
        A number in [1, min(n - 1, d)]; NaN if y is constant.

    Source: Gao et al. (2017), where it is called the dimensionality; ours as a criterion.

    >>> effective_rank([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), effective_rank([[1.0, 2.0], [3.0, 6.0]])
    (2.0, 1.0)
    """
    sample = centred(y, "y")
    n, d = sample.points.shape
    # the squares of the covariance and of the Gram matrix have the same trace: take the smaller product
    second = second_moments(sample.points.T) if d >= 2 * n else sample.second
    squares = float(second.square().sum())
    return min(max(float(second.trace()) ** 2 / squares, 1.0), n - 1, d) if squares > 0 else math.nan


CRITERIA = (
    Criterion(
        "effective_rank", "effective\nrank",
        "participation ratio of the variances of the output, at most $n - 1$ and at most $c$", (1, math.inf),
        of_samples=lambda samples: effective_rank(samples.target),
        missing=("constant output",),
    ),
)  # fmt: skip
