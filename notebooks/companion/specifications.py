"""The claims asked again under each specification that was measured: in how many a verdict stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from affscore.network.multiverse import Multiverse
from affscore.network.result import Signature
from affscore.options import Specification
from affscore.survey import stored_multiverses
from companion.all_results import PAPERS_CHOICE, AllResults, choices_of
from companion.claims import DOES_NOT_HOLD, HOLDS, UNDECIDED, Claim, Verdict, all_claims
from companion.results import ANALOGUES, Results
from companion.shipped import MULTIVERSES

_AVERAGES = (("mean", "activate-first"), ("mean", "reduce-first"), ("sample", "activate-first"))  # sample has one order

SPECIFICATIONS = tuple(
    Specification(*average, *estimate)
    for average, estimate in product(_AVERAGES, product(("ledoit-wolf", "empirical"), ("exact", "paired")))
)
"""Those that are as defensible as the papers' own, which comes first. (No text defends the published axes.)"""

_INDEX = ["claim", "on", "n"]

SHIPPED = Path(__file__).parent / "data" / "claims_by_specification.csv"
"""The claims by specification of what comes with the package."""

_OPPOSITE = {HOLDS: DOES_NOT_HOLD, DOES_NOT_HOLD: HOLDS}


def name_of(specification: Specification) -> str:
    """The column of a specification.

    >>> name_of(Specification(coupling="paired"))
    'mean activate-first ledoit-wolf paired'
    """
    return " ".join(specification[:4])


def claims_by_specification(
    multiverses: Iterable[Multiverse],
    signatures: Sequence[Signature] = (),
    claims: Sequence[Claim] | None = None,
    studies: Mapping[str, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Decide every claim about signatures under each specification, on each kind of results that has it.

    Kinds of results are those of :attr:`AllResults.of_signatures`. Claims about something else (activation functions,
    printed tables, repeated trainings, and criteria, which multiverses do not have) are not asked again: they have no
    rows, or a single specification.

    Args:
        multiverses: Of as many networks as there are.
        signatures: Others that were measured under one of the specifications; of two of the same network and
            specification the one of more images counts, then these.
        claims: Which; None for all.
        studies: As of :class:`~companion.all_results.AllResults`.

    Returns:
        A row for each claim and kind of results: ``claim`` (its name), ``on`` (what the results are about), ``n`` (how
        many units the verdicts are of), and a column for each of :data:`SPECIFICATIONS` (:func:`name_of`), with
        "holds", "does not hold" or "cannot be decided"; empty where it was not measured, or of other units than under
        the first, so that nothing but the specification differs.

    Source: multiverse analysis after Steegen et al. (2016).

    >>> claims_by_specification([]).columns.tolist()[2:4]
    ['n', 'mean activate-first ledoit-wolf exact']
    """
    multiverses, rows = list(multiverses), []
    for one in SPECIFICATIONS:
        there = AllResults([*_signatures(multiverses, one), *signatures], specification=one, studies=studies or {})
        for results, claim in product(there.of_signatures, all_claims() if claims is None else claims):
            of_scores = claim.of_scores and (results.signatures or results.tables)
            verdict = claim.decide(results) if of_scores else None
            if verdict is not None:
                rows.append((claim.name, results.about, verdict.n, name_of(one), verdict.word))
    table = pd.DataFrame(rows, columns=[*_INDEX, "specification", "verdict"])
    alike = table["n"] == table.groupby(["claim", "on"])["n"].transform("first")
    wide = table[alike].pivot_table("verdict", _INDEX, "specification", aggfunc="first", sort=False)
    wide = wide.reindex(columns=list(map(name_of, SPECIFICATIONS))).astype(object).fillna("")
    return wide.reset_index().rename_axis(columns=None)


def asked_again(table: pd.DataFrame, claim: Claim, results: Results, verdict: Verdict) -> Counter[str] | None:
    """The verdicts on a claim under the specifications, counted.

    Args:
        table: As of :func:`claims_by_specification`.
        claim: The claim.
        results: What the verdict is about.
        verdict: That under the papers' own choice.

    Returns:
        The counts; None where the claim was not asked again of these results: no other specification is in the table,
        or it is of other units, or under the papers' own choice it has another verdict (it is then of other results).
    """
    rows = table[(table["claim"] == claim.name) & (table["on"] == results.about) & (table["n"] == verdict.n)]
    words = {
        name: word for row in rows.to_dict("records") for name in map(name_of, SPECIFICATIONS) if (word := row[name])
    }
    own = words.get(name_of(PAPERS_CHOICE))
    same = results.material != ANALOGUES or own == verdict.word
    return Counter(words.values()) if same and len(words) > (own is not None) else None


def turned(verdict: Verdict, again: Counter[str] | None) -> bool:
    """Whether a specification finds the opposite of a verdict; from decided to undecided is no turn."""
    return again is not None and again[_OPPOSITE.get(verdict.word, "")] > 0


def in_words(again: Counter[str]) -> str:
    """In how many specifications a claim holds, fails, and cannot be decided.

    >>> in_words(Counter({"holds": 9, "does not hold": 1, "cannot be decided": 2}))
    'holds in 9 of 12, fails in 1, cannot be decided in 2'
    """
    counts = {"holds in": again[HOLDS], "fails in": again[DOES_NOT_HOLD], "cannot be decided in": again[UNDECIDED]}
    (first, most), *others = [(words, count) for words, count in counts.items() if count]
    return ", ".join([f"{first} {most} of {again.total()}", *(f"{words} {count}" for words, count in others)])


@cache
def shipped_claims() -> pd.DataFrame:
    """The claims by specification of the results that come with the package.

    ``python -m companion.ledger --specifications FILE.csv`` computes them anew, which takes minutes.
    """
    return pd.read_csv(SHIPPED, keep_default_na=False)


def gathered_multiverses(results: str | Path | None = None) -> list[Multiverse]:
    """The multiverses that come with the package, and those of a reader.

    Args:
        results: The folder of a store; None for the package's alone.

    Raises:
        AffscoreError: No such folder, or a file that is no result.
    """
    stores = [MULTIVERSES] if results is None else [MULTIVERSES, results]
    return [one for store in stores for one in stored_multiverses(store)]


def _signatures(multiverses: Iterable[Multiverse], specification: Specification) -> Iterator[Signature]:
    """Those of the multiverses that have it."""
    for one in multiverses:
        try:
            yield one.signature(**choices_of(specification, str(one.metadata["model"])))
        except AffscoreError:  # not measured under this one
            continue
