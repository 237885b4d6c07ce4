"""In how many specifications a claim holds, and which choice turns its verdict round."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import pandas as pd

from affscore.options import Specification
from affscore.papers.claim import DOES_NOT_HOLD, HOLDS, UNDECIDED, Claim, Verdict
from affscore.papers.protocol import PAPERS_CHOICE, PUBLISHED_CODE
from affscore.papers.results import Results

COLUMNS = ("claim", "on", *Specification._fields, "verdict", "networks", "found")
"""The columns of a table of claims by specification."""

_SHIPPED = Path(__file__).with_name("claims_by_specification.csv")
_CHOICES = [names for count in range(1, 6) for names in combinations(Specification._fields, count)]
_OPPOSITE = {HOLDS: DOES_NOT_HOLD, DOES_NOT_HOLD: HOLDS}


@dataclass(frozen=True)
class Robustness:
    """The verdicts of a claim under the specifications that are as defensible as the papers' own, counted.

    These are the mean and a sampled position, both orders, covariances and couplings: 12. The axes over which the
    published code averages where channels come last are counted apart, since no text defends them.

    Attributes:
        holds: In how many the claim holds.
        fails: In how many it does not hold.
        undecided: In how many it cannot be decided.
        turned_by: The fewest choices that turn the papers' verdict round, all sets of this size: the opposite verdict
            is found where these alone are changed. Nothing where no specification turns it round, as where it is not
            decided under the papers' choice. From decided to undecided is no turn.
        turned_apart: How many specifications with the axes of the published code turn it round and would not with
            the mean.

    >>> found = Robustness(9, 1, 2, (("order",),))
    >>> str(found), found.depends_on
    ('holds in 9 of 12, fails in 1, cannot be decided in 2', 'the order')
    """

    holds: int = 0
    fails: int = 0
    undecided: int = 0
    turned_by: tuple[tuple[str, ...], ...] = ()
    turned_apart: int = 0

    @property
    def specifications(self) -> int:
        """In how many the claim was tested."""
        return self.holds + self.fails + self.undecided

    @property
    def depends_on(self) -> str:
        """The choices that turn the verdict round, in words; empty where none does.

        >>> Robustness(turned_by=(("reduction",), ("order",))).depends_on
        'the reduction or the order'
        >>> Robustness(turned_by=(("order", "coupling"),)).depends_on
        'the order and coupling together'
        """
        together = (" and ".join(names) + " together" * (len(names) > 1) for names in self.turned_by)
        return " or ".join(f"the {names}" for names in together)

    def __str__(self) -> str:
        counts = {"holds in": self.holds, "fails in": self.fails, "cannot be decided in": self.undecided}
        (first, most), *others = [(words, count) for words, count in counts.items() if count] or [("tested in", 0)]
        parts = [f"{first} {most} of {self.specifications}", *(f"{words} {count}" for words, count in others)]
        apart = f"; turned round in {self.turned_apart} more by the axes of the published code"
        return ", ".join(parts) + (apart if self.turned_apart else "")


def robustness(table: pd.DataFrame, claim: Claim, results: Results, verdict: Verdict) -> Robustness | None:
    """How a verdict fares under the other specifications.

    Only what was decided on as many networks counts, so that nothing but the specification differs.

    Args:
        table: As of :func:`affscore.papers.specifications.claims_by_specification`.
        claim: The claim.
        results: What the verdict is about.
        verdict: That under the papers' own choice.

    Returns:
        The counts; None where the claim was not asked again of these results: no other specification is in the table,
        or under the papers' own choice it has another verdict (it is then of other results).
    """
    rows = table[(table["claim"] == claim.name) & (table["on"] == results.about)]
    rows = rows[rows["networks"] == verdict.networks]
    choices = rows[list(Specification._fields)].itertuples(index=False, name=None)
    words = dict(zip(map(Specification._make, choices), rows["verdict"], strict=True))
    own = PAPERS_CHOICE if results.analogue else PUBLISHED_CODE
    defensible = {one: word for one, word in words.items() if one.reduction != PUBLISHED_CODE.reduction}
    if words.get(own) != verdict.word or not defensible.keys() - {own}:
        return None
    opposite = _OPPOSITE.get(verdict.word)
    turned = {one for one, word in words.items() if word == opposite}
    turning = [one.differences(own) for one in defensible if one in turned]
    fewest = min(map(len, turning), default=0)
    counts = Counter(defensible.values())
    return Robustness(
        counts[HOLDS],
        counts[DOES_NOT_HOLD],
        counts[UNDECIDED],
        tuple(names for names in _CHOICES if names in turning and len(names) == fewest),
        sum(one not in defensible and one._replace(reduction="mean") not in turned for one in turned),
    )


@cache
def shipped_claims() -> pd.DataFrame:
    """The claims by specification of the results that come with the package; no rows where it comes without.

    ``affscore ledger --specifications affscore/papers/claims_by_specification.csv`` computes them anew, which takes
    minutes.
    """
    if not _SHIPPED.is_file():
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.read_csv(_SHIPPED, keep_default_na=False)
