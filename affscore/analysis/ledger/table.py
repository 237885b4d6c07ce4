"""The ledger as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from affscore.analysis.evidence import Evidence
from affscore.analysis.ledger.correlations import Correlations
from affscore.analysis.ledger.finding import (
    COMPUTED,
    DIFFERS,
    LOOKED_UP,
    MEASURED,
    NEEDS_DATA,
    REPRODUCED,
    WAYS,
    Finding,
    Row,
    row_of,
)
from affscore.analysis.ledger.offline import Accuracy, Activations, Text, Years
from affscore.analysis.ledger.printed import PrintedNumber, printed_numbers
from affscore.analysis.ledger.spreads import Batches, Checkpoints, Deviations

__all__ = ["COLUMNS", "KINDS", "Ledger", "ledger"]

COLUMNS = ("source", "item", "published", "ours", "analogue", "difference", "verdict", "command")
"""The columns of the table, and of the file that the command writes."""


def _reproduced(way: str) -> str:
    return f"{REPRODUCED}, {way}"


NO_MEASURE = f"{NEEDS_DATA} and a measure"

KINDS = (*map(_reproduced, WAYS), DIFFERS, NEEDS_DATA, NO_MEASURE)
"""What is counted: the verdicts, of the reproduced numbers how ours were found, and what no data alone would decide."""


@dataclass(frozen=True)
class Ledger:
    """Every printed number with what there is beside it.

    Attributes:
        rows: A row for each number, in the order of the papers' tables.
    """

    rows: tuple[Row, ...]

    @property
    def table(self) -> pd.DataFrame:
        """A row for each number, with the columns :data:`COLUMNS`; ``published`` is text, as printed.

        ``ours`` is empty unless the same thing was measured: the same network, weights and data. ``analogue`` says what
        it is of. ``verdict`` begins with one of reproduced, differs and needs data; the reason stands in brackets.
        ``command`` is there where something can be measured that is not.
        """
        lines = [
            {
                "source": row.printed.source,
                "item": row.printed.item,
                "published": row.printed.text,
                "ours": row.ours,
                "analogue": row.analogue_text,
                "difference": row.difference,
                "verdict": row.verdict_text,
                "command": row.finding.command,
            }
            for row in self.rows
        ]
        return pd.DataFrame(lines, columns=list(COLUMNS)).astype({"ours": float, "difference": float})

    @property
    def counts(self) -> pd.DataFrame:
        """How many numbers have each verdict: a row for each source, and one for all.

        Those that are reproduced are counted by the way in which ours was found, as a year that was looked up says less
        than a score that was measured: the columns are :data:`KINDS` and ``numbers``.
        """
        found = pd.DataFrame(
            {"source": [row.printed.source for row in self.rows], "kind": [_kind(row) for row in self.rows]}
        )
        by_source = pd.crosstab(found["source"], found["kind"]).reindex(columns=list(KINDS), fill_value=0)
        by_source = by_source.loc[list(dict.fromkeys(found["source"]))]
        by_source.loc["all"] = by_source.sum()
        return by_source.assign(numbers=by_source.sum(axis=1)).rename_axis(None, axis=0).rename_axis(None, axis=1)

    def __str__(self) -> str:
        total = self.counts.loc["all"]
        words = {MEASURED: "measured by us", COMPUTED: "computed from public metadata", LOOKED_UP: "looked up"}
        told = ", ".join(f"{total[_reproduced(way)]} {said}" for way, said in words.items())
        with_analogue = sum(bool(row.analogue_text) for row in self.rows)
        return (
            f"{total['numbers']} printed numbers; reproduced: {told}; {DIFFERS}: {total[DIFFERS]}; "
            f"{NEEDS_DATA}: {total[NEEDS_DATA]}; {NO_MEASURE} that is not here: {total[NO_MEASURE]}; "
            f"{with_analogue} have an analogue"
        )


def _kind(row: Row) -> str:
    if row.finding.no_measure:
        return NO_MEASURE
    return _reproduced(row.finding.way) if row.verdict == REPRODUCED else row.verdict


def ledger(evidence: Evidence) -> Ledger:
    """Hold every number that the papers print against what there is.

    Args:
        evidence: Finished signatures and the tables of the small networks.

    Returns:
        The ledger, with a verdict for every number.

    Source: all figures and tables of the papers that print numbers; they are in
        :func:`affscore.analysis.printed_tables`.
    """
    correlations = Correlations(evidence)
    assessors: dict[str, Callable[[PrintedNumber], Finding]] = {
        "figure4_r2": Accuracy(evidence),
        "figure7_activation_scores": Activations(evidence),
        "figures10_13_batch_std": Batches(evidence),
        "figure15_deviation": Deviations(evidence),
        "numbers_in_text": Text(evidence),
        "table1_family_correlations": correlations,
        "table2_correlations": correlations,
        "table2_average": correlations,
        "table3_resnet50_robustness": Checkpoints(evidence),
        "study_networks": Years(evidence),
        "poster_density_vs_absolute_deviation": _of_poster,
    }
    return Ledger(tuple(row_of(number, assessors[number.table](number)) for number in printed_numbers()))


def _of_poster(number: PrintedNumber) -> Finding:
    """Nothing: it is about another measure, of networks that were trained for it and are not published."""
    return Finding(
        command="# none: this version of affscore does not measure linear regions", no_measure="linear regions"
    )
