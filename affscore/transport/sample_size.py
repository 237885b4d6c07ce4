"""The rule for the number of points: the bias of the empirical covariance to first order, solved for n."""

from __future__ import annotations

from math import ceil

from scipy.optimize import brentq
from torch import Tensor

from affscore.errors import AffscoreError

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


DIRECTIONS = 4.0
"""How many times the participation ratio counts: a fit to trained networks, and no bound (chapter 3)."""


def effective_width(scatter: Tensor, samples: int, width: int) -> float:
    r"""The width that the bias of few samples goes with: directions that hardly vary do not count.

    .. math:: \min\Bigl(d,\; 4\, \frac{(\operatorname{tr} C)^2}{\|C\|_F^2 - (\operatorname{tr} C)^2/n}\Bigr)

    The fraction is the participation ratio of the eigenvalues: d for independent coordinates of equal variance, k for
    k such directions in d coordinates. What n samples add to the norm of C is subtracted.

    Args:
        scatter: C, the empirical covariance, tensor (k, k), in a basis that spans the samples.
        samples: n.
        width: d.

    Returns:
        A number in [1, d].

    >>> import torch
    >>> round(effective_width(torch.diag(torch.tensor([1.0, 1.0, 0.0, 0.0])), 10**9, 10), 3)  # two of ten directions
    8.0
    """
    trace = float(scatter.trace())
    rest = float(scatter.square().sum()) - trace**2 / samples
    return float(width) if DIRECTIONS * trace**2 >= width * rest else max(DIRECTIONS * trace**2 / rest, 1.0)


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
        width: d.
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
    return max(ceil(width * first_order_bias(_WORST if correlation is None else correlation, 1.0) / tolerance), 2)
