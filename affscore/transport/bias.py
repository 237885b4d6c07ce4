"""The bias of a finite number of samples: its rule to first order, solved for n, and a correction by extrapolation."""

from __future__ import annotations

import math

import torch
from scipy.optimize import brentq

from affscore.errors import AffscoreError
from affscore.options import CouplingName
from affscore.transport.affinity import AffinityScore, ConstantInputError, affinity_score
from affscore.transport.samples import Cloud, centred_pair

FEWEST = 4
"""Images that an extrapolation needs: two in each half."""

_WORST = (1 + 41**0.5) / 10
"""The correlation of the largest bias: the derivative of c (1 + c) sqrt(1 - c) vanishes where 5 c^2 - c - 2 = 0."""


def first_order_bias(correlation: float, ratio: float) -> float:
    r"""How much too high the score with the empirical covariance is, to first order in d/n.

    .. math:: \frac{c\,(1 + c)\sqrt{1 - c}}{8} \cdot \frac{d}{n},\qquad c = \operatorname{corr}(x, \sigma(x)).

    Derived for independent coordinates: expand :math:`A`, :math:`S_Y` and the cross covariance around their
    expectations; the terms of first order have mean zero, those of second order leave
    :math:`\mathbb{E} \operatorname{tr}(A S_{XY}) / \operatorname{tr} S_Y = c + \frac14 c (1 - c^2) \frac{d}{n}`.
    Measured values are up to a tenth larger at widths near 100. Where the pairs are not the optimal coupling
    (a low correlation, many points in few dimensions), the coupling adds a bias of its own.

    Args:
        correlation: c, in [0, 1].
        ratio: n/d > 0; the formula is good where it is 2 or more.

    Returns:
        The bias, >= 0. No correlation makes it larger than 0.083 d/n.

    Raises:
        AffscoreError: A correlation outside [0, 1] or a ratio that is not positive.

    >>> round(first_order_bias(0.8564, 1.0), 3)  # ReLU
    0.075
    >>> first_order_bias(1.0, 1.0)  # an affine map is found from any sample
    0.0
    """
    if not 0 <= correlation <= 1 or ratio <= 0:
        raise AffscoreError(f"expected a correlation in [0, 1] and n/d > 0, got {correlation} and {ratio}")
    return correlation * (1 + correlation) * (1 - correlation) ** 0.5 / 8 / ratio


def expected_bias(raw: float, ratio: float) -> float:
    r"""How much too high a measured score is expected to be, by :func:`first_order_bias`.

    The correlation is that of the score without its bias :math:`b`: :math:`c = 1 - (1 - \text{raw} + b)^2`.

    Args:
        raw: The score, at most 1; a negative one has no bias.
        ratio: n/d > 0. For ReLU of normal points the result is good to a fifth from 1/2 on;
            below 1/4 a score near 1 may come from several, of which one is taken.

    Returns:
        b, in [0, raw].

    >>> round(expected_bias(0.6211 + 0.0188, 4.0), 3)  # ReLU of 4 d normal points
    0.019
    >>> expected_bias(1.0, 4.0)
    0.0
    """

    def excess(score: float) -> float:
        return score + first_order_bias(1 - (1 - score) ** 2, ratio) - raw

    # excess(raw) is the bias at the score itself: not negative
    return 0.0 if raw <= 0 else raw - float(brentq(excess, 0.0, raw))


def points_needed(width: int, tolerance: float = 0.01, correlation: float | None = None) -> int:
    """How many points keep the bias of the empirical covariance below a tolerance, to first order.

    The rule of :func:`first_order_bias`, solved for n. What it costs to be wrong: shrinkage needs fewer
    points where the coordinates are independent and of equal variance, and up to twice as many where a few
    directions dominate.

    Args:
        width: How many coordinates, d.
        tolerance: The bias that one is willing to accept, > 0.
        correlation: Of input and output, in [0, 1]; None for the worst case of all.

    Returns:
        n.

    Raises:
        AffscoreError: A width or a tolerance that is not positive.

    >>> points_needed(100), points_needed(100, correlation=0.8564)
    (821, 754)
    """
    if width < 1 or tolerance <= 0:
        raise AffscoreError(f"expected a width and a tolerance above 0, got {width} and {tolerance}")
    return max(math.ceil(width * first_order_bias(_WORST if correlation is None else correlation, 1.0) / tolerance), 2)


def extrapolated_affinity_scores(
    x: Cloud, y: Cloud, score: AffinityScore, *, group: int = 1, ridge: float = 0.0, rounding: float | None = None
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
    source, target = centred_pair(x, y, rounding)
    n, d = source.points.shape
    if (score.samples, score.width) != (n, d):
        raise AffscoreError(f"the score is of clouds {(score.samples, score.width)}, but x and y have shape {(n, d)}")
    if group < 1 or n % group:
        raise AffscoreError(f"group must be a positive number that divides the {n} samples, got {group}")
    if score.constant_output:
        return 1.0, 1.0
    if n // group < FEWEST:
        return math.nan, math.nan
    images = torch.arange(n, device=source.points.device).reshape(-1, group)
    coupling: CouplingName = "paired" if score.pairing_optimal is None else "exact"
    try:
        first, second = (
            affinity_score(source.part(rows), target.part(rows), score.covariance, ridge=ridge, coupling=coupling)
            for rows in (images[0::2][: len(images) // 2].flatten(), images[1::2].flatten())
        )
    except ConstantInputError:
        return math.nan, math.nan
    return _extrapolated(score.raw, first.raw, second.raw), _extrapolated(score.paired, first.paired, second.paired)


def _extrapolated(whole: float, first: float, second: float) -> float:
    return min(max(2.0 * whole - (first + second) / 2.0, 0.0), 1.0)
