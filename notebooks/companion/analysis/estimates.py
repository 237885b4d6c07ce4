"""A number with its standard error and its interval, from means over independent units or from the jackknife."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

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
