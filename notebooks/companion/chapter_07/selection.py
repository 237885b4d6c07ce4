"""Whether the best of several fits is better than chance, or than the best of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta

from affscore.errors import AffscoreError
from companion.permutation import PERMUTATIONS, ROUNDING, PermutationTest, permutation_test
from companion.regression import LEAST_POINTS


@dataclass(frozen=True)
class BestFitTest(PermutationTest):
    """The best R2 of several candidates, and what it is when the accuracies are permuted.

    Attributes:
        observed: The largest R2 of any candidate.
        permuted: The largest R2 of any candidate after each permutation.
        exact: Whether these are all permutations, each once, rather than random ones.
        best: The candidate with the largest R2.
    """

    best: str


def best_fit_test(
    table: pd.DataFrame,
    candidates: Sequence[str],
    *,
    kind: str = "linear",
    strata: str | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> BestFitTest:
    """Permute the accuracies of a group and take the best candidate each time, as was done without permuting.

    Args:
        table: A row for each network of the group, with ``accuracy``; networks of which the accuracy or a candidate is
            missing are left out (a candidate that is missing everywhere is left out instead).
        candidates: Columns that compete, but for those that no fit takes: the same for all networks, or in the
            logarithm not positive everywhere.
        kind: "linear" or "logarithm".
        strata: A column, as the family: accuracies change places between networks that have the same there only. What
            differs between families, for whatever reason, is then no evidence for a candidate. None: between all.
        permutations: How many; every permutation once, where there are no more.
        seed: Fixes random ones.

    Raises:
        AffscoreError: Fewer than five networks, no candidate that can be fitted, an unknown fit, or columns that are
            not there or hold no numbers.

    Source: ours; the paper compares the best of seven statistics with the best of three characteristics.

    >>> group = pd.DataFrame({"accuracy": [1, 2, 3, 4, 5], "mean": [1, 2, 3, 4, 6], "max": [2, 1, 2, 1, 2]})
    >>> test = best_fit_test(group, ["mean", "max"])
    >>> test.best, round(test.observed, 3), len(test.permuted), round(120 * test.p_value)
    ('mean', 0.973, 120, 2)
    """
    table = table.reset_index(drop=True)  # several rows may have the same name
    numbers = table[["accuracy", *candidates]].astype(float)
    values = numbers.dropna(axis=1, how="all").dropna()
    points = len(values) if "accuracy" in values else 0
    if points < LEAST_POINTS:
        raise AffscoreError(f"{points} networks have all numbers; it takes at least {LEAST_POINTS} to compare fits")
    accuracy = values.pop("accuracy").to_numpy()
    constant = np.ptp(values, axis=0) <= ROUNDING * values.abs().max()
    values = values.loc[:, ~constant & ((kind == "linear") | (values.min() > 0))]
    if values.empty or np.ptp(accuracy) == 0:
        raise AffscoreError("there is nothing to fit: the accuracies or all candidates are the same for all networks")
    values = values.apply(np.log) if kind == "logarithm" else values
    x = (values - values.mean()).to_numpy()
    x = x / np.linalg.norm(x, axis=0)

    def best_r2(accuracies: NDArray[np.float64]) -> NDArray[np.float64]:
        y = accuracies - accuracies.mean(axis=-1, keepdims=True)
        return np.square(y @ x).max(axis=-1) / np.square(y).sum(axis=-1)

    labels = None if strata is None else pd.factorize(table.loc[values.index, strata])[0]
    if labels is not None and (labels < 0).any():
        raise AffscoreError(f"a network has nothing in the column {strata!r}, within which accuracies are permuted")
    test = permutation_test(accuracy, best_r2, strata=labels, permutations=permutations, seed=seed)
    best = values.columns[np.square(x.T @ (accuracy - accuracy.mean())).argmax()]
    return BestFitTest(test.observed, test.permuted, test.exact, str(best))


def best_fit_lead(
    table: pd.DataFrame, statistics: Sequence[str], common: Sequence[str], **options: Any
) -> dict[str, object]:
    """How often the best statistic of a signature beats the best common characteristic of a group under permutation.

    Args:
        table: A row for each network of the group, with ``accuracy``.
        statistics: Columns of the signature.
        common: Columns such as depth, parameters and operations.
        options: ``kind``, ``strata``, ``permutations`` and ``seed``, as in :func:`best_fit_test`.

    Returns:
        ``points``, ``best_statistic``, ``statistic_r2``, ``p_value``, ``best_common``, ``common_r2``,
        ``common_p_value`` (how often the best statistic is after permuting at least as good as the common
        characteristic really is), ``wins_if_nothing_matters`` (how often it is the better one when the accuracies are
        permuted against both), ``lead_p_value`` (how often it is then better by as much as it really is); ``points``
        alone where a group cannot be fitted.

    >>> rng = np.random.default_rng(0)
    >>> noise = pd.DataFrame(rng.standard_normal((6, 11)), columns=["accuracy", *"abcdefg", *"xyz"])
    >>> row = best_fit_lead(noise, list("abcdefg"), list("xyz"))
    >>> 0.6 < row["wins_if_nothing_matters"] < 0.8
    True
    """
    columns = ["accuracy", *statistics, *common]
    group = table[table[columns].dropna(axis=1, how="all").notna().all(axis=1)]
    # one seed for both, so that accuracies are permuted in the same way
    try:
        ours, theirs = (best_fit_test(group, names, **options) for names in (statistics, common))
    except AffscoreError:
        return {"points": len(group)}
    leads = ours.permuted - theirs.permuted
    return {
        "points": len(group),
        "best_statistic": ours.best,
        "statistic_r2": ours.observed,
        "p_value": ours.p_value,
        "best_common": theirs.best,
        "common_r2": theirs.observed,
        "common_p_value": ours.share_reaching(theirs.observed),
        "wins_if_nothing_matters": float((leads > 0).mean()),
        "lead_p_value": ours.share_of(leads >= ours.observed - theirs.observed - ROUNDING),
    }


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
    return float(_of_one(points).ppf(level ** (1 / candidates)))


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

    >>> round(independent_p_value(0.9, 5, 1), 3), round(independent_p_value(0.9, 5, 7), 3)
    (0.014, 0.093)
    """
    one = _of_one(points).sf(r2)
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

    >>> round(independent_lead(0.0, 9, 1, 1), 3), round(independent_lead(0.0, 9, 7, 3), 3)
    (0.5, 0.7)
    """
    one = _of_one(points)
    levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
    return float(np.mean(1 - one.cdf(one.ppf(levels ** (1 / baselines)) + lead) ** candidates))


def _of_one(points: int) -> Any:
    """The distribution of one R2, of scipy.stats."""
    return beta(0.5, (points - 2) / 2)
