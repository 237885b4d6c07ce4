"""The rule for the number of points: the bias of the empirical covariance to first order, solved for n."""

from __future__ import annotations

from math import ceil

from affscore.analysis.activations import Activation
from affscore.analysis.limits import correlation_with_input
from affscore.errors import AffscoreError

__all__ = ["first_order_bias", "points_needed"]


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


def points_needed(width: int, tolerance: float = 0.01, activation: Activation | None = None) -> int:
    """How many points keep the bias of the empirical covariance below a tolerance, to first order.

    The rule of :func:`first_order_bias`, solved for n. What it costs to be wrong: shrinkage needs fewer
    points where the coordinates are independent and of equal variance, and up to twice as many where a few
    directions dominate.

    Args:
        width: d.
        tolerance: The bias that one is willing to accept, > 0.
        activation: The activation, on standard normal inputs; None for the worst case of all correlations.

    Returns:
        n.

    Raises:
        AffscoreError: A width or a tolerance that is not positive.

    >>> import torch
    >>> points_needed(100), points_needed(100, activation=torch.relu)
    (821, 754)
    """
    if width < 1 or tolerance <= 0:
        raise AffscoreError(f"expected a width and a tolerance above 0, got {width} and {tolerance}")
    # the derivative of c (1 + c) sqrt(1 - c) vanishes where 5 c^2 - c - 2 = 0
    worst = (1 + 41**0.5) / 10
    correlation = worst if activation is None else max(correlation_with_input(activation) or 0.0, 0.0)
    return max(ceil(width * first_order_bias(correlation, 1.0) / tolerance), 2)
