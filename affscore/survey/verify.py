"""Whether the files of a store are what they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from affscore.errors import AffscoreError
from affscore.network.columns import ANYWHERE, details, misfits
from affscore.network.criteria import CRITERIA, schema
from affscore.network.multiverse_result import Multiverse, load_result
from affscore.network.parquet import FORMAT
from affscore.options import Options
from affscore.survey.job import key_of
from affscore.survey.store import Store

ROUNDING = 1e-6


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
        if (count := keys[key := path.stem.rpartition("-")[2]]) > 1:
            found.setdefault(path.name, []).append(f"the key {key} is in the names of {count} files")
    return found


def problems_of(path: Path) -> list[str]:
    """What is wrong with a file: with its columns and their values, its batches, its metadata."""
    try:
        result = load_result(path)
    except AffscoreError as error:
        return [str(error)]
    table, metadata = result.rows, result.metadata
    criteria = metadata["criteria"]
    if not isinstance(criteria, list) or not set(criteria) <= CRITERIA.keys():
        return ["its metadata does not say which criteria it holds"]
    several = isinstance(result, Multiverse)
    expected = schema(criteria, extrapolated=several and metadata.get("bias") == "extrapolated")
    foreign = [f"the column {name!r} does not belong there" for name in table.columns.difference(expected.names)]
    if problems := [*misfits(table, expected), *foreign]:
        return problems  # nothing else can be asked
    found = list(_of_values(table, expected))
    parts = [result.signature(*choice) for choice in result.choices] if isinstance(result, Multiverse) else [result]
    if several:
        found += _of_multiverse(table, metadata)
    for part in parts:
        # an activation that cannot be applied to reduced vectors has no row there
        may_lack = several and part.metadata["order"] == "reduce-first"
        count = None if may_lack else table["index"].nunique()
        found += [*_of_batches(part.table, part.metadata, count), *_of_metadata(path, part.table, part.metadata)]
    return list(dict.fromkeys(found))


def _of_values(table: pd.DataFrame, expected: pa.Schema) -> Iterator[str]:
    for field in (expected.field(name) for name in expected.names if name in table):
        values, asked = table[field.name], details(field)
        if asked["kind"] in ("integer", "number"):
            low, high = asked["within"]
            if outside := int(((values < low - ROUNDING) | (values > high + ROUNDING)).sum()):
                yield f"the column {field.name!r} has {outside} values outside {low:g} to {high:g}"
        if asked["words"] and (unknown := sorted(set(values.dropna()) - set(asked["words"]))):
            yield f"the column {field.name!r} holds {unknown[0]!r}"
        lacks = values.isna() & ~table["flag"].isin(asked["missing"])
        if ANYWHERE not in asked["missing"] and lacks.any():
            yield f"the column {field.name!r} lacks {int(lacks.sum())} values"
    if "paired" in table and (above := int((table["paired"] > table["score"] + ROUNDING).sum())):
        yield f"{above} scores of the pairing are above the score itself"
    if wrong := int(((table["score"] - table["raw"].clip(lower=0)).abs() > ROUNDING).sum()):
        yield f"{wrong} scores are not their raw values, cut at 0"


def _of_multiverse(table: pd.DataFrame, metadata: dict[str, Any]) -> Iterator[str]:
    try:
        passes = Options(multiverse=metadata["multiverse"]).passes
    except (AffscoreError, TypeError):
        yield "its metadata does not say which reductions it holds"
        return
    expected = {(one.reduction, one.order, one.covariance): one.order for several in passes for one in several}
    found = set(table[["reduction", "order", "covariance"]].itertuples(index=False, name=None))
    for choice in sorted(found - expected.keys()):
        yield f"it has rows of {', '.join(choice)}, which its metadata does not speak of"
    for choice, order in expected.items():
        if choice not in found and order == "activate-first":
            yield f"it has no rows of {', '.join(choice)}"
    described = table.groupby("index")[["layer", "call", "activation", "depth"]].nunique()
    if (described > 1).any(axis=None):
        yield "an activation is not the same under all specifications"


def _of_batches(table: pd.DataFrame, metadata: dict[str, Any], count: int | None) -> Iterator[str]:
    """Of a table with so many activations; None where any of them may be missing, though in all batches."""
    batches = sorted(table["batch"].unique())
    if batches != list(range(len(batches))):
        yield f"batches are missing: it has {', '.join(map(str, batches))}"
    sizes = table.groupby("batch")["index"].agg(list)
    expected = sorted(set(table["index"])) if count is None else list(range(count))
    for batch, indices in sizes.items():
        if indices != expected:
            yield (
                f"batch {batch} has {len(indices)} rows that are not those of activations "
                f"{expected[0]} to {expected[-1]}"
            )
    described = table.groupby("index")[["layer", "call", "activation", "depth", "width"]].nunique()
    if (described > 1).any(axis=None):
        yield "an activation is not the same in all batches"
    images = int(table.groupby("batch")["n"].max().sum())  # not all reach an expert
    if metadata.get("images") != images and metadata.get("reduction") != "positions":
        yield f"its metadata speaks of {metadata.get('images')} images, its rows of {images}"


def _of_metadata(path: Path, table: pd.DataFrame, metadata: dict[str, Any]) -> Iterator[str]:
    for name in ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling"):
        if set(table[name]) != {metadata.get(name)}:
            yield f"its rows and its metadata differ in {name!r}"
    job, key = metadata.get("job"), metadata.get("key")
    if not isinstance(job, dict) or key_of(job) != key:
        yield "its key is not that of the job that its metadata describes"
    elif not path.stem.endswith(f"-{key}"):
        yield f"its name does not end in its key {key}"
    elif job.get("format") != FORMAT:
        yield f"it has the format {job.get('format')} of results, this version of the package writes {FORMAT}"
