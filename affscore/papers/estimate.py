"""A number with its standard error, and what the two decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

CHANCE = 0.05
"""A test decides below this p-value, an interval at one minus this level."""

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
    """

    value: float
    error: float = np.inf
    freedom: float = np.inf
    within: tuple[float, float] = (-np.inf, np.inf)

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two independent numbers, with the degrees of freedom of Welch and Satterthwaite."""
        one, two = self.error**2, other.error**2
        least = one**2 / self.freedom + two**2 / other.freedom
        freedom = (one + two) ** 2 / least if 0 < least < np.inf else min(self.freedom, other.freedom)
        return Estimate(self.value - other.value, float(np.sqrt(one + two)), freedom)

    def __rmul__(self, factor: float) -> Estimate:
        """A positive multiple, as in percent.

        >>> f"{100 * mean_of([0.8, 0.9, 1.0], SCORES):.0f}"
        '90 [65, 100]'
        """
        low, high = self.within
        return Estimate(factor * self.value, factor * self.error, self.freedom, (factor * low, factor * high))

    def interval(self, together: int = 1) -> tuple[float, float]:
        """Student's 95 % interval; of several that are to hold together a wider one (Bonferroni).

        Args:
            together: How many.

        >>> [round(end, 2) for end in mean_of([1.0, 2.0, 3.0]).interval()]
        [-0.48, 4.48]
        """
        half = self.error and self.error * float(stats.t.ppf(1 - CHANCE / (2 * together), self.freedom))
        return max(self.value - half, self.within[0]), min(self.value + half, self.within[1])

    def above(self, limit: float = 0.0, together: int = 1) -> bool | None:
        """Whether the number is above a limit; None where the limit lies in its interval.

        >>> mean_of([1.0, 2.0, 3.0]).above(0.0), mean_of([1.0, 1.1, 1.2]).above(0.0), mean_of([1.0]).above(0.0)
        (None, True, None)
        """
        low, high = self.interval(together)
        return True if low > limit else False if high < limit else None

    def below(self, limit: float = 0.0, together: int = 1) -> bool | None:
        """Whether the number is below a limit; None where the limit lies in its interval."""
        return Estimate(-self.value, self.error, self.freedom).above(-limit, together)

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
    return Estimate(float(sample.mean()), float(spread / len(sample) ** 0.5), len(sample) - 1 or np.inf, within)


def differ(numbers: Sequence[Estimate], small: float) -> bool | None:
    """Whether any of several numbers differs from zero, with intervals that hold for all of them together.

    Args:
        numbers: As differences.
        small: False where all intervals are within this of zero; None where neither is so.

    >>> differ([mean_of([1.0, 1.1]), mean_of([0.0, 0.1])], 0.2), differ([mean_of([0.0, 0.001, -0.001])], 0.2)
    (None, False)
    """
    ends = [one.interval(len(numbers)) for one in numbers]
    if any(low > 0 or high < 0 for low, high in ends):
        return True
    return False if all(max(-low, high) < small for low, high in ends) else None


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


def if_significant(p_value: float, holds: object) -> bool | None:
    """What a test says where it rejects chance; None where it does not.

    >>> if_significant(0.01, True), if_significant(0.2, True)
    (True, None)
    """
    return bool(holds) if p_value < CHANCE else None


def every(parts: Iterable[bool | None]) -> bool | None:
    """Whether all parts are true: not, where one is false; None, where none is false and one is not decided.

    >>> every([True, None]), every([None, False]), every([True, True])
    (None, False, True)
    """
    verdicts = list(parts)
    return False if False in verdicts else None if None in verdicts else True


def level(together: int) -> str:
    """The level of intervals that hold together at 95 % (Bonferroni), in words.

    >>> level(1), level(5)
    ('95 %', '99 %')
    """
    return f"{100 * (1 - CHANCE / together):.3g} %"


def undecided(parts: Mapping[str, bool | None]) -> str:
    """Why a claim of several parts is not decided, in words; empty where it is.

    Args:
        parts: What the test of each part says, by why the part would be open.

    >>> undecided({"p is not below 0.05 for the lead": None, "the interval contains 0.9": True})
    'Undecided: p is not below 0.05 for the lead.'
    >>> undecided({"p is not below 0.05 for the lead": None, "the interval contains 0.9": False})
    ''
    """
    why = [words for words, part in parts.items() if part is None]
    return f"Undecided: {'; '.join(why)}." if every(parts.values()) is None else ""


def not_significant(p_value: float, of: str, over: str = "") -> str:
    """Why a test that rejects nothing leaves a part open.

    Args:
        p_value: Of the test.
        of: What it is of.
        over: What makes its sample, and how many of them.

    >>> not_significant(0.233, "its lead", "5 networks")
    'the p of its lead (0.233, over 5 networks) is not below 0.05'
    """
    return f"the p of {of} ({p_value:.3f}{f', over {over}' if over else ''}) is not below {CHANCE}"


def undecided_together(parts: Mapping[str, bool | None]) -> str:
    """Why intervals of several numbers that must hold together leave a claim open: each is wider than the 95 % shown.

    Args:
        parts: What the interval of each number says, by its name.

    >>> undecided_together({"digits": True, "sum": None})
    'Undecided: 2 intervals must hold together, each at 97.5 %, and that of sum contains the limit.'
    """
    if len(parts) < 2:
        return ""
    names = [name for name, part in parts.items() if part is None]
    contain = f"that of {names[0]} contains" if len(names) == 1 else f"those of {', '.join(names)} contain"
    together = f"{len(parts)} intervals must hold together, each at {level(len(parts))}"
    return undecided({f"{together}, and {contain} the limit": every(parts.values())}) if names else ""
