"""A claim of the papers in words, the function that decides it, and the one rule by which numbers decide.

The rule: a two-sided p-value below 5 %, or a 95 % interval that excludes a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.chapters import of_chapters
from companion.permutation import ROUNDING, PermutationTest, Trend, p_value_text, permutation_test
from companion.results import Results
from companion.statistics import CHANCE, Estimate, MissingResultsError, require


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

    >>> from companion.statistics import mean_of
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

    >>> from companion.statistics import mean_of
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


PAPER = "From Alexnet to Transformers"

FIRST = "first version"
"""The paper's first version, which has its own sections and figures."""

HOLDS, DOES_NOT_HOLD, UNDECIDED = "holds", "does not hold", "cannot be decided"

DEPENDS = "depends on a choice"

WORDS = (HOLDS, DOES_NOT_HOLD, UNDECIDED, DEPENDS)
"""The verdicts of rows, as they are counted."""

STUDY_ON_IMAGENET = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

ON_IMAGENET = "of torchvision on ImageNet (affscore survey --datasets imagenet:data/imagenet --store results)"
"""What many claims need."""

COMPUTED_HERE = "nothing that is not computed here"
"""What claims on functions need."""


@dataclass(frozen=True)
class Verdict:
    """What the test of a claim says on some results.

    Attributes:
        holds: Whether the claim holds on these results; None where they are compatible with both.
        found: A sentence with the numbers that decided; of an undecided claim it ends with the smallest effects that
            would have been seen.
        n: How many independent units these are of.
        units: What these are.
    """

    holds: bool | None
    found: str
    n: int = 0
    units: str = "networks"

    @classmethod
    def all_of(cls, parts: Mapping[str, Decision], of: str = "", n: int = 0, units: str = "networks") -> Verdict:
        """The verdict on a claim that holds if all of its parts do (an intersection-union test).

        It holds where each part is decided at 5 %. It does not where a part is decided the other way round: some part
        of several may be so by chance, so each at 5 % over their number (Bonferroni).

        Args:
            parts: What the test of each part says, by its name.
            of: What all parts are of.
            n: How many units; unless given the most that a part has.
            units: What these are.

        >>> mean, spread = Decision("0.9", True, 0.04, 5), Decision("0.1", True, 0.2, 5, "0.2 would have been seen")
        >>> Verdict.all_of({"mean": mean, "spread": spread}).found
        'mean 0.9, spread 0.1. Undecided: spread (0.2 would have been seen).'
        """
        require(parts)
        strict = CHANCE / len(parts)
        fails = any(part.at(strict) is False for part in parts.values())
        holds = False if fails else True if all(part.at() for part in parts.values()) else None
        found = (of and f"{of}: ") + ", ".join(f"{name} {part.shown}" for name, part in parts.items()) + "."
        if holds is None:
            wrong = f"the other way round at 5 %, and not at {100 * strict:.2g} %"
            why = {name: part.seen if part.at() is None else wrong for name, part in parts.items() if not part.at()}
            found += f" Undecided: {'; '.join(f'{name} ({words})' if words else name for name, words in why.items())}."
        return cls(holds, found, n or max(part.n for part in parts.values()), units)

    @property
    def word(self) -> str:
        """One of "holds", "does not hold" and "cannot be decided"."""
        return {True: HOLDS, False: DOES_NOT_HOLD, None: UNDECIDED}[self.holds]


@dataclass(frozen=True)
class Claim:
    """Something that the papers say in words.

    Attributes:
        source: Where it stands.
        needs: What it takes to decide it, for the reader of an undecided one.
        name: A short name: that of the test.
        text: What the papers say, in our words.
        test: When we call it true, in one sentence; empty where nothing tests it yet.
        test_on: The test: it gives a verdict, or raises :class:`~companion.statistics.MissingResultsError`.
        of_scores: Whether affinity scores decide it, which depend on how they are measured: it is asked again then.
    """

    source: str
    needs: str
    name: str
    text: str
    test: str
    test_on: Callable[[Results], Verdict]
    of_scores: bool = True

    def decide(self, results: Results) -> Verdict | None:
        """The verdict on some results; None where these have nothing to say of the claim.

        Args:
            results: Of one kind.
        """
        try:
            return self.test_on(results)
        except MissingResultsError:
            return None


def claim(source: str, needs: str, of_scores: bool = True) -> Callable[[Callable[[Results], Verdict]], Claim]:
    """Make a claim of its test; the ledger finds those of every chapter.

    The docstring of the test is what the claim says, in our words, and after "Test:" when we call it true.

    As for :class:`Claim`: source, needs, of_scores.

    >>> @claim("section 4", "nothing")
    ... def all_is_well(results: Results) -> Verdict:
    ...     '''All is well.
    ...
    ...     Test: It is.
    ...     '''
    ...     return Verdict(True, "It is.")
    >>> all_is_well.name, all_is_well.text, all_is_well.test, all_is_well.decide(Results("nothing")).holds
    ('all-is-well', 'All is well.', 'It is.', True)
    """

    def claim_of(test_on: Callable[[Results], Verdict]) -> Claim:
        text, _, test = " ".join((test_on.__doc__ or "").split()).partition(" Test: ")
        if not test:
            raise ValueError(f"the docstring of {test_on.__name__} must say when the claim holds, after 'Test:'")
        return Claim(source, needs, test_on.__name__.replace("_", "-"), text, test, test_on, of_scores)

    return claim_of


@cache
def all_claims() -> tuple[Claim, ...]:
    """The claims of all papers, section by section; last the statements that nothing tests yet (``untested.csv``)."""

    def nothing(results: Results) -> Verdict:
        raise MissingResultsError

    found = (one for module in of_chapters("claims") for one in vars(module).values() if isinstance(one, Claim))
    table = pd.read_csv(Path(__file__).parent / "data" / "untested.csv").itertuples(index=False)
    untested = (Claim(source, needs, name, text, "", nothing, False) for source, name, text, needs in table)
    return (*dict.fromkeys(found), *untested)
