"""Estimates with their errors, and statistics of signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.comparison import check_scores, signature_statistics
from affscore.errors import AffscoreError

CHANCE = 0.05
"""A test decides below this two-sided p-value, and so does an interval at one minus this level."""

SCORES = (0.0, 1.0)
"""The range of a score, and of a mean of scores."""


class MissingResultsError(LookupError):
    """The results have nothing to say of a claim."""


def require(there: object) -> None:
    """Leave the test of a claim where its results are not there.

    Args:
        there: A condition, or what must not be empty.

    Raises:
        MissingResultsError: It is false, or empty.
    """
    if not there:
        raise MissingResultsError


@dataclass(frozen=True)
class Estimate:
    """A number that was measured several times.

    Attributes:
        value: The number.
        error: Its standard error; infinite where it was measured once.
        freedom: Degrees of freedom of the error.
        within: The range that the number cannot leave, nor its interval.
        n: How many independent units it is of.
    """

    value: float
    error: float = np.inf
    freedom: float = np.inf
    within: tuple[float, float] = (-np.inf, np.inf)
    n: int = 1

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two independent numbers, with the degrees of freedom of Welch and Satterthwaite."""
        one, two = self.error**2, other.error**2
        least = one**2 / self.freedom + two**2 / other.freedom
        freedom = (one + two) ** 2 / least if 0 < least < np.inf else min(self.freedom, other.freedom)
        return Estimate(self.value - other.value, float(np.sqrt(one + two)), freedom, n=self.n + other.n)

    def __rmul__(self, factor: float) -> Estimate:
        """A positive multiple, as in percent.

        >>> f"{100 * mean_of([0.8, 0.9, 1.0], SCORES):.0f}"
        '90 [65, 100]'
        """
        low, high = self.within
        return Estimate(factor * self.value, factor * self.error, self.freedom, (factor * low, factor * high), self.n)

    def half(self, together: int = 1) -> float:
        """Half of the width of Student's 95 % interval; of several that hold together a wider one (Bonferroni)."""
        return self.error and self.error * float(stats.t.ppf(1 - CHANCE / (2 * together), self.freedom))

    def interval(self, together: int = 1) -> tuple[float, float]:
        """Student's 95 % interval; of several that hold together a wider one (Bonferroni).

        >>> [round(end, 2) for end in mean_of([1.0, 2.0, 3.0]).interval()]
        [-0.48, 4.48]
        """
        half = self.half(together)
        return max(self.value - half, self.within[0]), min(self.value + half, self.within[1])

    def above(self, limit: float = 0.0, together: int = 1) -> bool | None:
        """Whether the number is above a limit; None where the limit lies in its interval.

        >>> mean_of([1.0, 2.0, 3.0]).above(0.0), mean_of([1.0, 1.1, 1.2]).above(0.0), mean_of([1.0]).above(0.0)
        (None, True, None)
        """
        return self.value > limit if self.chance_of(limit) < CHANCE / together else None

    def chance_of(self, limit: float) -> float:
        """The two-sided p-value of a limit: below 0.05 where it does not lie in the 95 % interval.

        >>> round(mean_of([1.0, 2.0, 3.0]).chance_of(0.0), 3), mean_of([1.0]).chance_of(0.0)
        (0.074, 1.0)
        """
        gap = abs(self.value - limit)
        if self.error == 0:
            return float(gap == 0)
        return 2 * float(stats.t.sf(gap / self.error, self.freedom))

    def __format__(self, how: str) -> str:
        if not np.isfinite(self.error):
            return format(self.value, how)
        low, high = self.interval()
        return f"{self.value:{how}} [{low:{how}}, {high:{how}}]"


def mean_of(values: ArrayLike, within: tuple[float, float] = (-np.inf, np.inf)) -> Estimate:
    """The mean of independent values, with their standard deviation over the root of their number as its error.

    Raises:
        MissingResultsError: There are no values.

    >>> f"{mean_of([0.2, 0.3, 0.4]):.2f}"
    '0.30 [0.05, 0.55]'
    >>> f"{mean_of([0.8, 0.9, 1.0], SCORES):.2f}"
    '0.90 [0.65, 1.00]'
    """
    sample = np.asarray(values, dtype=float)
    require(len(sample))
    spread = sample.std(ddof=1) if len(sample) > 1 else np.inf
    n = len(sample)
    return Estimate(float(sample.mean()), float(spread / n**0.5), n - 1 or np.inf, within, n)


def jackknife_error(replicates: NDArray[np.float64]) -> float:
    r"""Standard error of a number from what it is without one batch, for each batch in turn.

    .. math:: s^2 = \frac{B - 1}{B} \sum_b (\theta_{-b} - \bar\theta)^2

    Args:
        replicates: The number without each of the B batches.

    Returns:
        The error; infinite where no batch can be left out.

    Source: Tukey's jackknife.

    The standard error of a mean:

    >>> values = np.array([1.0, 2.0, 6.0])
    >>> round(jackknife_error((values.sum() - values) / 2), 6), round(float(values.std(ddof=1)) / 3**0.5, 6)
    (1.527525, 1.527525)
    """
    if len(replicates) < 2 or not np.isfinite(replicates).all():
        return np.inf
    return float(np.std(replicates) * (len(replicates) - 1) ** 0.5)


def rarefied_range(scores: ArrayLike, size: int) -> float:
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

    Source: rarefaction, as it is known from counting species (Hurlbert, 1971); not in the papers.

    >>> rarefied_range([0.25, 0.5, 0.75], 3), round(rarefied_range([0.25, 0.5, 0.75], 2), 4)
    (0.5, 0.3333)
    """
    ordered = np.sort(check_scores(scores))
    k = len(ordered)
    whole = comb(k, size)  # exact integers: these overflow a double
    return float([(comb(i, size - 1) - comb(k - 1 - i, size - 1)) / whole for i in range(k)] @ ordered)


def shape_statistics(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """The statistics of signatures, and what describes their shape.

    Args:
        signatures: Scores by name.

    Returns:
        The columns of :func:`signature_statistics`, ``spread`` (largest minus smallest), ``rarefied range``
        (:func:`rarefied_range` of as many scores as the shortest signature has) and ``skewness``, missing where all
        scores are the same.

    Raises:
        AffscoreError: No signatures, or what is none.

    >>> shape_statistics({"a": [0.3, 0.5, 0.4], "b": [0.6, 0.7]})["spread"].round(2).tolist()
    [0.2, 0.1]
    """
    table = signature_statistics(signatures)
    few, scores = int(table["activations"].min()), {name: np.asarray(one) for name, one in signatures.items()}
    table["spread"] = table["max"] - table["min"]
    table["rarefied range"] = [rarefied_range(one, few) for one in scores.values()]
    table["skewness"] = [stats.skew(one) if np.ptp(one) >= 1e-9 else np.nan for one in scores.values()]
    return table


def mean_or_deviation(values: ArrayLike, what: str) -> float:
    """What a table of means and standard deviations (n in the denominator) prints of these values, missing ones apart.

    Args:
        values: Of one quantity, a value for each network.
        what: "mean" or "std".

    >>> mean_or_deviation([1.0, 3.0], "mean"), mean_or_deviation([1.0, 3.0], "std")
    (2.0, 1.0)
    """
    sample = pd.Series(np.asarray(values, dtype=float))
    return float(sample.mean() if what == "mean" else sample.std(ddof=0))


def mean_step(scores: ArrayLike, depth: ArrayLike | None = None) -> float:
    r"""How much a signature changes from one depth to the next: the mean absolute difference of scores.

    With :math:`\bar d_k` the mean of :math:`|s_i - s_j|` over the activations i at the k-th depth and j at the next,

    .. math:: \frac{1}{D - 1} \sum_{k=1}^{D-1} \bar d_k .

    Args:
        scores: A signature, (k,).
        depth: Of each activation, (k,); parallel branches share one. None for a chain: each has a depth of its own.

    Raises:
        AffscoreError: What is no signature, not a depth for each score, or a single depth.

    Source: section 4.1 of the paper's first version says that signatures are "shaken", and has no number for it.

    >>> mean_step([0.5, 0.9, 0.5, 0.9]), round(mean_step([0.5, 0.7, 0.9], [1, 2, 2]), 3)
    (0.4, 0.3)
    """
    values = check_scores(scores)
    first, second, weights = _pairs(values, depth)
    return float(np.abs(values[first] - values[second]) @ weights)


def _pairs(
    scores: NDArray[np.float64], depth: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """The pairs of activations at neighbouring depths, and their weights: each step counts the same."""
    depths = np.arange(len(scores)) if depth is None else np.asarray(depth)
    levels, at = np.unique(depths, return_inverse=True)
    if len(levels) < 2:
        raise AffscoreError("expected activations at two depths or more: there is no step from one depth to the next")
    first, second = np.nonzero(at[:, None] + 1 == at)
    counts = np.bincount(at)
    return first, second, 1 / ((len(levels) - 1) * counts[at[first]] * counts[at[second]])
