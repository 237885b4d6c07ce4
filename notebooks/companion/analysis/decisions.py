"""The one rule by which numbers decide: a two-sided p-value below 5 %, or a 95 % interval that excludes a limit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.analysis.estimates import CHANCE, Estimate
from companion.analysis.permutation import ROUNDING, PermutationTest, p_value_text, permutation_test
from companion.analysis.time_trends import Trend


class Decision(NamedTuple):
    """What the test of one part of a claim says.

    Attributes:
        shown: The number that decides, with its 95 % interval or its p-value.
        right: Whether it lies on the side that the claim says.
        p_value: How often chance alone puts it as far on this side, or on the other (two-sided); of a statistic that
            can only be large, as an R2, how often as large.
        n: Of how many independent units it is.
        seen: The smallest effect that would have decided, in words; empty where that has no number.
    """

    shown: str
    right: bool
    p_value: float
    n: int
    seen: str = ""

    def at(self, level: float = CHANCE) -> bool | None:
        """Whether this part is true; None where its p-value is not below the level."""
        return bool(self.right) if self.p_value < level else None


def above(number: Estimate, limit: float = 0.0, how: str = ".2f") -> Decision:
    """Whether a number is above a limit: decided where the limit is not in its 95 % interval.

    Args:
        number: Which.
        limit: The limit.
        how: How the number is written.

    >>> from companion.analysis import mean_of
    >>> above(mean_of([1.0, 1.1, 1.2]), 1.0)[:2], above(mean_of([1.0, 1.1, 1.2]), 1.0).seen
    (('1.10 [0.85, 1.35]', True), '0.25 from 1 would have been seen')
    """
    seen = (
        f"{number.half():{how}} from {limit:g} would have been seen" if np.isfinite(number.error) else "measured once"
    )
    return Decision(f"{number:{how}}", number.value > limit, number.chance_of(limit), number.n, seen)


def below(number: Estimate, limit: float = 0.0, how: str = ".2f") -> Decision:
    """Whether a number is below a limit, likewise."""
    return above(number, limit, how)._replace(right=number.value < limit)


def near(number: Estimate, centre: float, margin: float, how: str = ".2f") -> Decision:
    """Whether a number is within a margin of another one: its whole 95 % interval is, or is not (equivalence).

    >>> from companion.analysis import mean_of
    >>> near(mean_of([0.0, 0.01, 0.02]), 0.0, 0.05).at(), near(mean_of([0.0, 0.1, 0.2]), 0.0, 0.05).at()
    (True, None)
    """
    high, room = number.value > centre, margin - abs(number.value - centre)
    p_value = number.chance_of(centre + margin if high else centre - margin)
    seen = f"an interval of {abs(2 * room):{how}} around it would have decided"
    return Decision(f"{number:{how}}", abs(number.value - centre) < margin, p_value, number.n, seen)


def ratio_below(within: float, of_it: int, between: float, of_them: int) -> Decision:
    """Whether one standard deviation is less than half of another, with the interval of their ratio by Fisher's F.

    Args:
        within: The variance of the mean score of a network over trainings, say.
        of_it: Its degrees of freedom.
        between: The variance over networks.
        of_them: Its degrees of freedom.
    """
    law, ratio = stats.f(of_it, of_them), float(np.sqrt(within / between))
    low, high = (ratio / float(np.sqrt(law.ppf(q))) for q in (1 - CHANCE / 2, CHANCE / 2))
    beyond, smallest = (2 * ratio) ** 2, float(np.sqrt(law.ppf(CHANCE / 2))) / 2
    p_value = min(1.0, 2 * float(min(law.cdf(beyond), law.sf(beyond))))
    shown, seen = f"{ratio:.2f} [{low:.2f}, {high:.2f}]", f"a ratio of {smallest:.2f} would have been seen"
    return Decision(shown, ratio < 0.5, p_value, of_them + 1, seen)


def rank(trend: Trend, sign: int = 1) -> Decision:
    """Whether a rank correlation over a few designs has a sign, by its permutation test."""
    seen = _correlation_seen(trend.points)
    return Decision(str(trend), sign * trend.correlation > 0, trend.p_value, trend.points, seen)


def rank_within(x: Sequence[float], y: Sequence[float], strata: Sequence[str]) -> Decision:
    """Whether the rank correlation of two numbers within strata is positive, by permuting within these.

    Four designs have 24 orders, so that they alone never have a p-value below 1/12; two such strata have 576.

    >>> rank_within([1, 2, 3, 4] * 2, [1, 2, 3, 4, 11, 12, 13, 14], ["digits"] * 4 + ["CIFAR-10"] * 4).shown
    '1.00 (p = 0.003)'
    """
    within = np.asarray(strata)
    ranks = pd.DataFrame({"x": x, "y": y}).groupby(within).rank()
    centred = ranks - ranks.groupby(within).transform("mean")
    one, other = centred["x"].to_numpy(), centred["y"].to_numpy()
    size = float(np.linalg.norm(one) * np.linalg.norm(other)) or np.inf
    test = permutation_test(other, lambda rows: rows @ one / size, strata=list(strata))
    shown, seen = f"{test.observed:.2f} ({p_value_text(test.two_sided)})", _smallest(test.permuted, CHANCE / 2)
    return Decision(shown, test.observed > 0, test.two_sided, len(ranks), seen)


def reached(test: PermutationTest, n: int) -> Decision:
    """Whether a statistic that can only be large, as an R2, is larger than chance makes it."""
    shown = f"{test.observed:.2f} ({p_value_text(test.p_value)})"
    return Decision(shown, True, test.p_value, n, _smallest(test.permuted, CHANCE))


def difference_of_groups(one: ArrayLike, other: ArrayLike, sign: int = 1) -> Decision:
    """Whether the means of two small groups differ in a direction, by all ways to divide their members in two."""
    test = stats.permutation_test(  # exact: seven networks and five can be divided in 792 ways
        (np.asarray(one), np.asarray(other)),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        random_state=np.random.default_rng(0),
    )
    shown, n = f"{test.statistic:.3f} ({p_value_text(test.pvalue)})", np.size(one) + np.size(other)
    seen = _smallest(sign * test.null_distribution, CHANCE / 2)
    return Decision(shown, sign * test.statistic > 0, float(test.pvalue), n, seen)


TOO_FEW = "so few decide nothing, whatever they are"


def _smallest(permuted: NDArray[np.float64], level: float) -> str:
    """The smallest value that less than this share of the permutations reaches, in words."""
    values = np.sort(permuted)
    rare = values[1 - np.searchsorted(values, values - ROUNDING) / len(values) < level]
    return f"{rare.min():.2f} would have been seen" if len(rare) else TOO_FEW


@cache
def _correlation_seen(points: int) -> str:
    if points < 2:
        return TOO_FEW
    ranks = np.arange(points) - (points - 1) / 2
    return _smallest(permutation_test(ranks, lambda rows: rows @ ranks / (ranks @ ranks)).permuted, CHANCE / 2)
