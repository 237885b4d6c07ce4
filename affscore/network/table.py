"""The table of a signature, a row for every activation and batch, its summary, and what must be said of it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

import affscore
from affscore.errors import os_errors
from affscore.network.columns import ALWAYS, details, misfits
from affscore.network.criteria import COLUMNS, SCHEMA
from affscore.network.files import atomic_write
from affscore.network.parquet import ForeignError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METADATA = ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling", "n", "images", "seed",
            "criteria", "versions", "created", "fingerprint_weights", "fingerprint_data")  # fmt: skip
"""What the metadata of every signature holds."""

_ACTIVATION = ["layer", "call", "activation", "kind", "depth", "width"]


def table_of(rows: list[dict[str, Any]], choices: dict[str, str]) -> pd.DataFrame:
    """The table of a signature: a row for every activation and batch, columns in their order.

    Args:
        rows: What :func:`affscore.network.scoring.score_pair` returned, with ``batch``.
        choices: Columns that are the same in every row: model, weights, dataset, and how it was measured.
    """
    table = pd.DataFrame(rows).assign(**choices).astype({"pairing_optimal": "boolean"})
    return table[[name for name in COLUMNS if name in table]]


def summary_of(table: pd.DataFrame) -> pd.DataFrame:
    """One row for every activation of such a table (see :attr:`affscore.Signature.summary`)."""
    groups = table.groupby("index", sort=True)
    numbers = [f.name for f in SCHEMA if details(f)["kind"] == "number" and f.name in {*table} - {"score", "seconds"}]
    shares = ["pairing_optimal", "bound_exceeded"]  # of the batches; missing where not looked at
    return pd.concat(
        [
            groups[_ACTIVATION].first(),
            groups["score"].agg(score="mean", score_std="std"),
            groups[numbers].mean(),
            table[shares].astype("Float64").groupby(table["index"]).mean().astype(float),
            groups["flag"].max(),
        ],
        axis=1,
    )


def brief(summary: pd.DataFrame, more: Iterable[str] = ()) -> pd.DataFrame:
    """The columns of a summary that a reader looks at first.

    Args:
        summary: The summary.
        more: Further columns.
    """
    flag = ["flag"] if summary["flag"].any() else []
    return summary[[*_ACTIVATION, "score", "score_std", *more, *flag]]


def rank_correlation(one: pd.Series, other: pd.Series) -> float:
    """Spearman's rank correlation over the activations that have both scores.

    Missing where there are fewer than three of these, or all scores of one are the same.

    >>> round(rank_correlation(pd.Series([0.5, 0.6, 0.9]), pd.Series([0.4, 0.3, 1.0])), 3)
    0.5
    """
    both = pd.DataFrame({"one": one, "other": other}).dropna()
    varied = len(both) > 2 and bool((both.max() > both.min()).all())
    return float(both["one"].corr(both["other"], method="spearman")) if varied else float("nan")


def check_signature(rows: pd.DataFrame, metadata: dict[str, Any]) -> None:
    """Refuse a table that holds no signature."""
    if "pairing_optimal" in rows:
        rows["pairing_optimal"] = rows["pairing_optimal"].astype("boolean")  # true, false, or not looked at
    lacking = (f"its metadata lacks {name!r}" for name in METADATA if name not in metadata)
    empty = ["it has no row"] if rows.empty else []
    for problem in (*misfits(rows, ALWAYS), *lacking, *empty):
        raise ForeignError(problem)


def provenance() -> dict[str, Any]:
    """The versions that a result depends on, and when it was made."""
    versions = {"affscore": affscore.__version__, "python": platform.python_version(), "torch": torch.__version__}
    others = ("torchvision", "numpy", "scipy", "pandas", "scikit-learn", "pillow")
    versions |= {name: version(name) for name in others}
    return {"versions": versions, "created": datetime.now(UTC).isoformat(timespec="seconds")}


def write_table(table: pd.DataFrame, file: Path, draw: Callable[[], Figure] | None = None) -> Path:
    """Write a table without its index to a .csv or .parquet file, or draw it, as a whole or not at all.

    Args:
        table: The table.
        file: Where to; already checked (:func:`affscore.models.naming.check_destination`).
        draw: Draws it, for another ending.

    Raises:
        AffscoreError: It cannot be written.
    """
    refused = os_errors(lambda reason: f"{file.name!r} could not be written: {reason}")
    with refused, atomic_write(file) as temporary:
        if file.suffix == ".csv":
            table.to_csv(temporary, index=False)
        elif draw is None:
            table.to_parquet(temporary, index=False)
        else:
            import matplotlib.pyplot as plt  # slow to load

            figure = draw()
            figure.savefig(temporary, format=file.suffix[1:], dpi=200)
            plt.close(figure)
    return file
