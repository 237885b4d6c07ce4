"""The papers' claims in words, each with the test that decides it on what there is."""

from __future__ import annotations

import pandas as pd

from affscore.analysis.claims.architectures import ARCHITECTURES
from affscore.analysis.claims.claim import DOES_NOT_HOLD, HOLDS, UNDECIDED, Claim, Decision, Outcome
from affscore.analysis.claims.decade import DECADE
from affscore.analysis.claims.facts import Facts, facts_of
from affscore.analysis.claims.functions import FUNCTIONS
from affscore.analysis.claims.likeness import LIKENESS
from affscore.analysis.claims.printed import PRINTED
from affscore.analysis.claims.relations import RELATIONS
from affscore.analysis.claims.residual import RESIDUAL
from affscore.analysis.evidence import Evidence

__all__ = [
    "CLAIMS",
    "DOES_NOT_HOLD",
    "HOLDS",
    "UNDECIDED",
    "Claim",
    "Decision",
    "Facts",
    "Outcome",
    "claim_table",
    "decide_claims",
    "facts_of",
]

CLAIMS: tuple[Claim, ...] = (*FUNCTIONS, *ARCHITECTURES, *RESIDUAL, *DECADE, *LIKENESS, *RELATIONS, *PRINTED)
"""All claims, those about functions first."""


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
        outcomes = [(some, claim.decide(some)) for some in facts]
        decided = [Decision(claim, some.about, some.analogue, found) for some, found in outcomes if found is not None]
        decisions += decided or [Decision(claim, "", False, None)]
    return decisions


def claim_table(decisions: list[Decision]) -> pd.DataFrame:
    """The decisions as a table.

    Args:
        decisions: What :func:`decide_claims` returns.

    Returns:
        A row for each decision: ``claim``, ``source``, ``test``, ``on`` (what it was tested on), ``analogue`` (whether
        that is something else than the papers looked at), ``verdict`` and ``found``, a sentence with the numbers.
    """
    return pd.DataFrame(
        [
            {
                "claim": one.claim.claim,
                "source": one.claim.source,
                "test": one.claim.test,
                "on": one.on,
                "analogue": one.analogue,
                "verdict": one.verdict,
                "found": one.sentence,
            }
            for one in decisions
        ]
    )
