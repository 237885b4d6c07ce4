"""What a signature is once it has been measured: a table, and how it was made."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import torch
import torchvision
from numpy.typing import NDArray

import affscore
from affscore.errors import AffscoreError
from affscore.network.notes import lines
from affscore.network.options import Options
from affscore.network.scorers import Batch
from affscore.network.scoring import CRITERIA

__all__ = ["Signature", "provenance", "signature_of", "table_of"]

_ACTIVATION = ["layer", "call", "activation", "kind", "depth", "width"]


@dataclass(frozen=True)
class Signature:
    """The affinity scores of all activations of a network, in the order in which they run.

    Attributes:
        table: One row for every activation and batch; see the reference of columns in the book.
        metadata: How it was made: versions, seed, fingerprints of weights and data, options.
        notes: What the reader should know, in sentences (images that were dropped, ...). Those that begin with
            "warning: " say that a number is likely wrong; :func:`signature` gives them as warnings, too.
        sample_costs: For each row of the table what each image contributed to its score
            (:class:`affscore.AffinityScore`); empty for a signature that was read from a file or taken up
            again after an interruption, and for the score of a whole data set.
    """

    table: pd.DataFrame
    metadata: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    sample_costs: list[NDArray[np.float64] | None] = field(default_factory=list, repr=False)

    @property
    def summary(self) -> pd.DataFrame:
        """One row for every activation: mean score, its standard deviation over batches, and criteria.

        The standard deviation (n - 1 in the denominator) is missing for a single batch.
        """
        criteria = [name for columns in CRITERIA.values() for name in columns if name in self.table]
        groups = self.table.groupby("index", sort=True)
        summary = groups[_ACTIVATION].first()
        summary["score"] = groups["score"].mean()
        summary["score_std"] = groups["score"].std(ddof=1)
        for name in ["raw", *criteria]:
            summary[name] = groups[name].mean()
        for name in ["pairing_optimal", "bound_exceeded"]:  # the share of the batches; missing where not looked at
            summary[name] = self.table[name].astype("Float64").groupby(self.table["index"]).mean().astype(float)
        summary["flag"] = groups["flag"].max()
        return summary

    @property
    def scores(self) -> NDArray[np.float64]:
        """The signature: one score in [0, 1] for every activation, averaged over batches."""
        return self.summary["score"].to_numpy(dtype=float)

    def mean_interval(self, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> tuple[float, float]:
        r"""A bootstrap interval of the mean score over the activations, at no further forward pass.

        Images are drawn again from those of each batch, the same for all activations, so that what an
        image does to several of them stays together. With weights w of the images the score of an
        activation is :math:`1 - \sqrt{\sum_i w_i c_i / (2 \sum_i w_i t_i)}`, c being the cost of an image
        and t its squared distance from the mean. Map and coupling are held fixed: the interval is that of
        the sampling of images, and knows nothing of the bias of a small n.

        Args:
            level: Share of the resamples inside the interval, in (0, 1).
            resamples: Number of resamples.
            seed: Fixes them.

        Returns:
            Both ends, in [0, 1].

        Raises:
            AffscoreError: The costs of the images are not at hand (after reading a file, for a whole data
                set), or a level outside (0, 1).
        """
        if not 0 < level < 1 or resamples < 1:
            raise AffscoreError(f"level must be in (0, 1) and resamples at least 1, got {level} and {resamples}")
        if not any(costs is not None for costs in self.sample_costs):
            raise AffscoreError(
                "the costs of the images are not kept in files and for whole data sets; "
                "measure the signature in batches to get an interval"
            )
        generator = np.random.default_rng(seed)
        means = []
        for batch in sorted(self.table["batch"].unique()):
            of_batch = np.flatnonzero(self.table["batch"] == batch)
            costs = [kept for row in of_batch if (kept := self.sample_costs[row]) is not None]
            n = len(costs[0])
            weights = generator.multinomial(n, np.full(n, 1 / n), size=resamples)
            spent = weights @ np.stack([cost[:, 0] for cost in costs], axis=1)
            spread = weights @ np.stack([cost[:, 1] for cost in costs], axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                scores = 1 - np.sqrt(np.where(spread > 0, spent / (2 * spread), 0.0))
            means.append(scores.clip(0, 1).mean(axis=1))
        tail = (1 - level) / 2
        low, high = np.quantile(np.mean(means, axis=0), [tail, 1 - tail])
        return float(low), float(high)

    def __len__(self) -> int:
        return self.table["index"].nunique()

    def __repr__(self) -> str:
        first = self.table.iloc[0]
        scores = self.scores
        head = (
            f"Signature of {first['model']} ({first['weights']}) on {first['dataset']}: {len(self)} activations, "
            f"{self.table['batch'].nunique()} x {first['n']} images, scores "
            f"{np.nanmin(scores):.2f} to {np.nanmax(scores):.2f}, mean {np.nanmean(scores):.2f}"
        )
        return "\n".join([head, *lines(self.notes)])


def signature_of(
    batches: Sequence[Batch], shared: dict[str, str], options: Options, about: dict[str, Any], notes: list[str]
) -> Signature:
    """The signature that finished batches make.

    Args:
        batches: All batches, in their order.
        shared: Columns that are the same in every row: model, weights, dataset.
        options: What was measured.
        about: What else the metadata says of this run.
        notes: What the reader should be told.
    """
    rows = [{**row, "batch": batch.number} for batch in batches for row in batch.rows]
    # all or none: a batch that was read from a file comes without them
    known = all("sample_costs" in row for row in rows)
    costs = [row.pop("sample_costs", None) for row in rows]
    metadata = {
        **shared,
        **options.as_columns(),
        "n": options.n,
        "images": int(sum(batch.rows[0]["n"] for batch in batches)),
        "seed": options.seed,
        "criteria": list(options.criteria),
        "depth": max(row["depth"] for batch in batches for row in batch.rows),
        **about,
        **provenance(),
    }
    kept = [cost.cpu().numpy() if cost is not None else None for cost in costs] if known else []
    return Signature(table_of(rows, shared, options.as_columns()), metadata, notes, kept)


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


def provenance() -> dict[str, Any]:
    """The versions that a result depends on, and when it was made."""
    return {
        "versions": {
            "affscore": affscore.__version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "torchvision": torchvision.__version__,
            **{name: version(name) for name in ("numpy", "scipy", "pandas", "scikit-learn", "pillow")},
        },
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
