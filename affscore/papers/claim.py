"""A claim of the papers in words, with the test that decides it, and the verdict of that test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from affscore.papers.results import MissingResultsError, Results

__all__ = [
    "DOES_NOT_HOLD",
    "HOLDS",
    "ON_IMAGENET",
    "STUDY_ON_IMAGENET",
    "UNDECIDED",
    "Claim",
    "ClaimRow",
    "Verdict",
    "claim",
]

HOLDS = "holds"
DOES_NOT_HOLD = "does not hold"
UNDECIDED = "cannot be decided"

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
    """

    holds: bool | None
    found: str
    networks: int = 0

    @property
    def word(self) -> str:
        """One of "holds", "does not hold" and "cannot be decided".

        >>> Verdict(None, "The interval contains zero.").word
        'cannot be decided'
        """
        return UNDECIDED if self.holds is None else HOLDS if self.holds else DOES_NOT_HOLD


@dataclass(frozen=True)
class Claim:
    """Something that the papers say in words.

    Attributes:
        number: Its place on the page; a new claim takes the next number.
        source: Where it stands.
        needs: What it takes to decide it, for the reader of an undecided one.
        test_on: The test: it gives a verdict, or raises :class:`~affscore.papers.results.MissingResultsError`. Its
            docstring is what the claim says, in our words, and after "Test:" when we call it true.
    """

    number: int
    source: str
    needs: str
    test_on: Callable[[Results], Verdict]

    def decide(self, results: Results) -> Verdict | None:
        """The verdict on some results; None where these have nothing to say of the claim.

        Args:
            results: Of one kind.
        """
        try:
            return self.test_on(results)
        except MissingResultsError:
            return None

    @property
    def name(self) -> str:
        """A short name: that of the test."""
        return self.test_on.__name__.replace("_", "-")

    @property
    def text(self) -> str:
        """What the papers say, in our words."""
        return self._words.partition(" Test: ")[0]

    @property
    def test(self) -> str:
        """When we call it true, in one sentence."""
        return self._words.partition(" Test: ")[2]

    @property
    def _words(self) -> str:
        return " ".join((self.test_on.__doc__ or "").split())


def claim(number: int, source: str, needs: str) -> Callable[[Callable[[Results], Verdict]], Claim]:
    """Make a claim of its test; the ledger finds the claims of every module of a paper.

    Args:
        number: As of :class:`Claim`.
        source: The same.
        needs: The same.

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
    return lambda test_on: Claim(number, source, needs, test_on)


@dataclass(frozen=True)
class ClaimRow:
    """A claim with its verdict on some results.

    Attributes:
        claim: The claim.
        results: What it was tested on; None where there was nothing.
        verdict: What the test says; of a claim that was not tested, what it takes.
    """

    claim: Claim
    results: Results | None
    verdict: Verdict

    @property
    def analogue(self) -> bool:
        """Whether it was tested on something else than the papers looked at."""
        return self.results is not None and self.results.analogue
