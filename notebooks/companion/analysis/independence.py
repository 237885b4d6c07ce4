"""What the best of several statistics explains if they are independent of everything: a baseline without data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from affscore.errors import AffscoreError

_LEVELS = 10_000


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
        r2: An R2 of a fit of one variable, not an adjusted one; at most 1.
        points: n >= 3.
        candidates: k >= 1.

    Returns:
        The chance, in [0, 1]; 1 for an R2 of 0 and below.

    Raises:
        AffscoreError: No such R2, or fewer points or candidates.

    >>> round(independent_p_value(0.9, 5, 1), 3), round(independent_p_value(0.9, 5, 7), 3)
    (0.014, 0.093)
    """
    if not r2 <= 1:
        raise AffscoreError(f"an R2 is at most 1, got {r2}")
    one = _of_one(points, candidates).sf(r2)
    return float(-np.expm1(candidates * np.log1p(-one))) if one < 1 else 1.0


def independent_lead(lead: float, points: int, candidates: int, baselines: int) -> float:
    """The chance that the best of some independent statistics beats the best of some others by so much.

    None of them knows the accuracies: it is what having more tickets is worth.

    Args:
        lead: By how much the R2 of the first is larger, in [-1, 1].
        points: n >= 3.
        candidates: How many compete on the first side, >= 1.
        baselines: How many on the second, >= 1.

    Returns:
        The chance, in [0, 1].

    Raises:
        AffscoreError: No such lead, or fewer points, candidates or baselines.

    >>> round(independent_lead(0.0, 9, 1, 1), 3), round(independent_lead(0.0, 9, 7, 3), 3)
    (0.5, 0.7)
    """
    if not -1 <= lead <= 1:
        raise AffscoreError(f"a lead of one R2 over another is in [-1, 1], got {lead}")
    best, one = _of_one(points, candidates), _of_one(points, baselines)
    levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
    return float(np.mean(1 - best.cdf(one.ppf(levels ** (1 / baselines)) + lead) ** candidates))


def _of_one(points: int, candidates: int) -> Any:
    """The distribution of one R2, of scipy.stats."""
    if points < 3 or candidates < 1:
        raise AffscoreError(f"expected at least 3 points and 1 candidate, got {points} and {candidates}")
    return beta(0.5, (points - 2) / 2)
