"""The table of a signature, a row for every activation and batch, and its summary."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from affscore.network.columns import details
from affscore.network.criteria import SCHEMA

_ACTIVATION = ["layer", "call", "activation", "kind", "depth", "width"]


def table_of(rows: list[dict[str, Any]], choices: dict[str, str]) -> pd.DataFrame:
    """The table of a signature: a row for every activation and batch, columns in their order.

    Args:
        rows: What :func:`affscore.network.scoring.score_pair` returned, with ``batch``.
        choices: Columns that are the same in every row: model, weights, dataset, and how it was measured.
    """
    table = pd.DataFrame(rows).assign(**choices).astype({"pairing_optimal": "boolean"})
    return table[[name for name in SCHEMA.names if name in table]]


def summary_of(table: pd.DataFrame) -> pd.DataFrame:
    """One row for every activation of such a table (see :attr:`affscore.Signature.summary`)."""
    groups = table.groupby("index", sort=True)
    summary = groups[_ACTIVATION].first()
    summary["score"], summary["score_std"] = groups["score"].mean(), groups["score"].std(ddof=1)
    for field in SCHEMA:
        if details(field)["kind"] == "number" and field.name in table and field.name not in ("score", "seconds"):
            summary[field.name] = groups[field.name].mean()
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


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """A table for a .csv file: text that a spreadsheet would take for a formula has an apostrophe in front.

    That is text that begins with =, +, -, @, a tab or the end of a line, and is not a plain number. A carriage return
    becomes an end of line, which the writer puts between quotes: it would begin a row otherwise.

    >>> table = pd.DataFrame({"name": ["=1+1", "-0.5", "resnet18"], "score": [-1.0, 0.5, 1.0]})
    >>> without_formulas(table)["name"].tolist()
    ["'=1+1", '-0.5', 'resnet18']
    """

    def inert(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell.replace("\r", "\n")
        return f"'{text}" if re.match(r"[=@\t\n]|[+-](?![\d.]+$)", text) else text

    named = table.rename(columns=inert)
    return named.apply(lambda column: column if is_numeric_dtype(column) else column.map(inert))
