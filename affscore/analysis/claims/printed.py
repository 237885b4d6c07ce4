"""What the papers' own tables say of each other, decided on the printed numbers alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from affscore.analysis.cells import cell
from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts
from affscore.analysis.groups import table_1_families
from affscore.analysis.redundancy import CRITERIA_OF_TABLE_1

__all__ = ["PRINTED"]

PAPER = "From Alexnet to Transformers"

ROUNDED = 0.0101
"""Two numbers of two decimals that are computed from rounded ones may differ by so much."""


def _steadiest(facts: Facts) -> Outcome | None:
    if not facts.printed:
        return None
    stds = facts.printed["table3_resnet50_robustness"]["std"]
    others = stds.drop(index="affinity_score")
    numbers = {"score": float(stds["affinity_score"]), "next": float(others.min())}
    holds = numbers["score"] < numbers["next"]
    ends = "the smallest of all" if holds else "not the smallest of all"
    words = (
        f"over the checkpoints of table 3 the standard deviation of the score is {{score:.2f}}, {ends}; of the others "
    )
    return Outcome(holds, f"{words}{others.idxmin()} has the smallest, {{next:.2f}}", numbers)


def _table_1(facts: Facts) -> Outcome | None:
    if not facts.printed or facts.correlations is None:
        return None
    rows, families = facts.correlations, facts.printed["table1_family_correlations"]
    apart = cells = 0
    for family, members in rows.groupby(pd.Series(table_1_families(rows.index))):
        if family not in families.index:
            continue
        for criterion in CRITERIA_OF_TABLE_1:
            again = members[criterion].mean(), members[criterion].std(ddof=0)
            printed = [cell(families, str(family), f"{criterion}_{what}") for what in ("mean", "std")]
            apart += int((np.abs(np.subtract(again, printed)) > ROUNDED).sum())
            cells += 2
    numbers = {"cells": cells, "apart": apart}
    ends = "all agree" if apart == 0 else "not all agree"
    words = (
        "of {cells} means and standard deviations of table 1, computed again from table 2, {apart} differ by more than "
    )
    return Outcome(apart == 0, f"{words}rounding: {ends}", numbers)


def _average_of_table_2(facts: Facts) -> Outcome | None:
    if not facts.printed or facts.correlations is None:
        return None
    again, printed = facts.correlations.mean(), facts.printed["table2_average"]["mean"]
    gaps = (again - printed).abs()
    worst = str(gaps.idxmax())
    numbers = {"again": float(again[worst]), "printed": float(printed[worst]), "apart": int((gaps > ROUNDED).sum())}
    holds = numbers["apart"] == 0
    ends = "all five agree" if holds else "they do not all agree"
    words = f"{{apart}} of the five averages differ by more than rounding, {ends}; most apart is {worst}: "
    return Outcome(holds, f"{words}{{printed:.2f}} is printed, the rows have {{again:.2f}}", numbers)


PRINTED = (
    Claim(
        "steadiest-criterion",
        f"{PAPER}, appendix I and table 3",
        "Over differently trained networks of one architecture the score varies less than all other criteria.",
        "Its printed standard deviation is the smallest (the criteria have different units, which the test ignores).",
        _steadiest,
        "the printed numbers",
    ),
    Claim(
        "table-1-sums-up-table-2",
        f"{PAPER}, table 1",
        "Table 1 has the means and standard deviations of the rows of table 2, family by family.",
        "Computed again from table 2 they agree up to rounding (MNASNets have no rows there and are left out).",
        _table_1,
        "the printed numbers",
    ),
    Claim(
        "average-of-table-2",
        f"{PAPER}, table 2",
        "The last row of table 2 is the average of the rows above it.",
        "Computed again the five averages agree up to rounding.",
        _average_of_table_2,
        "the printed numbers",
    ),
)
"""Claims that the printed tables decide."""
