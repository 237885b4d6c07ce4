"""What a tracker has measured: the scores of every activation over the steps of a training."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from affscore.errors import AffscoreError
from affscore.network.columns import ANYWHERE, Column
from affscore.network.criteria import SCHEMA
from affscore.network.notes import Note, lines
from affscore.network.parquet import alike, read_parquet, write_parquet
from affscore.network.result import check_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OMITTED = "model weights dataset batch reduction order covariance coupling pairing_optimal decided_by seconds".split()
"""Columns of a signature that a record lacks; those that are the same in every row are in its metadata."""

NOT_FINITE = "not finite"
"""The flag of an activation that holds NaN or infinity, as in a training that has diverged."""


_ALWAYS = ("index", "layer", "call", "activation", "score", "flag")

COLUMNS = (
    Column("step", "integer", "how many optimisation steps had been made", (0, float("inf"))),
    *(one._replace(required=one.name in _ALWAYS) for one in SCHEMA if one.name not in _OMITTED),
    Column("accuracy", "number", "share of the probe that is classified rightly; missing where that is not known",
           (0, 1), missing=(ANYWHERE,), required=False),
)  # fmt: skip
"""The columns of a record that has all criteria; any number may be missing, with the flag :data:`NOT_FINITE`."""


def table_of_record(rows: pd.DataFrame | list[dict[str, Any]]) -> pd.DataFrame:
    """The table of a record, a row for every measured step and activation, columns in their order."""
    table = pd.DataFrame(rows)
    return table[[column.name for column in COLUMNS if column.name in table]]


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """The affinity scores of all activations of a network while it was trained.

    Attributes:
        table: One row for every measured step and activation; see the reference of columns in the book.
        metadata: How it was made, as of a signature, with ``every``, ``start`` and ``steps``.
        notes: What the reader should know, in sentences.

    >>> from affscore import load_model, track
    >>> record = track(load_model("mini:digitsnet"), "digits", n=64).record
    >>> record.table[["step", "layer", "activation"]].values.tolist()[0], record.metadata["coupling"]
    ([0, 'stem.2', 'relu'], 'paired')
    """

    table: pd.DataFrame
    metadata: dict[str, Any]
    notes: list[Note] = field(default_factory=list)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the scores over the steps (:func:`affscore.plots.scores_over_steps`).

        Args:
            title: None for network and data.

        Raises:
            AffscoreError: Nothing was measured.
        """
        from affscore.plots.signature import scores_over_steps  # upwards, as Signature.plot

        # process 1 has neither, and is refused
        name = f"{self.metadata.get('model')} on {self.metadata.get('dataset')}"
        return scores_over_steps(self.table, name if title is None else title)

    def save(self, file: str | Path) -> Path:
        """Write the record to a Parquet file, which :func:`affscore.load_record`, pandas, DuckDB and R read.

        Args:
            file: A name that ends in .parquet.

        Returns:
            The path.

        Raises:
            AffscoreError: Nothing was measured, another ending, or a place that cannot be written.
        """
        if self.table.empty:
            raise AffscoreError("there is nothing to save: this process has measured nothing (only process 0 measures)")
        return write_parquet(self.table, self.metadata, self.notes, file)

    def __eq__(self, other: object) -> bool:
        return alike(self, other) if isinstance(other, TrainingRecord) else NotImplemented

    def __repr__(self) -> str:
        about, table = self.metadata, self.table
        if table.empty:
            return "Record of a training: nothing was measured"
        means = table.groupby("step")["score"].mean()
        head = f"Record of {about['model']} on {about['dataset']}: {table['index'].nunique()} activations"
        course = f"up to step {means.index[-1]}, mean score {means.iloc[0]:.2f} to {means.iloc[-1]:.2f}"
        return "\n".join([f"{head}, {len(means)} measurements {course}", *lines(self.notes)])


def load_record(file: str | Path) -> TrainingRecord:
    """The record of a training in a Parquet file that :meth:`TrainingRecord.save` wrote.

    Args:
        file: The file.

    Raises:
        AffscoreError: No such file, not Parquet, no record, of a newer version, or damaged since.

    >>> import tempfile
    >>> from affscore import load_model, load_record, track
    >>> tracker = track(load_model("mini:digitsnet"), "digits", n=64)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_record(tracker.save(f"{folder}/training.parquet")) == tracker.record
    True
    """
    return TrainingRecord(*read_parquet(file, "record", check_record))


check_record = partial(check_rows, columns=COLUMNS, needed=("model", "dataset", "every"))
"""Refuse a table that holds no record."""
