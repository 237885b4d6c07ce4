"""A claim of the papers in words, the test that decides it, and what the test found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from affscore.papers.claims.facts import Facts

__all__ = ["DOES_NOT_HOLD", "HOLDS", "UNDECIDED", "Claim", "Decision", "Outcome"]

HOLDS = "holds"
DOES_NOT_HOLD = "does not hold"
UNDECIDED = "cannot be decided"


@dataclass(frozen=True)
class Outcome:
    """What a test found.

    Attributes:
        holds: Whether the claim holds on the facts that were looked at; None where these facts are compatible with
            both: an interval that contains the limit, a test that rejects nothing.
        found: A sentence with the numbers that decided.
        networks: How many networks they are of.
    """

    holds: bool | None
    found: str
    networks: int = 0


@dataclass(frozen=True)
class Claim:
    """Something that the papers say in words.

    Attributes:
        name: A short name.
        source: Where it stands.
        claim: What it says, in our words.
        test: When we call it true, in one sentence.
        decide: The test: an outcome, or None where the facts have nothing to say of it.
        needs: What it takes to decide it, for the reader of an undecided one.
    """

    name: str
    source: str
    claim: str
    test: str
    decide: Callable[[Facts], Outcome | None]
    needs: str


@dataclass(frozen=True)
class Decision:
    """What became of a claim on some facts.

    Attributes:
        claim: The claim.
        facts: What it was tested on; None where nothing was there.
        outcome: What was found; None where nothing was there.
    """

    claim: Claim
    facts: Facts | None = None
    outcome: Outcome | None = None

    @property
    def verdict(self) -> str:
        """One of "holds", "does not hold" and "cannot be decided"."""
        if self.outcome is None or self.outcome.holds is None:
            return UNDECIDED
        return HOLDS if self.outcome.holds else DOES_NOT_HOLD

    @property
    def analogue(self) -> bool:
        """Whether it was tested on something else than the papers looked at."""
        return self.facts is not None and self.facts.analogue

    @property
    def found(self) -> str:
        """What was found, with its numbers; of a claim that was not tested what it takes."""
        return f"It takes {self.claim.needs}." if self.outcome is None else self.outcome.found
