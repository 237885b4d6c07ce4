"""The ledger as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from affscore.analysis import cell
from affscore.papers.evidence import Evidence
from affscore.papers.ledger.correlations import Correlations
from affscore.papers.ledger.finding import (
    COMPUTED,
    DIFFERS,
    LOOKED_UP,
    MEASURED,
    NEEDS_DATA,
    REPRODUCED,
    VERDICTS,
    WAYS,
    Finding,
    Row,
    row_of,
)
from affscore.papers.ledger.offline import Accuracy, Activations, Text
from affscore.papers.ledger.printed import PrintedNumber, printed_numbers
from affscore.papers.ledger.spreads import Batches, Checkpoints, Deviations

__all__ = ["ALL", "COLUMNS", "KINDS", "Ledger", "ledger"]

COLUMNS = ("source", "item", "published", "way", "ours", "analogue", "difference", "verdict", "command")
"""The columns of the table, and of the file that the command writes."""

NO_MEASURE = f"{NEEDS_DATA} and a measure"

KINDS = (*VERDICTS, NO_MEASURE)
"""What is counted: the verdicts, and apart what no data alone would decide."""

ALL = "all"


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

        ``way`` says how ours was found, or has to be: one of measured, computed (from public metadata) and looked up,
        which is no experiment. ``ours`` is empty unless the same thing was measured: the same network, weights and
        data. ``analogue`` says what it is of. ``verdict`` begins with one of reproduced, differs and needs data; the
        reason stands in brackets. ``command`` is there where something can be measured that is not.
        """
        lines = [
            {
                "source": row.printed.source,
                "item": row.printed.item,
                "published": row.printed.text,
                "way": row.finding.way,
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
        """How many numbers have each verdict, by the way in which ours was found, or has to be, and by source.

        A year that was looked up says less than a score that was measured, so they are never added up. The rows are
        pairs of a way and a source, and :data:`ALL` for each way; the columns are :data:`KINDS` and ``numbers``.
        """
        rows = [(row.finding.way, row.printed.source, _kind(row)) for row in self.rows]
        rows += [(way, ALL, kind) for way, _, kind in rows]
        found = pd.DataFrame(rows, columns=["way", "source", "kind"])
        places = (
            found[["way", "source"]]
            .drop_duplicates()
            .sort_values("way", key=lambda ways: ways.map(WAYS.index), kind="stable")
        )
        counts = pd.crosstab([found["way"], found["source"]], found["kind"])
        counts = counts.reindex(index=pd.MultiIndex.from_frame(places), columns=list(KINDS), fill_value=0)
        return counts.assign(numbers=counts.sum(axis=1)).rename_axis(columns=None)

    def __str__(self) -> str:
        counts = self.counts.reset_index()
        counts = counts[counts["source"] == ALL].set_index("way")[[*KINDS, "numbers"]]
        words = {MEASURED: "measured here", COMPUTED: "computed from public metadata", LOOKED_UP: "looked up"}
        told = "; ".join(
            f"{said}: {cell(counts, way, REPRODUCED):.0f} {REPRODUCED}, {cell(counts, way, DIFFERS):.0f} {DIFFERS}"
            for way, said in words.items()
        )
        total = counts.sum()
        with_analogue = sum(bool(row.analogue_text) for row in self.rows)
        return (
            f"{total['numbers']} printed numbers; {told}; {NEEDS_DATA}: {total[NEEDS_DATA]}; {NO_MEASURE} that is not "
            f"here: {total[NO_MEASURE]}; {with_analogue} have an analogue"
        )


def _kind(row: Row) -> str:
    return NO_MEASURE if row.finding.no_measure else row.verdict


def ledger(evidence: Evidence) -> Ledger:
    """Hold every number that the papers print against what there is.

    Args:
        evidence: Finished signatures and the tables of the small networks.

    Returns:
        The ledger, with a verdict for every number.

    Source: all figures and tables of the papers that print numbers; they are in
        :func:`affscore.papers.printed_tables`.
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
        "poster_density_vs_absolute_deviation": _of_poster,
    }
    return Ledger(tuple(row_of(number, assessors[number.table](number)) for number in printed_numbers()))


def _of_poster(number: PrintedNumber) -> Finding:
    """Nothing: it is about another measure, of networks that were trained for it and are not published."""
    return Finding(
        command="# none: this version of affscore does not measure linear regions", no_measure="linear regions"
    )
