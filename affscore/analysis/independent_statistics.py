"""What the best of several statistics explains by chance if they were independent: a yardstick without data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from affscore.errors import AffscoreError

__all__ = ["independent_best", "independent_p_value", "plain_r2"]


def independent_best(points: int, candidates: int, level: float = 0.5) -> float:
    r"""Quantile of the best R2 of several statistics that are independent of accuracy and of each other.

    One of them has :math:`R^2 \sim \mathrm{Beta}(\frac12, \frac{n - 2}{2})` where the accuracies are normal; the best
    of k has the k-th power of its distribution function.

    Args:
        points: n >= 3, the number of networks.
        candidates: k >= 1.
        level: Which quantile, in (0, 1).

    >>> round(independent_best(5, 1), 2), round(independent_best(5, 7), 2)
    (0.16, 0.66)
    """
    return float(_of_one(points, candidates).ppf(level ** (1 / candidates)))


def independent_p_value(r2: float, points: int, candidates: int) -> float:
    """The chance that the best of several independent statistics explains that much of accuracies it does not know.

    Those of one signature depend on each other. For normal numbers the chance is then smaller (Sidak's inequality);
    for R2 that is no theorem, and only k times the chance of one (Bonferroni) bounds it.

    Args:
        r2: An R2 of a fit of one variable, not an adjusted one.
        points: n >= 3.
        candidates: k >= 1.

    >>> round(independent_p_value(0.9, 5, 1), 3), round(independent_p_value(0.9, 5, 7), 3)
    (0.014, 0.093)
    """
    one = _of_one(points, candidates).sf(min(r2, 1.0))
    return float(-np.expm1(candidates * np.log1p(-one))) if one < 1 else 1.0


def plain_r2(adjusted: float, points: int) -> float:
    """The R2 of a fit of one variable from the adjusted one.

    >>> round(plain_r2(0.842, 5), 4)
    0.8815
    """
    if points < 3:
        raise AffscoreError(f"an adjusted R2 needs at least 3 points, got {points}")
    return 1 - (1 - adjusted) * (points - 2) / (points - 1)


def _of_one(points: int, candidates: int) -> Any:
    """The distribution of one R2, of scipy.stats."""
    if points < 3 or candidates < 1:
        raise AffscoreError(f"expected at least 3 points and 1 candidate, got {points} and {candidates}")
    return beta(0.5, (points - 2) / 2)
