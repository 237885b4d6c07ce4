"""A claim of the papers in words, with the test that decides it, and the verdict of that test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from affscore.papers.estimate import MissingResultsError, every, undecided, undecided_together
from affscore.papers.evidence import measured
from affscore.papers.results import Results

if TYPE_CHECKING:
    from affscore.papers.robustness import Robustness

HOLDS, DOES_NOT_HOLD, UNDECIDED = "holds", "does not hold", "cannot be decided"
DEPENDS = "depends on a choice"
WORDS = (HOLDS, DOES_NOT_HOLD, UNDECIDED, DEPENDS)
"""The verdicts of rows, as they are counted; a row names the choice."""

NOT_ASKED_AGAIN = "not asked again"
"""Of signatures that were measured under the papers' own choice alone."""

STUDY_ON_IMAGENET = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"
ON_IMAGENET = "of torchvision on ImageNet (affscore survey --datasets imagenet:data/imagenet --store results)"
"""What many claims need."""


@dataclass(frozen=True)
class Verdict:
    """What the test of a claim says on some results.

    Attributes:
        holds: Whether the claim holds on these results; None where they are compatible with both: an interval that
            contains the limit, a test that rejects nothing.
        found: A sentence with the numbers that decided.
        networks: How many networks they are of.
        tested_on: What of the results was tested, where it is not the signatures of so many networks, or the
            statistics of their trainings (:mod:`affscore.papers.evidence`).
        why: Why an undecided claim is, where ``found`` does not show it.
    """

    holds: bool | None
    found: str
    networks: int = 0
    tested_on: str = ""
    why: str = ""

    @classmethod
    def of_parts(
        cls,
        parts: Mapping[str, bool | None],
        found: str,
        networks: int = 0,
        tested_on: str = "",
        *,
        together: bool = False,
    ) -> Verdict:
        """The verdict on a claim that holds if all of its parts do (:func:`affscore.papers.estimate.every`).

        Args:
            parts: What the test of each part says: by why the part would be open; if ``together``, by the number whose
                interval it is, where the intervals hold for all of them together.
            found: As above.
            networks: As above.
            tested_on: As above.
            together: As above.

        >>> Verdict.of_parts({"mean": True, "spread": None}, "", together=True).why
        'Undecided: 2 intervals must hold together, each at 97.5 %, and that of spread contains the limit.'
        """
        why = undecided_together(parts) if together else undecided(parts)
        return cls(every(parts.values()), found, networks, tested_on, why)

    @property
    def word(self) -> str:
        """One of "holds", "does not hold" and "cannot be decided".

        >>> Verdict(None, "The interval contains zero.").word
        'cannot be decided'
        """
        return {True: HOLDS, False: DOES_NOT_HOLD, None: UNDECIDED}[self.holds]


@dataclass(frozen=True)
class Claim:
    """Something that the papers say in words.

    Attributes:
        number: Its place on the page; a new claim takes the next number.
        source: Where it stands.
        needs: What it takes to decide it, for the reader of an undecided one.
        name: A short name: that of the test.
        text: What the papers say, in our words.
        test: When we call it true, in one sentence.
        test_on: The test: it gives a verdict, or raises :class:`~affscore.papers.estimate.MissingResultsError`.
        of_scores: Whether affinity scores decide it, which depend on how they are measured: it is asked again then.
    """

    number: int
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


def claim(
    number: int, source: str, needs: str, of_scores: bool = True
) -> Callable[[Callable[[Results], Verdict]], Claim]:
    """Make a claim of its test; the ledger finds the claims of every module of a paper.

    The docstring of the test is what the claim says, in our words, and after "Test:" when we call it true.

    Args:
        number: As of :class:`Claim`.
        source: The same.
        needs: The same.
        of_scores: The same.

    >>> @claim(99, "section 4", "nothing")
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
        return Claim(number, source, needs, test_on.__name__.replace("_", "-"), text, test, test_on, of_scores)

    return claim_of


class ClaimRow(NamedTuple):
    """A claim with its verdict on some results.

    Attributes:
        claim: The claim.
        results: What it was tested on; without a name where there was nothing.
        verdict: What the test says under the papers' own choice; of a claim that was not tested, what it takes.
        robustness: What it says under the other specifications; None where it was not asked again.
    """

    claim: Claim
    results: Results
    verdict: Verdict
    robustness: Robustness | None = None

    @property
    def tested_on(self) -> str:
        """What of the results decided: trainings, networks and batches; empty where nothing did."""
        if not self.results.about:
            return ""
        return self.verdict.tested_on or measured(self.results, self.verdict.networks)

    @property
    def scope(self) -> str:
        """What of the results decided, and under which choices it was measured."""
        choices = self.results.scope if self.claim.of_scores else ""
        return "; ".join(filter(None, (self.tested_on, choices)))

    @property
    def found(self) -> str:
        """The numbers that decided, and why they leave an undecided claim open."""
        return f"{self.verdict.found} {self.verdict.why}".strip()

    @property
    def counted_as(self) -> str:
        """One of :data:`WORDS`."""
        return DEPENDS if self.robustness is not None and self.robustness.turned_by else self.verdict.word

    @property
    def word(self) -> str:
        """The verdict, or "depends on ..." where another specification turns it round, with the choice."""
        if self.robustness is not None and self.robustness.turned_by:
            return f"depends on {self.robustness.depends_on}"
        return self.verdict.word

    @property
    def specifications(self) -> str:
        """In how many specifications the claim holds, in words; empty where there are none to choose from."""
        if self.robustness is not None:
            return str(self.robustness)
        if not self.claim.of_scores:
            return ""
        return NOT_ASKED_AGAIN if self.results.signatures or self.results.trainings is not None else ""
