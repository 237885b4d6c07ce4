"""The affinity score corrected for the bias of few samples: extrapolated to infinite n from two halves."""

from __future__ import annotations

import math
from typing import Literal

import torch

from affscore.errors import AffscoreError
from affscore.transport.affinity import AffinityScore, ConstantInputError, affinity_score
from affscore.transport.samples import CentredSample, Samples, centred, check_same_shape

FEWEST = 4
"""Images that an extrapolation needs: two in each half."""


def extrapolated_affinity_scores(
    x: Samples | CentredSample,
    y: Samples | CentredSample,
    score: AffinityScore,
    *,
    group: int = 1,
    ridge: float = 0.0,
    rounding: float | None = None,
) -> tuple[float, float]:
    r"""The affinity score of n samples, exact and paired, corrected for the bias of a finite n.

    .. math:: \hat\rho = \min\Bigl(\max\Bigl(2 \rho_n
       - \tfrac12 \bigl(\rho_{n/2}^{(1)} + \rho_{n/2}^{(2)}\bigr),\; 0\Bigr),\; 1\Bigr),

    where the halves are every other image, and the last image is dropped where their number is odd. A bias of c/n is
    2c/n in each half, so the difference between halves and whole is the bias. The exact result is that of
    ``score.raw``, the paired one that of ``score.paired``.

    For the empirical covariance and n >= d it removes most of the bias, with shrinkage about a third or more; for
    n < d, less. With shrinkage and n <= d it can add error, since the bias need not be of the form c/n. Independent
    coordinates of equal variance have hardly any bias, and the error grows by about 0.01 (from 0.024 to 0.034 for ReLU,
    d = 64 and n = 32). Where shrinkage hides unequal variances, the score is too low and rises with n: for a
    linear map with factors exp(z), z standard normal, the error grows from 0.19 to 0.32 at n = d/8, and shrinks from
    n = d on. (Root mean square errors.)

    The paired result may be above the exact one: only the scores themselves are ordered. The order of the images must
    not alternate with what they show.

    Args:
        x: Array or tensor (n, d), or the centred sample.
        y: The same for the output.
        score: What :func:`affscore.affinity_score` returned for them. The halves are scored with its covariance and
            coupling; with the coupling "paired" both results are the paired one.
        group: Number of consecutive samples that are positions of one image. They stay in one half.
        ridge: As passed to :func:`affscore.affinity_score`.
        rounding: Likewise.

    Returns:
        The exact and the paired score, extrapolated to infinite n, each in [0, 1]. Both are 1 for a constant output;
        a half whose output is constant scores 1. Both are NaN for fewer than 4 images, and where in one half the
        input is constant while the output varies.

    Raises:
        AffscoreError: Samples that :func:`affscore.affinity_score` refuses, a score of another number of samples
            or coordinates, or a group that does not divide n.

    Source: Quenouille (1949), who corrected serial correlations by two halves.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal((256, 64))
    >>> score = affinity_score(x, np.maximum(x, 0), "empirical")  # tends to 0.621
    >>> exact, paired = extrapolated_affinity_scores(x, np.maximum(x, 0), score)
    >>> round(score.value, 2), round(exact, 2), exact == paired
    (0.64, 0.62, True)
    """
    source = centred(x, "x", rounding)
    target = centred(y, "y", rounding, source.points.device)
    check_same_shape(source.points, target.points)
    n, d = source.points.shape
    if (score.samples, score.width) != (n, d):
        raise AffscoreError(
            f"the score is that of {score.samples} samples with {score.width} coordinates, but x and y have {(n, d)}"
        )
    if group < 1 or n % group:
        raise AffscoreError(f"group must be a positive number that divides the {n} samples, got {group}")
    if score.constant_output:
        return 1.0, 1.0
    if n // group < FEWEST:
        return math.nan, math.nan
    images = torch.arange(n, device=source.points.device).reshape(-1, group)
    half = len(images) // 2
    coupling: Literal["exact", "paired"] = "paired" if score.pairing_optimal is None else "exact"
    try:
        first, second = (
            affinity_score(source.part(rows), target.part(rows), score.covariance, ridge=ridge, coupling=coupling)
            for rows in (images[0::2][:half].flatten(), images[1::2].flatten())
        )
    except ConstantInputError:
        return math.nan, math.nan
    return _extrapolated(score.raw, first.raw, second.raw), _extrapolated(score.paired, first.paired, second.paired)


def _extrapolated(whole: float, first: float, second: float) -> float:
    return min(max(2.0 * whole - (first + second) / 2.0, 0.0), 1.0)
