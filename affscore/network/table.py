"""The table of a signature, a row for every activation and batch, and its summary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from affscore.network.scoring import CRITERIA

__all__ = ["brief", "summary_of", "table_of"]

_ACTIVATION = ["layer", "call", "activation", "kind", "depth", "width"]


def table_of(rows: list[dict[str, Any]], shared: dict[str, str], choices: dict[str, str]) -> pd.DataFrame:
    """The table of a signature: a row for every activation and batch, columns in their order.

    Args:
        rows: What :func:`affscore.network.scoring.score_pair` returned, with ``batch``.
        shared: Columns that are the same in every row, and come first: model, weights, dataset.
        choices: Columns that say how it was measured: reduction, order, covariance.
    """
    table = pd.DataFrame(rows).assign(**shared, **choices)
    table["pairing_optimal"] = table["pairing_optimal"].astype("boolean")
    first = [*shared, "index", *_ACTIVATION, "batch", "n", *choices]
    return table[[*first, *(name for name in table.columns if name not in first)]]


def summary_of(table: pd.DataFrame) -> pd.DataFrame:
    """One row for every activation of such a table (see :attr:`affscore.Signature.summary`)."""
    criteria = [name for columns in CRITERIA.values() for name in columns if name in table]
    groups = table.groupby("index", sort=True)
    summary = groups[_ACTIVATION].first()
    summary["score"] = groups["score"].mean()
    summary["score_std"] = groups["score"].std(ddof=1)
    for name in ["raw", *criteria]:
        summary[name] = groups[name].mean()
    for name in ["pairing_optimal", "bound_exceeded"]:  # the share of the batches; missing where not looked at
        summary[name] = table[name].astype("Float64").groupby(table["index"]).mean().astype(float)
    summary["flag"] = groups["flag"].max()
    return summary


def brief(summary: pd.DataFrame, more: Iterable[str] = ()) -> pd.DataFrame:
    """The columns of a summary that a reader looks at first.

    Args:
        summary: The summary.
        more: Further columns.
    """
    flag = ["flag"] if summary["flag"].any() else []
    return summary[[*_ACTIVATION, "score", "score_std", *more, *flag]]
