"""Intervals over seeds: of a mean, and of a rank correlation over several cells whose networks share their seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.analysis.tables import check_level
from affscore.errors import AffscoreError

Values = NDArray[np.float64]


@dataclass(frozen=True)
class SeedInterval:
    """A number with its interval over seeds.

    Attributes:
        value: The number.
        low: Lower end of the interval.
        high: Upper end.
    """

    value: float
    low: float
    high: float

    @property
    def direction(self) -> Literal["positive", "negative", "undecided"]:
        """The sign of the number, where the interval leaves no doubt of it."""
        return "positive" if self.low > 0 else "negative" if self.high < 0 else "undecided"

    def __format__(self, how: str) -> str:
        return f"{self.value:{how}} [{self.low:{how}}, {self.high:{how}}]"


def mean_over_seeds(values: ArrayLike, level: float = 0.95) -> SeedInterval:
    """The mean of a number over seeds, with Student's interval.

    Args:
        values: A number for each seed, (k,), at least two.
        level: In (0, 1).

    Raises:
        AffscoreError: Fewer than two values, one that is not finite, or a level out of range.

    >>> f"{mean_over_seeds([1.0, 2.0, 3.0]):.2f}"
    '2.00 [-0.48, 4.48]'
    """
    check_level(level)
    numbers = _finite(values, "values", 1)
    half = float(stats.sem(numbers) * stats.t.ppf((1 + level) / 2, len(numbers) - 1))
    mean = float(numbers.mean())
    return SeedInterval(mean, mean - half, mean + half)


def rank_correlation_over_seeds(
    x: ArrayLike, y: ArrayLike, *, within: bool = False, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> SeedInterval:
    r"""Spearman's rank correlation of two numbers over networks, with a bootstrap interval over seeds.

    Networks of the same seed share their random draws and are not independent, so the bootstrap redraws whole seeds
    (rows), each with all of its cells (percentile interval).

    Args:
        x: A number for each network, (seeds, cells); a cell is a kind of network.
        y: The other number.
        within: Ranks are those within each cell, centred there: the correlation is the mean of the Spearman
            correlations of the cells (without ties), and differences between cells do not count. False: ranks over
            all networks.
        draws: Of the bootstrap.
        level: In (0, 1).
        seed: Of the bootstrap.

    Returns:
        The correlation in [-1, 1] with its interval. A bootstrap draw whose values are all equal counts as 0.

    Raises:
        AffscoreError: Arrays of different shapes or not (seeds, cells), fewer than two seeds, values that are not
            finite or all equal, or a level out of range.

    Source: Spearman's coefficient; stratified ranks as in van Elteren's test; the cluster bootstrap.

    >>> x = np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])  # two cells, far apart
    >>> rank_correlation_over_seeds(x, x).value, rank_correlation_over_seeds(x, [[2, 12], [1, 11], [0, 10]]).value > 0
    (1.0, True)
    >>> rank_correlation_over_seeds(x, [[2, 12], [1, 11], [0, 10]], within=True).value
    -1.0
    """
    check_level(level)
    one, other = _finite(x, "x", 2), _finite(y, "y", 2)
    if one.shape != other.shape:
        raise AffscoreError(f"x and y must have the same shape (seeds, cells), got {one.shape} and {other.shape}")
    rows = np.random.default_rng(seed).integers(len(one), size=(draws, len(one)))
    value = _rank_correlations(one[None], other[None], within)[0]
    if np.isnan(value):
        raise AffscoreError("all values of x or of y are equal, so that there are no ranks to correlate")
    drawn = np.nan_to_num(_rank_correlations(one[rows], other[rows], within))
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return SeedInterval(float(value), float(low), float(high))


def _rank_correlations(x: Values, y: Values, within: bool) -> Values:
    """The correlation for each draw of arrays (draws, seeds, cells); NaN where there are no ranks."""
    ranks = []
    for values in (x, y):
        rows = values if within else values.reshape(len(values), -1, 1)
        own = stats.rankdata(rows, axis=1)
        ranks.append((own - own.mean(axis=1, keepdims=True)).reshape(len(values), -1))
    first, second = ranks
    sizes = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.divide((first * second).sum(axis=1), sizes, out=np.full(len(sizes), np.nan), where=sizes > 0)


def _finite(values: ArrayLike, name: str, dimensions: int) -> Values:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != dimensions or len(numbers) < 2 or not numbers.size or not np.isfinite(numbers).all():
        shape = "(seeds,)" if dimensions == 1 else "(seeds, cells)"
        raise AffscoreError(
            f"{name} must be finite numbers {shape} of at least two seeds, got the shape {numbers.shape}"
        )
    return numbers
