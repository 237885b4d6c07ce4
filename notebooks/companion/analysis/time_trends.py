"""Trends over the years or with the depth, with few architectures and no assumption of a straight line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from affscore.errors import AffscoreError
from companion.analysis.permutation import PERMUTATIONS, p_value_text, permutation_test
from companion.analysis.tables import check_columns


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

    Raises:
        AffscoreError: Not one year for each value, or missing ones.

    >>> trend([2012, 2014, 2015, 2016, 2019], [0.1, 0.2, 0.3, 0.35, 0.6]).correlation
    1.0
    """
    x, y = np.asarray(years, dtype=float), np.asarray(values, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or not np.isfinite([x, y]).all():
        raise AffscoreError(f"expected a year for each value, finite and none missing, got {x.shape} and {y.shape}")
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
        table: A row for each network with ``family``, ``year`` and the columns (:func:`companion.papers.history`);
            networks without a year are left out.
        columns: Which statistics.
        until: The last year that counts; None for all.
        resamples: As for :func:`trend`.
        seed: As for :func:`trend`.

    Returns:
        A row for each statistic, with the attributes of :class:`Trend` as columns.

    Raises:
        AffscoreError: A column that is not there, or missing statistics.

    Source: the trend "until the arrival of transformers" of section 4 of the paper, which gives no test.

    >>> table = pd.DataFrame({"family": ["VGGs", "VGGs", "ResNets"], "year": [2014, 2014, 2015]})
    >>> trends(table.assign(max=0.5), ["max"])["points"].tolist()
    [2]
    """
    check_columns(table, columns, ("family", "year"))
    dated = table[table["year"] <= (np.inf if until is None else until)]
    designs = dated.groupby(["family", "year"], sort=False)[list(columns)].mean().reset_index()
    found = {column: trend(designs["year"], designs[column], resamples, seed) for column in columns}
    return pd.DataFrame.from_dict(found, orient="index", columns=list(Trend._fields))
