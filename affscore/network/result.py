"""What a signature is once it has been measured: a table, and how it was made."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import torch
import torchvision
from numpy.typing import NDArray

import affscore
from affscore.network.scoring import CRITERIA

__all__ = ["Signature", "provenance", "table_of"]

_ACTIVATION = ["layer", "call", "activation", "kind", "depth", "width"]


@dataclass(frozen=True)
class Signature:
    """The affinity scores of all activations of a network, in the order in which they run.

    Attributes:
        table: One row for every activation and batch; see the reference of columns in the book.
        metadata: How it was made: versions, seed, fingerprints of weights and data, options.
        notes: What the reader should be told, in sentences (images that were dropped, ...).
    """

    table: pd.DataFrame
    metadata: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    @property
    def summary(self) -> pd.DataFrame:
        """One row for every activation: mean score, its standard deviation over batches, and criteria.

        The standard deviation (n - 1 in the denominator) is missing for a single batch.
        """
        criteria = [name for name in CRITERIA if name in self.table]
        groups = self.table.groupby("index", sort=True)
        summary = groups[_ACTIVATION].first()
        summary["score"] = groups["score"].mean()
        summary["score_std"] = groups["score"].std(ddof=1)
        for name in ["raw", *criteria]:
            summary[name] = groups[name].mean()
        for name in ["pairing_optimal", "bound_exceeded"]:
            summary[name] = groups[name].mean()
        summary["flag"] = groups["flag"].max()
        return summary

    @property
    def scores(self) -> NDArray[np.float64]:
        """The signature: one score in [0, 1] for every activation, averaged over batches."""
        return self.summary["score"].to_numpy(dtype=float)

    def __len__(self) -> int:
        return self.table["index"].nunique()

    def __repr__(self) -> str:
        first = self.table.iloc[0]
        scores = self.scores
        return (
            f"Signature of {first['model']} ({first['weights']}) on {first['dataset']}: {len(self)} activations, "
            f"{self.table['batch'].nunique()} x {first['n']} images, scores "
            f"{np.nanmin(scores):.2f} to {np.nanmax(scores):.2f}, mean {np.nanmean(scores):.2f}"
        )


def table_of(rows: list[dict[str, Any]], shared: dict[str, str], choices: dict[str, str]) -> pd.DataFrame:
    """The table of a signature: a row for every activation and batch, columns in their order.

    Args:
        rows: What :func:`affscore.network.scoring.score_pair` returned, with ``index`` and ``batch``.
        shared: Columns that are the same in every row, and come first: model, weights, dataset.
        choices: Columns that say how it was measured: reduction, order, covariance.
    """
    table = pd.DataFrame(rows).assign(**shared, **choices)
    first = [*shared, "index", *_ACTIVATION, "batch", "n", *choices]
    return table[[*first, *(name for name in table.columns if name not in first)]]


def provenance() -> dict[str, Any]:
    """The versions that a result depends on, and when it was made."""
    return {
        "versions": {
            "affscore": affscore.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "torchvision": torchvision.__version__,
            "numpy": np.__version__,
        },
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
