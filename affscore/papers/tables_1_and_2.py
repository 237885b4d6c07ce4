"""Tables 1 and 2 of the paper, held against each other, and with the intervals that they lack."""

from __future__ import annotations

import numpy as np
import pandas as pd

from affscore.analysis import CRITERIA_OF_TABLE_1, family_correlations, fisher_interval
from affscore.papers.groups import table_1_families
from affscore.papers.reference import printed_table
from affscore.zoo.characteristics import characteristics

__all__ = ["printed_correlations", "table_1_again"]


def printed_correlations(level: float = 0.95) -> pd.DataFrame:
    """Table 2 in the form of :func:`affscore.analysis.criterion_correlations`, with Fisher's intervals.

    The paper has no intervals. The number of activations is what the recorder counts in torchvision's network of that
    name; what the paper counted is not printed.

    Args:
        level: Of the intervals, in (0, 1).

    >>> table = printed_correlations().set_index(["model", "criterion"])
    >>> table.loc[("resnet18", "cka"), ["activations", "correlation", "low", "high"]].astype(float).round(2).tolist()
    [17.0, 0.59, 0.15, 0.83]
    """
    printed = printed_table("table2_correlations")
    counts = characteristics(printed.index)["activations"].astype(int)
    rows = []
    for model, correlations in printed.iterrows():
        for criterion in CRITERIA_OF_TABLE_1:
            r = float(correlations[criterion])
            low, high = fisher_interval(r, int(counts[str(model)]), level)
            rows.append(
                {
                    "model": model,
                    "criterion": criterion,
                    "activations": int(counts[str(model)]),
                    "correlation": r,
                    "low": low,
                    "high": high,
                    "note": "",
                }
            )
    return pd.DataFrame(rows)


def table_1_again() -> pd.DataFrame:
    """Table 1, computed from the rows of table 2, beside what is printed.

    Both are rounded to two digits, so a mean may differ by 0.01. Table 1 has MNASNets, of which table 2 has no rows.

    Returns:
        A row for each family and criterion: ``networks`` (rows of table 2), ``mean``, ``std``, ``printed_mean``,
        ``printed_std`` and ``difference`` of the means (ours - printed); missing where table 2 has no rows.

    >>> table_1_again().loc[("DenseNets", "cka"), ["mean", "printed_mean"]].astype(float).round(3).tolist()
    [0.868, 0.88]
    """
    correlations = printed_correlations()
    found = family_correlations(correlations, table_1_families(correlations["model"].unique()))
    found = found.set_index(["family", "criterion"])
    printed = printed_table("table1_family_correlations")
    rows = {}
    for family in printed.index:
        for criterion in CRITERIA_OF_TABLE_1:
            known = (family, criterion) in found.index
            ours = found.loc[(family, criterion)] if known else {"networks": 0, "mean": np.nan, "std": np.nan}
            stated = {f"printed_{which}": printed.loc[family, f"{criterion}_{which}"] for which in ("mean", "std")}
            rows[family, criterion] = {name: ours[name] for name in ("networks", "mean", "std")} | stated
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["family", "criterion"])
    return table.assign(difference=table["mean"] - table["printed_mean"])
