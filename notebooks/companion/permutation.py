"""Permutation tests, and rank correlations that are tested by them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

PERMUTATIONS = 50_000
"""Permutations of a group; where there are no more than that in all (up to eight values), each is taken once."""

ROUNDING = 1e-9
"""Statistics that differ by less are equal: permutations that amount to the same give the same up to rounding."""


def p_value_text(p_value: float) -> str:
    """A p-value as papers print it, with three decimals.

    >>> p_value_text(0.0171), p_value_text(0.00099), p_value_text(1.0)
    ('p = 0.017', 'p < 0.001', 'p = 1.000')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


@dataclass(frozen=True)
class PermutationTest:
    """A statistic, and what it is when the values are permuted.

    Attributes:
        observed: The statistic of the values as they are.
        permuted: The statistic after each permutation.
        exact: Whether these are all permutations, each once, rather than random ones.
    """

    observed: float
    permuted: NDArray[np.float64]
    exact: bool

    @property
    def p_value(self) -> float:
        """How often a permutation reaches what was observed (one-sided)."""
        return self.share_reaching(self.observed)

    @property
    def two_sided(self) -> float:
        """Twice the smaller of the two one-sided p-values, at most 1."""
        return min(2 * min(self.p_value, self.share_of(self.permuted <= self.observed + ROUNDING)), 1.0)

    def share_reaching(self, value: float) -> float:
        """How often the statistic is at least that large after a permutation."""
        return self.share_of(self.permuted >= value - ROUNDING)

    def share_of(self, reached: NDArray[np.bool_]) -> float:
        """The share of permutations in which something holds; of random ones, what was observed is one more."""
        count = int(reached.sum())
        return count / len(reached) if self.exact else (count + 1) / (len(reached) + 1)


def permutation_test(
    values: ArrayLike,
    statistic: Callable[[NDArray[Any]], NDArray[np.float64]],
    *,
    strata: ArrayLike | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> PermutationTest:
    """Permute values and compute a statistic each time.

    Args:
        values: What is permuted, (n,).
        statistic: Maps permutations of the values (..., n) to numbers (...).
        strata: A label for each value, (n,): values change places with those of the same label only. None: with all.
        permutations: How many; every permutation once, where there are no more.
        seed: Fixes random ones.

    Source: scipy.stats.permutation_test; stratified, the restricted permutation test.

    >>> x = np.array([1, 2, 3, 5])
    >>> test = permutation_test([1, 2, 3, 4], lambda rows: rows @ x)
    >>> test.observed, len(test.permuted), test.p_value == 1 / 24
    (34.0, 24, True)
    """
    held, generator = np.asarray(values), np.random.default_rng(seed)
    if strata is not None:
        rows, exact = _within(np.asarray(strata), permutations, generator)
        return PermutationTest(float(statistic(held)), statistic(held[rows]), exact)
    options: dict[str, Any] = {"permutation_type": "pairings", "vectorized": True, "batch": 10_000}
    test = stats.permutation_test(
        (held,), lambda rows, axis: statistic(rows), n_resamples=permutations, random_state=generator, **options
    )
    return PermutationTest(float(test.statistic), test.null_distribution, math.factorial(len(held)) <= permutations)


def _within(strata: NDArray[Any], permutations: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], bool]:
    """Row by row a permutation of the places: all of them where there are no more than asked for, else random ones."""
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    every = math.prod(math.factorial(len(places)) for places in members)
    exact = every <= permutations
    rows = np.tile(np.arange(len(strata)), (every if exact else permutations, 1))
    if exact:
        each = itertools.product(*(itertools.permutations(places) for places in members))
        rows[:, np.concatenate(members)] = np.array([np.concatenate(order) for order in each])
    else:
        for places in members:
            rows[:, places] = generator.permuted(rows[:, places], axis=1)
    return rows, exact


class Trend(NamedTuple):
    """How a statistic goes with the year.

    Attributes:
        points: How many architectures there are.
        correlation: Spearman's rank correlation of statistic and year.
        p_value: Share of the permutations of the years whose correlation is as far from 0 (two-sided).
        slope: The median of the slopes between pairs of architectures, per year (Theil and Sen).
        low: Lower end of the 95 % interval of the slope.
        high: Its upper end.
    """

    points: int
    correlation: float
    p_value: float
    slope: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.correlation:.2f} ({p_value_text(self.p_value)})"


def trend(years: ArrayLike, values: ArrayLike, resamples: int = PERMUTATIONS, seed: int = 0) -> Trend:
    """How a statistic goes with the year, with few points and no assumption of a straight line.

    Args:
        years: Of each architecture, (k,).
        values: Its statistic, (k,).
        resamples: Permutations of the years; where there are fewer in all, each of them counts once.
        seed: Of the permutations.

    Returns:
        The trend. With fewer than four architectures, or where all years or all values are the same, everything
        but ``points`` is NaN.

    >>> trend([2012, 2014, 2015, 2016, 2019], [0.1, 0.2, 0.3, 0.35, 0.6]).correlation
    1.0
    """
    x, y = np.asarray(years, dtype=float), np.asarray(values, dtype=float)
    if len(x) < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Trend(len(x), *[np.nan] * 5)
    ranks, moved = stats.zscore(stats.rankdata(x)) / len(x), stats.zscore(stats.rankdata(y))
    # two permutations of ranks with the same correlation differ by rounding only, which the test knows
    test = permutation_test(moved, lambda rows: rows @ ranks, permutations=resamples, seed=seed)
    with np.errstate(invalid="ignore"):  # of many equal years or values SciPy finds no interval
        slopes = stats.theilslopes(y, x, alpha=0.95)
    slope = map(float, (slopes.slope, slopes.low_slope, slopes.high_slope))
    return Trend(len(x), round(test.observed, 12), test.two_sided, *slope)


def trends(
    table: pd.DataFrame,
    columns: Sequence[str] = ("min", "median", "max", "spread", "rarefied range"),
    until: int | None = None,
    resamples: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """The trends of several statistics over the years, with one point for each architecture.

    Networks of one family and year are variants of one design, not independent observations: they count as one
    point, the mean of their statistics.

    Args:
        table: A row for each network with ``family``, ``year`` and the columns (:func:`companion.chapter_06.history`);
            networks without a year are left out.
        columns: Which statistics.
        until: The last year that counts; None for all.
        resamples: As for :func:`trend`.
        seed: As for :func:`trend`.

    Returns:
        A row for each statistic, with the attributes of :class:`Trend` as columns.

    Source: the trend "until the arrival of transformers" of section 4 of the paper, which gives no test.

    >>> table = pd.DataFrame({"family": ["VGGs", "VGGs", "ResNets"], "year": [2014, 2014, 2015]})
    >>> trends(table.assign(max=0.5), ["max"])["points"].tolist()
    [2]
    """
    dated = table[table["year"] <= (np.inf if until is None else until)]
    designs = dated.groupby(["family", "year"], sort=False)[list(columns)].mean().reset_index()
    found = {column: trend(designs["year"], designs[column], resamples, seed) for column in columns}
    return pd.DataFrame.from_dict(found, orient="index", columns=list(Trend._fields))
