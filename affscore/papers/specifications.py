"""The claims asked again: their verdicts under each specification that was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from affscore.network.criteria import SCHEMA
from affscore.network.multiverse_result import Multiverse
from affscore.network.result import Signature
from affscore.options import Specification
from affscore.papers.all_results import AllResults
from affscore.papers.claim import Claim
from affscore.papers.ledger import all_claims
from affscore.papers.protocol import options_of
from affscore.papers.robustness import COLUMNS
from affscore.survey import stored_multiverses

_AVERAGES = (("mean", "activate-first"), ("mean", "reduce-first"), ("sample", "activate-first"))  # sample has one order
_AXES_OF_THE_CODE = (("published", "activate-first"), ("published", "reduce-first"))
_ESTIMATES = tuple(product(("ledoit-wolf", "empirical"), ("exact", "paired")))

SPECIFICATIONS = tuple(
    Specification(*average, *estimate) for average, estimate in product((*_AVERAGES, *_AXES_OF_THE_CODE), _ESTIMATES)
)
"""All that are asked for: the 12 that are as defensible as the papers' own, which comes first, and 8 counted apart."""


def claims_by_specification(
    multiverses: Iterable[Multiverse],
    signatures: Sequence[Signature] = (),
    claims: Sequence[Claim] | None = None,
    studies: Mapping[str, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Decide every claim about signatures under each specification, on each kind of results that has it.

    Kinds of results are those of :attr:`AllResults.of_signatures`. Claims about something else (activation functions,
    printed tables, repeated trainings) are not asked again: they have no rows. Multiverses have no criteria, which
    depend on neither covariance nor coupling: they have those of a signature of the same network, samples, reduction
    and order, where there is one. Under the reduction ``published`` networks whose channels come second have their
    mean.

    Args:
        multiverses: Of as many networks as there are.
        signatures: Others that were measured under one of the specifications; of two of the same network and
            specification the one of more images counts, then these.
        claims: Which; None for all.
        studies: As of :class:`~affscore.papers.all_results.AllResults`.

    Returns:
        A row for each claim, kind of results and specification: ``claim`` (its name), ``on`` (what the results are
        about), ``reduction``, ``order``, ``covariance``, ``coupling``, ``verdict`` ("holds", "does not hold" or
        "cannot be decided"), ``networks`` (how many) and ``found``, a sentence with the numbers.

    Source: multiverse analysis after Steegen et al. (2016).

    >>> claims_by_specification([]).columns.tolist()[2:6]
    ['reduction', 'order', 'covariance', 'coupling']
    """
    multiverses, rows = list(multiverses), []
    criteria = {_measured(one): one.table for one in signatures if one.metadata["criteria"]}
    for one in SPECIFICATIONS:
        again = [_with_criteria(found, criteria) for found in _signatures(multiverses, one)]
        there = AllResults([*again, *signatures], specification=one, studies=studies or {})
        for results, claim in product(there.of_signatures, all_claims() if claims is None else claims):
            of_scores = claim.of_scores and (results.signatures or results.studies)
            verdict = claim.decide(results) if of_scores else None
            if verdict is not None:
                rows.append((claim.name, results.about, *one, verdict.word, verdict.networks, verdict.found))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def gathered_multiverses(results: str | Path | None = None) -> list[Multiverse]:
    """The multiverses that come with the package, and those of a reader.

    Args:
        results: The folder of a store; None for the package's alone.

    Raises:
        AffscoreError: No such folder, or a file that is no result.
    """
    return [one for store in dict.fromkeys((None, results)) for one in stored_multiverses(store, required=False)]


def _signatures(multiverses: Iterable[Multiverse], specification: Specification) -> Iterator[Signature]:
    """Those of the multiverses that have it."""
    for one in multiverses:
        try:
            yield one.signature(**options_of(specification, str(one.metadata["model"])))
        except AffscoreError:  # not measured under this one
            continue


def _measured(one: Signature) -> tuple[str, ...]:
    """What the criteria of a signature depend on."""
    names = ("fingerprint_weights", "dataset", "images", "seed", "n", "reduction", "order")
    return tuple(str(one.metadata[name]) for name in names)


def _with_criteria(one: Signature, criteria: Mapping[tuple[str, ...], pd.DataFrame]) -> Signature:
    """The same signature with the criteria of these tables, if one of them is of the same reduced samples."""
    table = criteria.get(_measured(one))
    if table is None:
        return one
    columns = [column.name for column in SCHEMA if column.name in table and column.name not in one.table]
    joined = one.table.merge(table[["batch", "index", *columns]], on=["batch", "index"], how="left", validate="1:1")
    return replace(one, table=joined)
