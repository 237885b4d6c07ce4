"""A signature as a Parquet file: tidy rows, and how they were made in the file's metadata."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from affscore.errors import AffscoreError, os_errors
from affscore.network.columns import ALWAYS, misfits
from affscore.network.parquet import Contents, ForeignError, read_parquet, write_parquet
from affscore.zoo.paths import as_path, check_name

if TYPE_CHECKING:
    from affscore.network.result import Signature

METADATA = ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling", "n", "images", "seed",
            "criteria", "versions", "created", "fingerprint_weights", "fingerprint_data")  # fmt: skip


def check_destination(path: str | Path, endings: Sequence[str] = (".parquet",)) -> Path:
    """The path, if a file can be written there; found out before anything is computed.

    Args:
        path: Where to write.
        endings: What the name may end in.

    Raises:
        AffscoreError: Another ending, a name that is not UTF-8, a folder that is missing or may not be written to,
            or a folder, a pipe or a device in the place of the file.
    """
    path = as_path(path)
    check_name(str(path))
    if path.suffix not in endings:
        raise AffscoreError(f"the file name must end in {' or '.join(endings)}, got {path.name!r}")
    name, parent = repr(path.name), path.absolute().parent
    with os_errors(lambda reason: f"{name} cannot be written ({reason})"):
        if path.is_dir():
            raise AffscoreError(f"{name} is a folder; give the name of a file in it")
        if path.exists() and not path.is_file():
            raise AffscoreError(f"{name} is a pipe or a device, not a file; choose another name")
    if not parent.is_dir():
        raise AffscoreError(f"there is no folder {str(path.parent)!r} to write {name} to; make it first")
    if not os.access(parent, os.W_OK):
        raise AffscoreError(f"the folder {str(path.parent)!r} may not be written to; choose another place")
    return path


def write_signature(result: Signature, path: str | Path) -> Path:
    """Write a signature to a Parquet file that pandas, DuckDB and R read (:func:`affscore.network.parquet`).

    The file is written under a temporary name and renamed, so that there is never half a file.

    Args:
        result: The signature.
        path: A file name that ends in .parquet.

    Returns:
        The path.

    Raises:
        AffscoreError: It cannot be written.
    """
    path = check_destination(path)
    with os_errors(lambda reason: f"the result could not be written to {path.name!r}: {reason}"):
        write_parquet(result.table, result.metadata, result.notes, path)
    return path


def read_parts(path: str | Path) -> Contents:
    """Table, metadata and notes of the signature in a file that :func:`write_signature` wrote.

    Raises:
        AffscoreError: As :func:`affscore.load_signature`.
    """
    return read_parquet(path, "signature", _check)


def _check(rows: pd.DataFrame, metadata: dict[str, Any]) -> None:
    """Refuse a table that holds no signature."""
    if "pairing_optimal" in rows:
        rows["pairing_optimal"] = rows["pairing_optimal"].astype("boolean")  # true, false, or not looked at
    lacking = (f"its metadata lacks {name!r}" for name in METADATA if name not in metadata)
    empty = ["it has no row"] if rows.empty else []
    for problem in (*misfits(rows, ALWAYS), *lacking, *empty):
        raise ForeignError(problem)
