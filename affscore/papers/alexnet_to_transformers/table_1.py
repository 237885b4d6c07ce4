"""Table 1: correlations of the score with other criteria, family by family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from affscore.analysis import CRITERIA_OF_TABLE_1, family_correlations
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.table_2 import CRITERIA, ROUNDED, over_networks, printed_correlations
from affscore.papers.claim import Verdict, claim
from affscore.papers.comparison import Row
from affscore.papers.estimate import require
from affscore.papers.groups import table_1_families
from affscore.papers.networks import study_models
from affscore.papers.printed import mean_and_deviation, printed_numbers, printed_table
from affscore.papers.results import Results

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

_SOURCE = f"{PAPER}, table 1"
_COLUMNS = {
    f"{criterion}_{what}": words
    for criterion, name in CRITERIA.items()
    for what, words in mean_and_deviation(_SOURCE, f"{{row}}: {{what}} of the correlation of score and {name}").items()
}


def table_1_again() -> pd.DataFrame:
    """Table 1, computed from the rows of table 2, beside what is printed.

    Both are rounded to two digits, so a mean may differ by 0.01. Table 1 has MNASNets, of which table 2 has no rows.

    Returns:
        A row for each family and criterion: ``networks`` (rows of table 2), ``mean``, ``std``, ``printed_mean``,
        ``printed_std`` and ``difference`` of the means (ours - printed); missing where table 2 has no rows.

    >>> table_1_again().loc[("DenseNets", "cka"), ["mean", "printed_mean"]].astype(float).round(2).tolist()
    [0.87, 0.88]
    """
    correlations = printed_correlations()
    found = family_correlations(correlations, table_1_families(correlations["model"].unique()))
    printed = printed_table("table1_family_correlations")
    order = pd.MultiIndex.from_product([printed.index, CRITERIA_OF_TABLE_1], names=["family", "criterion"])
    table = found.set_index(["family", "criterion"])[["networks", "mean", "std"]].reindex(order)
    table["networks"] = table["networks"].fillna(0).astype(int)
    for what in ("mean", "std"):
        table[f"printed_{what}"] = [printed.loc[family, f"{criterion}_{what}"] for family, criterion in order]
    return table.assign(difference=table["mean"] - table["printed_mean"])


def rows(results: AllResults) -> Iterator[Row]:
    """Mean and standard deviation of the correlations of each family; the last row is over all that the study has."""
    families = table_1_families(study_models(""))
    for number in printed_numbers("table1_family_correlations", _COLUMNS):
        names = [name for name, family in families.items() if number.row in (family, "Average")]
        criterion, _, what = number.column.rpartition("_")
        yield over_networks(results, number, names, criterion, what)


@claim(45, _SOURCE, "the printed numbers")
def table_1_sums_up_table_2(results: Results) -> Verdict:
    """Table 1 has the means and standard deviations of the rows of table 2, family by family.

    Test: Computed again from table 2 they agree up to rounding (MNASNets have no rows there and are left out).
    """
    require(results.printed)
    rows, printed = results.printed["table2_correlations"], results.printed["table1_family_correlations"]
    families = rows.groupby(pd.Series(table_1_families(rows.index)))
    again = families.mean().add_suffix("_mean").join(families.std(ddof=0).add_suffix("_std"))
    gaps = (again - printed).abs().dropna()
    apart = int((gaps > ROUNDED).to_numpy().sum())
    found = f"Of {gaps.size} numbers of table 1, computed again from table 2, {apart} differ by more than rounding."
    return Verdict(apart == 0, found, len(rows))
