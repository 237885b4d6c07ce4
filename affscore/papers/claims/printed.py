"""What the papers' own tables say of each other, decided on the printed numbers alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from affscore.analysis import CRITERIA_OF_TABLE_1, cell
from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import Estimate, every
from affscore.papers.claims.facts import Facts
from affscore.papers.groups import table_1_families

__all__ = ["PRINTED"]

PAPER = "From Alexnet to Transformers"

ROUNDED = 0.0101
"""Two numbers of two decimals that are computed from rounded ones may differ by so much."""


def _steadiest(facts: Facts) -> Outcome | None:
    if not facts.printed:
        return None
    table, count = facts.printed["table3_resnet50_robustness"], len(facts.printed["figure16_checkpoints"])
    spreads = {str(name): cell(table, str(name), "std") / cell(table, str(name), "mean") for name in table.index}
    # of the logarithm of a coefficient of variation of normal numbers (the criteria are taken for independent)
    estimates = {
        name: Estimate(float(np.log(spread)), float(np.sqrt((0.5 + spread**2) / (count - 1))), count - 1)
        for name, spread in spreads.items()
    }
    score = estimates.pop("affinity_score")
    holds = every((score - other).below(together=len(estimates)) for other in estimates.values())
    told = ", ".join(f"{name.replace('_', ' ')} {spread:.3f}" for name, spread in spreads.items())
    return Outcome(holds, f"Coefficients of variation over {count} checkpoints: {told}.", count)


def _table_1(facts: Facts) -> Outcome | None:
    if not facts.printed:
        return None
    rows, families = facts.printed["table2_correlations"], facts.printed["table1_family_correlations"]
    apart = cells = 0
    for family, members in rows.groupby(pd.Series(table_1_families(rows.index))):
        if family not in families.index:
            continue
        for criterion in CRITERIA_OF_TABLE_1:
            again = members[criterion].mean(), members[criterion].std(ddof=0)
            printed = [cell(families, str(family), f"{criterion}_{what}") for what in ("mean", "std")]
            apart += int((np.abs(np.subtract(again, printed)) > ROUNDED).sum())
            cells += 2
    found = f"Of {cells} numbers of table 1, computed again from table 2, {apart} differ by more than rounding."
    return Outcome(apart == 0, found, len(rows))


def _average_of_table_2(facts: Facts) -> Outcome | None:
    if not facts.printed:
        return None
    rows = facts.printed["table2_correlations"]
    again, printed = rows.mean(), facts.printed["table2_average"]["mean"]
    gaps = (again - printed).abs()
    worst, apart = str(gaps.idxmax()), int((gaps > ROUNDED).sum())
    found = (
        f"{apart} of the five averages differ by more than rounding; most apart is {worst}: {printed[worst]:.2f} is "
        f"printed, the rows have {again[worst]:.2f}."
    )
    return Outcome(apart == 0, found, len(rows))


PRINTED = (
    Claim(
        "steadiest-criterion",
        f"{PAPER}, appendix I and table 3",
        "Over differently trained networks of one architecture the score varies less than all other criteria.",
        "Its coefficient of variation (standard deviation over mean, since units differ) is the smallest, with "
        "intervals for so many checkpoints.",
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
