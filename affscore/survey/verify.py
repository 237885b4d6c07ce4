"""Whether the files of a store are what they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from affscore.errors import AffscoreError
from affscore.network.files import FORMAT
from affscore.network.result import load_signature
from affscore.network.scoring import CRITERIA
from affscore.survey.job import key_of
from affscore.survey.store import Store

__all__ = ["problems_of", "verify"]

TEXT = (
    "model",
    "weights",
    "dataset",
    "layer",
    "activation",
    "kind",
    "reduction",
    "order",
    "covariance",
    "coupling",
    "decided_by",
    "flag",
)
WHOLE = ("index", "call", "depth", "width", "batch", "n")
LOGICAL = ("pairing_optimal", "bound_exceeded")
COLUMNS = (*TEXT, *WHOLE, *LOGICAL, "score", "raw", "seconds")
LATER = "effective_width"
"""Older results lack it."""

RANGES: dict[str, tuple[float, float]] = {
    "index": (0, np.inf), "call": (0, np.inf), "depth": (1, np.inf), "width": (1, np.inf), "batch": (0, np.inf),
    "n": (2, np.inf), "score": (0, 1), "raw": (-np.inf, 1), "effective_width": (1, np.inf), "seconds": (0, np.inf),
    "cka": (0, 1), "norm": (0, np.inf), "sparsity_before": (0, 1), "sparsity_after": (0, 1),
    "entropy_before": (0, np.inf), "entropy_after": (0, np.inf), "r2": (0, 1), "cka_debiased": (-np.inf, 1),
    "nlc": (0, np.inf),
}  # fmt: skip
"""Smallest and largest value of each column of numbers."""

ROUNDING = 1e-6
FLAGS = ("", "constant input", "constant output", "degenerate input")


def verify(folder: str | Path) -> dict[str, list[str]]:
    """What is wrong with the files of a store.

    Args:
        folder: The folder of the store.

    Returns:
        For each file that something is wrong with, what that is; empty for a store that is in order.

    Raises:
        AffscoreError: No such folder.
    """
    files = Store(folder).files()
    found = {path.name: problems for path in files if (problems := problems_of(path))}
    keys = Counter(path.stem.rpartition("-")[2] for path in files)
    for path in files:
        key = path.stem.rpartition("-")[2]
        if keys[key] > 1:
            found.setdefault(path.name, []).append(f"the key {key} is in the names of {keys[key]} files")
    return found


def problems_of(path: Path) -> list[str]:
    """What is wrong with a file: with its columns, their types and values, its batches, its metadata."""
    try:
        result = load_signature(path)
    except AffscoreError as error:
        return [str(error)]
    table = result.table
    problems = list(_of_columns(table, result.metadata.get("criteria")))
    if problems:
        return problems  # nothing else can be asked
    if table.empty:
        return ["it has no row"]
    return [*_of_values(table), *_of_batches(table, result.metadata), *_of_metadata(path, table, result.metadata)]


def _of_columns(table: pd.DataFrame, criteria: Any) -> Iterator[str]:
    if not isinstance(criteria, list) or not set(criteria) <= CRITERIA.keys():
        yield "its metadata does not say which criteria it holds"
        return
    numbers = [column for name in criteria for column in CRITERIA[name]]
    for name in sorted({*COLUMNS, *numbers} - set(table.columns)):
        yield f"the column {name!r} is missing"
    for name in sorted(set(map(str, table.columns)) - {*COLUMNS, LATER, *numbers}):
        yield f"the column {name!r} does not belong there"
    checks = (
        (TEXT, types.is_string_dtype, "text"),
        (WHOLE, types.is_integer_dtype, "whole numbers"),
        (LOGICAL, types.is_bool_dtype, "true or false"),
        (("score", "raw", "seconds", LATER, *numbers), types.is_float_dtype, "numbers"),
    )
    for names, check, kind in checks:
        for name in names:
            if name in table and not check(table[name]):
                yield f"the column {name!r} holds {table[name].dtype}, not {kind}"


def _of_values(table: pd.DataFrame) -> Iterator[str]:
    constant = table["flag"] == "constant input"
    may_miss = {"cka", "cka_debiased", "nlc", "r2", LATER}  # of an activation whose input or output is constant
    for name, (low, high) in RANGES.items():
        if name not in table:
            continue
        values = table[name].astype(float)
        outside = int(((values < low - ROUNDING) | (values > high + ROUNDING)).sum())
        if outside:
            yield f"the column {name!r} has {outside} values outside {low:g} to {high:g}"
        missing = int((values.isna() & ~(constant if name in ("score", "raw") else name in may_miss)).sum())
        if missing:
            yield f"the column {name!r} lacks {missing} values"
    clipped = (table["score"] - table["raw"].clip(lower=0)).abs() > ROUNDING
    if clipped.any():
        yield f"{int(clipped.sum())} scores are not their raw values, cut at 0"
    unknown = sorted(set(table["flag"]) - set(FLAGS))
    if unknown:
        yield f"the column 'flag' holds {unknown[0]!r}"


def _of_batches(table: pd.DataFrame, metadata: dict[str, Any]) -> Iterator[str]:
    batches = sorted(table["batch"].unique())
    if batches != list(range(len(batches))):
        yield f"batches are missing: it has {', '.join(map(str, batches))}"
    sizes = table.groupby("batch")["index"].agg(list)
    expected = list(range(len(sizes.iloc[0])))
    for batch, indices in sizes.items():
        if indices != expected:
            yield f"batch {batch} has {len(indices)} rows that are not those of activations 0 to {len(expected) - 1}"
    described = table.groupby("index")[["layer", "call", "activation", "depth", "width", "n"]].nunique()
    if (described > 1).any(axis=None):
        yield "an activation is not the same in all batches"
    images = int(table.loc[table["index"] == 0, "n"].sum())
    if metadata.get("images") != images:
        yield f"its metadata speaks of {metadata.get('images')} images, its rows of {images}"


def _of_metadata(path: Path, table: pd.DataFrame, metadata: dict[str, Any]) -> Iterator[str]:
    for name in ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling"):
        if set(table[name]) != {metadata.get(name)}:
            yield f"its rows and its metadata differ in {name!r}"
    for name in ("versions", "seed", "fingerprint_weights", "fingerprint_data", "created", "n"):
        if name not in metadata:
            yield f"its metadata lacks {name!r}"
    job, key = metadata.get("job"), metadata.get("key")
    if not isinstance(job, dict) or key_of(job) != key:
        yield "its key is not that of the job that its metadata describes"
    elif not path.stem.endswith(f"-{key}"):
        yield f"its name does not end in its key {key}"
    elif job.get("format") != FORMAT:
        yield f"it has the format {job.get('format')} of results, this version of the package writes {FORMAT}"
