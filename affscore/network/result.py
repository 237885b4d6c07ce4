"""What a signature is once it has been measured: a table, and how it was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from html import escape
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.errors import AffscoreError
from affscore.models.naming import check_destination, near
from affscore.network.columns import ALWAYS, Column, ForeignError, misfits
from affscore.network.criteria import SCHEMA
from affscore.network.notes import Note, lines
from affscore.transport.bias import expected_bias

if TYPE_CHECKING:
    from matplotlib.figure import Figure


METADATA = ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling", "n", "images", "seed",
            "criteria", "versions", "created", "fingerprint_weights", "fingerprint_data")  # fmt: skip
"""What the metadata of every signature holds."""

_ACTIVATION = ["layer", "call", "activation", "kind", "depth", "width"]


@dataclass(frozen=True, eq=False)
class Signature:
    """The affinity scores of all activations of a network, in the order in which they run.

    ``signature["features.1"]`` is the part of the summary that belongs to a layer, ``signature[0]`` its first row; a
    loop goes over its rows, ``len`` counts them, and ``in`` asks for the name of a layer. Two signatures are equal
    (``==``) where their tables, metadata and notes are, a missing value being equal to a missing value; so a signature
    is equal to itself after :meth:`save` and :func:`affscore.load_signature`, but not to a second measurement, which
    has other times. Metadata and notes can be changed, so a signature has no hash.

    Attributes:
        table: One row for every activation and batch; see the reference of columns in the book.
        metadata: How it was made: versions, seed, fingerprints of weights and data, options.
        notes: What the reader should know, in sentences (samples that were dropped, ...). Those whose ``kind`` is
            "warning" (:class:`affscore.network.Note`) say that a number is likely wrong; :func:`signature` gives them
            as warnings, too.
        sample_costs: For each row of the table what each sample contributed to its score
            (:class:`affscore.AffinityScore`), zeros without a score; empty for a signature that was read from a file.

    >>> from affscore import signature
    >>> measured = signature("mini:digitsnet", "digits", n=512, criteria=False)
    >>> len(measured), measured[0].layer, measured["blocks.0.relu"].depth.tolist()
    (9, 'stem.2', [2, 3])
    >>> [f"{row.score:.1f}" for row in measured if row.call == 0]
    ['0.7', '0.8', '0.8', '0.7', '0.8']
    """

    table: pd.DataFrame
    metadata: dict[str, Any]
    notes: list[Note] = field(default_factory=list)
    sample_costs: list[NDArray[np.float64]] = field(default_factory=list, repr=False)

    @property
    def summary(self) -> pd.DataFrame:
        """One row for every activation, with mean score, its standard deviation over batches, and criteria.

        The standard deviation (n - 1 in the denominator) is missing for a single batch.
        """
        numbers = [c.name for c in SCHEMA if c.kind == "number" and c.name in {*self.table} - {"score", "seconds"}]
        shares = ["pairing_optimal", "bound_exceeded"]  # of the batches; missing where not looked at
        groups = self.table.astype(dict.fromkeys(shares, "Float64")).groupby("index")
        score = groups["score"].agg(score="mean", score_std="std")
        means = groups[[*numbers, *shares]].mean().astype(dict.fromkeys(shares, float))
        return pd.concat([groups[_ACTIVATION].first(), score, means, groups["flag"].max()], axis=1)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The signature, one score in [0, 1] for every activation, averaged over batches."""
        return self.table.groupby("index", sort=True)["score"].mean().to_numpy(dtype=float)

    @property
    def expected_bias(self) -> NDArray[np.float64]:
        """How much too high each score is expected to be, because n is finite; missing where there is no score.

        :func:`affscore.transport.expected_bias` of the mean of the batches, for the column ``effective_width`` (the
        width itself in results of older versions). It is that of the empirical covariance: with shrinkage the bias is
        near 0 in the best case, and up to twice as large in the worst. Of extrapolated scores it is missing.
        """
        if self.metadata.get("bias", "none") != "none":
            return np.full(len(self), np.nan)
        summary = self.summary
        widths = summary.get("effective_width", summary["width"]).fillna(summary["width"])
        points = self.table.groupby("index")["n"].max()  # not the same for all, where a sample gives several
        pairs = zip(summary["raw"], points / widths, strict=True)
        return np.array([np.nan if np.isnan(raw) else expected_bias(raw, ratio) for raw, ratio in pairs])

    def mean_interval(self, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> tuple[float, float]:
        r"""An interval of the mean score over the activations: of the sampling of images, and of the bias of n.

        Images are drawn again from those of each batch, the same for all activations, so that what an
        image does to several of them stays together. With weights w of the images the score of an
        activation is :math:`1 - \sqrt{\sum_i w_i c_i / (2 \sum_i w_i t_i)}`, c being the cost of an image
        and t its squared distance from the mean. Map and coupling are held fixed, at no further forward pass.
        Resampling does not see the bias of a small n, which is upwards: the lower end is lowered by the mean of
        ``expected_bias``, with shrinkage by twice as much, its worst case in chapter 3.

        Args:
            level: Share of the resamples inside the interval, in (0, 1).
            resamples: Number of resamples.
            seed: Fixes them.

        Returns:
            Both ends, in [0, 1].

        Raises:
            AffscoreError: The costs of the images are not at hand (after reading a file), or a level
                outside (0, 1).
        """
        if not 0 < level < 1:
            raise AffscoreError(f"level must be in (0, 1), got {level}")
        tail = (1 - level) / 2
        low, high = np.quantile(self.resampled_means(resamples, seed), [tail, 1 - tail])
        return max(float(low - self.worst_bias), 0.0), float(high)

    @property
    def worst_bias(self) -> float:
        """How much too high the mean score may be as n is finite, ``expected_bias``, with shrinkage twice that."""
        return float(np.nanmean(self.expected_bias)) * (1 if self.metadata["covariance"] == "empirical" else 2)

    def resampled_means(self, resamples: int = 2000, seed: int = 0) -> NDArray[np.float64]:
        """The mean score for images that are drawn again, as in :meth:`mean_interval`.

        Two signatures of the same images draw the same ones, so that the differences of their means are those of a
        paired bootstrap.

        Args:
            resamples: Number of resamples.
            seed: Fixes them.

        Returns:
            Array (resamples,), each in [0, 1].

        Raises:
            AffscoreError: The costs of the images are not at hand, or no resample is asked for.
        """
        if resamples < 1:
            raise AffscoreError(f"resamples must be at least 1, got {resamples}")
        if not any(costs.any() for costs in self.sample_costs):
            raise AffscoreError(f"files lack sample_costs: measure {self.metadata['model']} again to get an interval")
        generator = np.random.default_rng(seed)
        means = []
        for _, rows in self.table.reset_index(drop=True).dropna(subset="score").groupby("batch"):
            costs = np.stack([self.sample_costs[place] for place in rows.index], axis=2)
            n = len(costs)
            weights = generator.multinomial(n, np.full(n, 1 / n), size=resamples)
            spent, spread = weights @ costs[:, 0], weights @ costs[:, 1]
            scores = 1 - np.sqrt(spent / np.where(spread > 0, 2 * spread, np.inf))
            means.append(scores.clip(0, 1).mean(axis=1))
        return np.mean(means, axis=0)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the scores over the depth of the activations (:func:`affscore.plots.raw_signature`).

        Args:
            title: None for network, weights and data.

        Returns:
            The figure. A notebook draws it once where this is the last line of a cell; ``savefig`` writes it to a file.
        """
        from affscore.plots.signature import raw_signature  # the only import upwards, named in the floors' contract

        return raw_signature(self, titles=None if title is None else [title])

    def save(self, file: str | Path) -> Path:
        """Write the signature to a file; draw it, where that is a figure.

        The file is written under a temporary name and renamed, so that there is never half a file.

        Args:
            file: A name that ends in .parquet (which :func:`affscore.load_signature`, pandas, DuckDB and R read), .csv
                (the table alone), or .png, .svg or .pdf (as :meth:`plot` draws it).

        Returns:
            The path.

        Raises:
            AffscoreError: Another ending, or a place that cannot be written.
        """
        from affscore.network.parquet import write_parquet, write_table  # files are slow to load

        path = check_destination(file, (".parquet", ".csv", ".png", ".svg", ".pdf"))
        if path.suffix != ".parquet":
            return write_table(self.table, path, self.plot)
        return write_parquet(self.table, self.metadata, self.notes, path)

    def __len__(self) -> int:
        return self.table["index"].nunique()

    def __contains__(self, layer: object) -> bool:
        return layer in self.summary["layer"].tolist()

    def __iter__(self) -> Iterator[pd.Series]:
        return (row for _, row in self.summary.iterrows())

    @overload
    def __getitem__(self, key: str) -> pd.DataFrame: ...
    @overload
    def __getitem__(self, key: int) -> pd.Series: ...
    def __getitem__(self, key: str | int) -> pd.DataFrame | pd.Series:
        summary = self.summary
        if isinstance(key, Integral):
            if not -len(summary) <= key < len(summary):
                raise AffscoreError(f"the signature has {len(summary)} activations, numbered from 0, got {key}")
            return summary.iloc[int(key)]
        layers = list(dict.fromkeys(summary["layer"]))
        if not isinstance(key, str) or key not in layers:
            known = ", ".join(map(repr, layers[:10])) + (", ..." if len(layers) > 10 else "")
            raise AffscoreError(f"no activation runs in layer {key!r}{near(str(key), layers)} (layers: {known})")
        return summary[summary["layer"] == key]

    def __eq__(self, other: object) -> bool:
        from affscore.network.parquet import alike

        return alike(self, other) if isinstance(other, Signature) else NotImplemented

    def __repr__(self) -> str:
        first, scores = self.table.iloc[0], self.scores[~np.isnan(self.scores)]
        items, accuracy = self.metadata.get("items", "images"), self.metadata.get("accuracy")  # old files lack both
        batches, units = self.table["batch"].nunique(), self.metadata.get("units", "activations")
        parts = [
            f"{len(self)} {units.removesuffix('s') if len(self) == 1 else units}",
            f"{batches} x {self.metadata['images'] // batches} {items}",
            f"scores {min(scores):.2f} to {max(scores):.2f}, mean {scores.mean():.2f}" if len(scores) else "no score",
        ]
        parts += [f"accuracy {accuracy:.3f}"] if isinstance(accuracy, float) else []
        head = f"Signature of {first['model']} ({first['weights']}) on {first['dataset']}: {', '.join(parts)}"
        return "\n".join([head, *lines(self.notes)])

    def _repr_html_(self) -> str:
        summary = brief(self.summary).to_html(max_rows=20, float_format="{:.3f}".format, na_rep="-", index_names=False)
        title, *notes = (escape(line) for line in repr(self).splitlines())
        listed = "".join(f"<li>{note}</li>" for note in notes)
        return f"<p><strong>{title}</strong></p>\n{summary}" + (f"\n<ul>{listed}</ul>" if notes else "")


def brief(summary: pd.DataFrame, more: Iterable[str] = ()) -> pd.DataFrame:
    """The columns of a summary that a reader looks at first.

    Args:
        summary: The summary.
        more: Further columns.
    """
    flag = ["flag"] if summary["flag"].any() else []
    return summary[[*_ACTIVATION, "score", "score_std", *more, *flag]]


def load_signature(file: str | Path) -> Signature:
    """The signature in a Parquet file that :meth:`Signature.save`, the command or a survey wrote.

    Args:
        file: The file.

    Returns:
        The signature, without ``sample_costs``.

    Raises:
        AffscoreError: No such file, not Parquet, not written by this package or by a newer one, or damaged since.

    >>> import tempfile
    >>> from affscore import load_signature, signature
    >>> measured = signature("mini:digitsnet", "digits", n=64, images=64, criteria=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_signature(measured.save(f"{folder}/digits.parquet")) == measured
    True
    """
    from affscore.network.parquet import read_parquet

    return Signature(*read_parquet(file, "signature", partial(check_rows, columns=ALWAYS, needed=METADATA)))


def check_rows(rows: pd.DataFrame, metadata: dict[str, Any], columns: Iterable[Column], needed: Iterable[str]) -> None:
    """Refuse a table without these columns or without rows, or metadata that lack one of these entries."""
    lacking = (f"its metadata lacks {name!r}" for name in needed if name not in metadata)
    for problem in (*misfits(rows, columns), *lacking, *["it has no row"] * rows.empty):
        raise ForeignError(problem)
