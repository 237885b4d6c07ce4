"""The papers' claims in words, each with the test that decides it on what there is."""

from __future__ import annotations

import pandas as pd

from affscore.papers.claims.accuracy import ACCURACY
from affscore.papers.claims.architectures import ARCHITECTURES
from affscore.papers.claims.claim import DOES_NOT_HOLD, HOLDS, UNDECIDED, Claim, Decision, Outcome
from affscore.papers.claims.decade import DECADE
from affscore.papers.claims.facts import Facts, facts_of
from affscore.papers.claims.functions import FUNCTIONS
from affscore.papers.claims.likeness import LIKENESS
from affscore.papers.claims.printed import PRINTED
from affscore.papers.claims.relations import RELATIONS
from affscore.papers.claims.residual import RESIDUAL
from affscore.papers.evidence import Evidence

__all__ = [
    "CLAIMS",
    "DOES_NOT_HOLD",
    "HOLDS",
    "MATERIAL",
    "UNDECIDED",
    "Claim",
    "Decision",
    "Facts",
    "Outcome",
    "claim_counts",
    "claim_table",
    "decide_claims",
    "facts_of",
]

CLAIMS: tuple[Claim, ...] = (
    *FUNCTIONS,
    *ARCHITECTURES,
    *RESIDUAL,
    *DECADE,
    *LIKENESS,
    *RELATIONS,
    *ACCURACY,
    *PRINTED,
)
"""All claims, those about functions first."""

MATERIAL = ("the papers' own material", "analogues")
"""What claims are tested on."""


def decide_claims(evidence: Evidence) -> list[Decision]:
    """Test every claim on each body of facts that has something to say of it.

    Args:
        evidence: What there is.

    Returns:
        For each claim a decision for each body of facts; one without an outcome where there is none.
    """
    facts = facts_of(evidence)
    decisions = []
    for claim in CLAIMS:
        decided = [Decision(claim, some, found) for some in facts if (found := claim.decide(some)) is not None]
        decisions += decided or [Decision(claim)]
    return decisions


def claim_table(decisions: list[Decision]) -> pd.DataFrame:
    """The decisions as a table.

    Args:
        decisions: What :func:`decide_claims` returns.

    Returns:
        A row for each decision: ``claim``, ``source``, ``test``, ``on`` (what it was tested on), ``scope`` (under which
        choices), ``networks`` (how many), ``analogue`` (whether that is something else than the papers looked at),
        ``verdict`` and ``found``, a sentence with the numbers.
    """
    return pd.DataFrame(
        [
            {
                "claim": one.claim.claim,
                "source": one.claim.source,
                "test": one.claim.test,
                "on": one.facts.about if one.facts else "",
                "scope": one.facts.scope if one.facts else "",
                "networks": one.outcome.networks if one.outcome else 0,
                "analogue": one.analogue,
                "verdict": one.verdict,
                "found": one.found,
            }
            for one in decisions
        ]
    )


def claim_counts(decisions: list[Decision]) -> pd.DataFrame:
    """How many decisions have each verdict, those on the papers' own material apart from analogues.

    Args:
        decisions: What :func:`decide_claims` returns.

    Returns:
        A row for each kind of material that was tested (:data:`MATERIAL`), a column for each verdict.
    """
    tested = [one for one in decisions if one.outcome is not None]
    counts = pd.crosstab(
        pd.Series([MATERIAL[one.analogue] for one in tested], dtype=object),
        pd.Series([one.verdict for one in tested], dtype=object),
    )
    counts = counts.reindex(index=list(MATERIAL), columns=[HOLDS, DOES_NOT_HOLD, UNDECIDED], fill_value=0)
    return counts.rename_axis(index=None, columns=None)
