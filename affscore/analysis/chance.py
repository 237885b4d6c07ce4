"""How well the best of several statistics explains accuracy by chance alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis.accuracy import FITS, LEAST_POINTS
from affscore.analysis.checks import check_columns, check_permutations, numbers_of
from affscore.errors import AffscoreError

__all__ = ["Chance", "best_by_chance", "chance_of_group"]

Array = NDArray[np.float64]

PERMUTATIONS = 50_000
"""Shuffles of a group; where there are no more than that in all (up to eight networks), each is taken once."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Chance:
    """The best R2 of several candidates, and what it is when the accuracies are shuffled.

    Attributes:
        points: Number of networks.
        best: The candidate with the largest R2.
        observed: That R2.
        shuffled: The largest R2 of any candidate after each shuffle.
        exact: Whether these are all permutations, each once, rather than random ones.
        left_out: Candidates without an R2, and why.
    """

    points: int
    best: str
    observed: float
    shuffled: Array
    exact: bool
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def p_value(self) -> float:
        """How often chance does as well as what was observed."""
        return self.share_reaching(self.observed)

    def share_reaching(self, r2: float) -> float:
        """How often the best of the candidates reaches an R2 after a shuffle."""
        return self.share_of(self.shuffled >= r2 - _ROUNDING)

    def share_of(self, reached: NDArray[np.bool_]) -> float:
        """The share of shuffles in which something was reached; of random ones, what was observed is one more."""
        count = int(reached.sum())
        return count / len(reached) if self.exact else (count + 1) / (len(reached) + 1)


def best_by_chance(
    table: pd.DataFrame,
    candidates: Sequence[str],
    *,
    target: str = "accuracy",
    kind: str = "linear",
    within: str | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Chance:
    """Shuffle the accuracies within a group and take the best candidate each time, as was done without shuffling.

    Args:
        table: A row for each network of the group; networks of which the accuracy or a candidate is missing
            are left out (a candidate that is missing everywhere is left out instead).
        candidates: Columns that compete.
        target: The column of the accuracies.
        kind: "linear" or "logarithm".
        within: A column, as the family: accuracies are exchanged between networks that have the same there only. What
            differs between families, for whatever reason, is then no evidence for a candidate. None: all are exchanged.
        permutations: How many shuffles; every permutation once, where there are no more.
        seed: Fixes random ones.

    Raises:
        AffscoreError: Fewer than five networks, no candidate that can be fitted, a fit of several coefficients, or
            columns that are not there or hold no numbers.

    Source: ours; the paper compares the best of seven statistics with the best of three characteristics.

    >>> group = pd.DataFrame({"accuracy": [1, 2, 3, 4, 5], "mean": [1, 2, 3, 4, 6], "max": [2, 1, 2, 1, 2]})
    >>> chance = best_by_chance(group, ["mean", "max"])
    >>> chance.best, round(chance.observed, 3), len(chance.shuffled), round(120 * chance.p_value)
    ('mean', 0.973, 120, 2)
    """
    check_columns(table, candidates)
    table = table.reset_index(drop=True)  # several rows may have the same name
    known, left_out = _known(table, candidates, target, kind)
    names, accuracy = [str(name) for name in known.columns.drop(target)], known[target].to_numpy()
    values = known[names].to_numpy()
    shuffles, exact = _shuffles(_strata(table, within, known.index), permutations, seed)
    explained = _explained(values, accuracy[None])[0]
    shuffled = _explained(values, accuracy[shuffles]).max(axis=1)
    best = int(explained.argmax())
    return Chance(len(accuracy), names[best], float(explained[best]), shuffled, exact, left_out)


def chance_of_group(
    table: pd.DataFrame,
    statistics: Sequence[str],
    common: Sequence[str],
    *,
    target: str = "accuracy",
    kind: str = "linear",
    within: str | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> dict[str, object]:
    """How often the best statistic of a signature beats the best common characteristic of a group by chance.

    Args:
        table: A row for each network of the group.
        statistics: Columns of the signature.
        common: Columns such as depth, parameters and operations.
        target: As in :func:`best_by_chance`, like the other arguments.
        kind: "linear" or "logarithm".
        within: A column within which alone accuracies are exchanged.
        permutations: How many shuffles.
        seed: Fixes them.

    Returns:
        ``points``, ``best_statistic``, ``statistic_r2``, ``chance_median`` and ``chance_95`` (of the best statistic's
        R2 under chance), ``p_value``, ``best_common``, ``common_r2``, ``beats_common`` (how often the best statistic
        under chance is at least as good as the common characteristic really is), ``wins_if_nothing_matters`` (how
        often it is the better one when the accuracies are shuffled against both), ``lead_p_value`` (how often it is
        then better by as much as it really is), ``exact`` and ``note``. Numbers are missing, and the note says why,
        where a group is too small.

    Raises:
        AffscoreError: A column that is not there.

    >>> rng = np.random.default_rng(0)
    >>> noise = pd.DataFrame(rng.standard_normal((6, 11)), columns=["accuracy", *"abcdefg", *"xyz"])
    >>> row = chance_of_group(noise, list("abcdefg"), list("xyz"))
    >>> row["exact"], 0.6 < row["wins_if_nothing_matters"] < 0.8
    (True, True)
    """
    columns = [*statistics, *common, target]
    check_columns(table, columns)
    table = table.reset_index(drop=True)
    known = table[[c for c in columns if table[c].notna().any()]].dropna()
    row: dict[str, object] = {"points": len(known)}
    group = known.reindex(columns=columns)
    if within is not None:
        check_columns(table, [within])
        group[within] = table.loc[known.index, within]
    options: dict[str, Any] = {"target": target, "kind": kind, "within": within, "permutations": permutations}
    options["seed"] = seed  # both are shuffled in the same way
    try:
        ours = best_by_chance(group, statistics, **options)
        theirs = best_by_chance(group, common, **options)
    except AffscoreError as reason:
        return {**row, "note": str(reason)}
    said = [f"{name}: {why}" for name, why in {**ours.left_out, **theirs.left_out}.items()]
    return {
        **row,
        "best_statistic": ours.best,
        "statistic_r2": ours.observed,
        "chance_median": float(np.median(ours.shuffled)),
        "chance_95": float(np.quantile(ours.shuffled, 0.95)),
        "p_value": ours.p_value,
        "best_common": theirs.best,
        "common_r2": theirs.observed,
        "beats_common": ours.share_reaching(theirs.observed),
        "wins_if_nothing_matters": float((ours.shuffled > theirs.shuffled).mean()),
        "lead_p_value": ours.share_of(ours.shuffled - theirs.shuffled >= ours.observed - theirs.observed - _ROUNDING),
        "exact": ours.exact,
        "note": "; ".join(said),
    }


def _known(
    table: pd.DataFrame, candidates: Sequence[str], target: str, kind: str
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Accuracies and candidates (or their logarithms) of the networks that have them all, and what was left out."""
    if FITS.get(kind) != 1:
        raise AffscoreError(f"chance is computed for the fits linear and logarithm, got {kind!r}")
    numbers = numbers_of(table, [target, *candidates])
    left_out = {name: "no network has it" for name in candidates if numbers[name].isna().all()}
    known = numbers[[*(name for name in candidates if name not in left_out), target]].dropna()
    if len(known) < LEAST_POINTS:
        raise AffscoreError(f"{len(known)} networks have all numbers; it takes at least {LEAST_POINTS} to compare fits")
    columns = {}
    for name in known.columns.drop(target):
        values = known[name]
        if kind == "logarithm" and values.min() <= 0:
            left_out[str(name)] = "it is not positive everywhere, so it has no logarithm"
        elif np.ptp(values) <= _ROUNDING * np.abs(values).max():
            left_out[str(name)] = "it is the same for all networks"
        else:
            columns[str(name)] = np.log(values) if kind == "logarithm" else values
    if not columns or np.ptp(known[target]) == 0:
        raise AffscoreError("there is nothing to fit: the accuracies or all candidates are the same for all networks")
    return pd.DataFrame({**columns, target: known[target]}), left_out


def _strata(table: pd.DataFrame, within: str | None, known: pd.Index) -> NDArray[np.intp]:
    """A number for each network: accuracies are exchanged between networks of the same number."""
    if within is None:
        return np.zeros(len(known), dtype=np.intp)
    check_columns(table, [within])
    labels = table.loc[known, within]
    if labels.isna().any():
        raise AffscoreError(f"a network has nothing in the column {within!r}, within which accuracies are exchanged")
    return pd.factorize(labels)[0]


def _shuffles(strata: NDArray[np.intp], permutations: int, seed: int) -> tuple[NDArray[np.intp], bool]:
    """Row by row a permutation: all of them where there are no more than asked for, else random ones."""
    check_permutations(permutations)
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    every = math.prod(math.factorial(len(places)) for places in members)
    exact = every <= permutations
    rows = np.tile(np.arange(len(strata)), (every if exact else permutations, 1))
    if exact:
        each = itertools.product(*(itertools.permutations(places) for places in members))
        rows[:, np.concatenate(members)] = np.array([np.concatenate(order) for order in each])
        return rows, True
    generator = np.random.default_rng(seed)
    for places in members:
        rows[:, places] = generator.permuted(rows[:, places], axis=1)
    return rows, False


def _explained(values: Array, accuracies: Array) -> Array:
    """R2 of each row of accuracies (shuffles, n) on each column of values (n, k): squared correlations."""
    x = values - values.mean(axis=0)
    y = accuracies - accuracies.mean(axis=1, keepdims=True)
    return np.square(y @ (x / np.linalg.norm(x, axis=0))) / np.square(y).sum(axis=1, keepdims=True)
