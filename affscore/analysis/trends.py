"""Trends over the years, and along the depth of a network."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.analysis.checks import check_columns, check_permutations
from affscore.analysis.similarity import check_scores, signature_statistics
from affscore.errors import AffscoreError

__all__ = ["Trend", "along_depth", "spread_of_few", "trend", "trends"]


def spread_of_few(scores: ArrayLike, size: int) -> float:
    r"""The expected difference of the largest and the smallest of a few scores drawn from a signature.

    Minimum and maximum of many scores lie further apart than those of a few, whatever the network. Drawing the same
    number from each signature, without replacement, makes networks of different depths comparable. Over all subsets
    of size m of the sorted scores :math:`s_{(1)} \le \dots \le s_{(k)}` it is

    .. math:: \sum_{i} \frac{\binom{i - 1}{m - 1} - \binom{k - i}{m - 1}}{\binom{k}{m}} s_{(i)} .

    Args:
        scores: A signature, (k,).
        size: How many scores to draw, m, from 1 to k.

    Returns:
        The expectation, in [0, 1].

    Raises:
        AffscoreError: No scores, or a size that is none of a subset.

    Source: rarefaction, as it is known from counting species (Hurlbert, 1971); not in the papers.

    >>> spread_of_few([0.25, 0.5, 0.75], 3), round(spread_of_few([0.25, 0.5, 0.75], 2), 4)
    (0.5, 0.3333)
    """
    ordered = np.sort(check_scores(scores))
    k = len(ordered)
    if not 1 <= size <= k:
        raise AffscoreError(f"the size of a subset of {k} scores must be from 1 to {k}, got {size}")
    whole = comb(k, size)  # exact whole numbers: these overflow a double
    shares = [(comb(i, size - 1) - comb(k - 1 - i, size - 1)) / whole for i in range(k)]
    return float(shares @ ordered)


def along_depth(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """How scores change from the first activation of a network to the last.

    Args:
        signatures: Scores by the name of the network, in the order of the activations.

    Returns:
        A row for each network; columns ``first third``, ``middle`` and ``last third`` (mean scores), ``last`` (the
        score of the last activation) and ``correlation`` (Spearman's, of score and position; missing where all
        scores are the same). A network of fewer than three activations has no thirds.

    Raises:
        AffscoreError: What is no signature.

    Source: figures 11 to 13 of the paper compare networks by eye in this respect.

    >>> along_depth({"a": [0.5, 0.6, 0.7, 0.9]}).round(2).iloc[0].tolist()
    [0.5, 0.65, 0.9, 0.9, 1.0]
    """
    signature_statistics(signatures)  # refuses what is no signature
    rows = {}
    for name, values in signatures.items():
        scores = np.asarray(values, dtype=float)
        third = len(scores) // 3
        parts = [scores[:third], scores[third : len(scores) - third], scores[len(scores) - third :]]
        means = [float(part.mean()) if third else np.nan for part in parts]
        steady = np.ptp(scores) == 0
        correlation = np.nan if steady else float(stats.spearmanr(np.arange(len(scores)), scores).statistic)
        rows[name] = [*means, float(scores[-1]), correlation]
    columns = ["first third", "middle", "last third", "last", "correlation"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


@dataclass(frozen=True)
class Trend:
    """How a statistic goes with the year.

    Attributes:
        points: How many architectures there are.
        correlation: Spearman's rank correlation of statistic and year.
        p_value: Share of the assignments of years to architectures whose correlation is as far from 0 (two-sided).
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


def trend(years: ArrayLike, values: ArrayLike, resamples: int = 50_000, seed: int = 0) -> Trend:
    """How a statistic goes with the year, with few points and no assumption of a straight line.

    Args:
        years: Of each architecture, (k,).
        values: Its statistic, (k,).
        resamples: Assignments of years to try; where there are fewer in all, each of them counts once.
        seed: Of the assignments.

    Returns:
        The trend. With fewer than four architectures, or where all years or all values are the same, everything
        but ``points`` is NaN.

    Raises:
        AffscoreError: Not one year for each value, or missing ones.

    >>> trend([2012, 2014, 2015, 2016, 2019], [0.1, 0.2, 0.3, 0.35, 0.6]).correlation
    1.0
    """
    x, y = np.asarray(years, dtype=float), np.asarray(values, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise AffscoreError(f"expected a year for each value, finite and none missing, got {x.shape} and {y.shape}")
    check_permutations(resamples)
    if len(x) < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Trend(len(x), *[np.nan] * 5)
    years_in_ranks, values_in_ranks = stats.rankdata(x), stats.rankdata(y)

    def correlation(one: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        centred = years_in_ranks - years_in_ranks.mean()
        of_values = one - one.mean(axis=axis, keepdims=True)
        scale = np.linalg.norm(centred) * np.linalg.norm(of_values, axis=axis)
        # rounded, so that two assignments with the same correlation are found to have the same
        return (of_values @ centred / scale).round(12)

    test = stats.permutation_test(
        (values_in_ranks,),
        correlation,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=resamples,
        random_state=np.random.default_rng(seed),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # equal years have no slope between them
        slopes = stats.theilslopes(y, x, alpha=0.95)
    return Trend(
        len(x), float(test.statistic), float(test.pvalue), *map(float, (slopes[0], slopes.low_slope, slopes.high_slope))
    )


def trends(
    table: pd.DataFrame,
    columns: Sequence[str] = ("min", "median", "max", "spread", "spread of few"),
    until: int | None = None,
    resamples: int = 50_000,
    seed: int = 0,
) -> pd.DataFrame:
    """The trends of several statistics over the years, with one point for each architecture.

    Networks of one family and year are variants of one design and no independent witnesses: they count as one
    point, the mean of their statistics.

    Args:
        table: A row for each network with ``family``, ``year`` and the columns (:func:`affscore.papers.history`);
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
    check_columns(table, columns)
    check_columns(table, ("family", "year"))
    dated = table[table["year"].notna()]
    if until is not None:
        dated = dated[dated["year"] <= until]
    designs = dated.groupby(["family", "year"], sort=False)[list(columns)].mean().reset_index()
    found = {column: trend(designs["year"], designs[column], resamples, seed) for column in columns}
    return pd.DataFrame.from_dict({column: vars(result) for column, result in found.items()}, orient="index")
