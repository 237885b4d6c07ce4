"""A signature as a Parquet file: tidy rows, and how they were made in the file's metadata."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from affscore.errors import AffscoreError
from affscore.network.aside import written_aside
from affscore.network.columns import ALWAYS, misfits
from affscore.network.table import summary_of
from affscore.zoo.paths import as_path, check_name, no_file

if TYPE_CHECKING:
    from affscore.network.result import Signature

__all__ = ["check_destination", "read_parts", "write_signature"]

_KEY = b"affscore"

FORMAT = "1.0"
"""Raised where a survey shall measure again what older files hold; files without it are 1.0."""

METADATA = ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling", "n", "images", "seed",
            "criteria", "versions", "created", "fingerprint_weights", "fingerprint_data")  # fmt: skip

INFLATION = 100
"""By how much a result may be larger in memory than its file; those that come with the package are up to 4 times."""

ROWS = 64
"""How many rows are decoded before that is looked at again."""


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
    try:
        is_folder, is_other = path.is_dir(), path.exists() and not path.is_file()
    except OSError as error:
        raise AffscoreError(f"{path.name!r} cannot be written ({error.strerror})") from error
    if is_folder:
        raise AffscoreError(f"{path.name!r} is a folder; give the name of a file in it")
    if is_other:
        raise AffscoreError(f"{path.name!r} is a pipe or a device, not a file; choose another name")
    if not path.absolute().parent.is_dir():
        raise AffscoreError(f"there is no folder {str(path.parent)!r} to write {path.name!r} to; make it first")
    if not os.access(path.absolute().parent, os.W_OK):
        raise AffscoreError(f"the folder {str(path.parent)!r} may not be written to; choose another place")
    return path


def write_signature(result: Signature, path: str | Path, aside: Path | None = None) -> Path:
    """Write a signature to a Parquet file that pandas, DuckDB and R read.

    The file is written under a temporary name and renamed, so that there is never half a file. The
    entry ``affscore`` of its metadata holds, as JSON, the signature's metadata and notes, and a checksum of
    all that the file says, and the number of the format.

    Args:
        result: The signature.
        path: A file name that ends in .parquet.
        aside: The folder to write to before the file is renamed, on the same file system; by default the
            file's own.

    Returns:
        The path.

    Raises:
        AffscoreError: It cannot be written.
    """
    path = check_destination(path)
    about: dict[str, Any] = {"metadata": result.metadata, "notes": result.notes}
    about |= {"checksum": _checksum(result.table, about), "format": FORMAT}
    # without the description that pandas would add for itself, which is longer than all the rest
    table = pa.Table.from_pandas(result.table, preserve_index=False)
    table = table.replace_schema_metadata({_KEY: json.dumps(about, sort_keys=True).encode()})
    texts = [field.name for field in table.schema if pa.types.is_large_string(field.type)]
    try:
        with written_aside(path, aside) as temporary:
            pq.write_table(table, temporary, use_dictionary=texts or False, write_statistics=False)
    except OSError as error:
        raise AffscoreError(f"the result could not be written to {path.name!r}: {error.strerror or error}") from error
    return path


def read_parts(path: str | Path) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """Table, metadata and notes of the signature in a file that :func:`write_signature` wrote.

    Raises:
        AffscoreError: As :func:`affscore.load_signature`.
    """
    path = as_path(path)
    try:
        missing = not path.is_file()
    except OSError as error:
        raise AffscoreError(f"{path.name!r} cannot be read ({error.strerror})") from error
    if missing:
        raise no_file(path)
    try:
        table = _table(path)
    except PermissionError as error:
        raise AffscoreError(f"the file {path.name!r} may not be read (Permission denied)") from error
    except AffscoreError:
        raise
    except Exception as error:  # pyarrow raises its own errors and Python's on damaged files
        raise AffscoreError(f"the file {path.name!r} is not a Parquet file that can be read") from error
    try:
        return _parts(table)
    except _ForeignError as error:
        raise AffscoreError(
            f"the file {path.name!r} is Parquet, but not a signature that affscore wrote: {error}"
        ) from error
    except _NewerError as error:
        raise AffscoreError(
            f"the file {path.name!r} was written by a newer affscore (its format is {error}, this version reads "
            f"{FORMAT}); update affscore"
        ) from error
    except _DamagedError as error:
        raise AffscoreError(f"the file {path.name!r} is damaged: it does not hold what was written to it") from error
    except Exception as error:  # a foreign file can hold anything in any place
        raise AffscoreError(f"the file {path.name!r} is Parquet, but not a signature that affscore wrote") from error


class _ForeignError(Exception):
    """What the table of a signature has, and this one has not."""


class _DamagedError(Exception):
    """The checksum is not that of the rest."""


class _NewerError(Exception):
    """The format is one that this version does not know; the message is its number."""


def _table(path: Path) -> pa.Table:
    """The table in a file, refused as soon as it is found to be far larger than the file.

    In Parquet few bytes can stand for many rows, a long text or a long list, and what a file says of its sizes need
    not be so: they are looked at again while the rows are decoded. (The sizes of columns are not asked for, nor how
    they are compressed: pyarrow ends the process where these are damaged.)
    """
    swollen = AffscoreError(
        f"the file {path.name!r} was not read: in memory it would be more than {INFLATION} times as large, more than a "
        "signature can have"
    )
    room = INFLATION * path.stat().st_size
    with pq.ParquetFile(path) as file:
        about = file.metadata
        nested = any(about.schema.column(number).max_repetition_level for number in range(about.num_columns))
        size = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        if nested or max(size, about.num_rows * about.num_columns) > room:
            raise swollen
        batches = []
        for batch in file.iter_batches(ROWS, use_threads=False):
            room -= batch.nbytes + batch.num_rows * batch.num_columns  # what is missing takes no bytes here
            if room < 0:
                raise swollen
            batches.append(batch)
        return pa.Table.from_batches(batches, file.schema_arrow)


def _parts(table: pa.Table) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """What a table holds of a signature; anything may be raised where it holds none."""
    kept = json.loads((table.schema.metadata or {})[_KEY])
    metadata, notes = kept["metadata"], kept["notes"]
    job = metadata.get("job")
    for stated in (kept.get("format", FORMAT), job.get("format", FORMAT) if isinstance(job, dict) else FORMAT):
        if [int(part) for part in stated.split(".")] > [int(part) for part in FORMAT.split(".")]:
            raise _NewerError(stated)
    rows: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    if not isinstance(metadata, dict) or not all(isinstance(note, str) for note in notes):
        raise TypeError("the entry affscore of its metadata holds something else")
    if "pairing_optimal" in rows:
        rows["pairing_optimal"] = rows["pairing_optimal"].astype("boolean")  # true, false, or not looked at
    if problem := next(misfits(rows, ALWAYS), None):
        raise _ForeignError(problem)
    if missing := next((name for name in METADATA if name not in metadata), None):
        raise _ForeignError(f"its metadata lacks {missing!r}")
    if rows.empty:
        raise _ForeignError("it has no row")
    if "checksum" in kept and kept["checksum"] != _checksum(rows, {"metadata": metadata, "notes": notes}):
        raise _DamagedError
    summary_of(rows)  # which all that shows a result asks for
    return rows, metadata, notes


def _checksum(table: pd.DataFrame, about: dict[str, Any]) -> str:
    """A hash of every value of a table and of its metadata, whatever the types are that they are stored in."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in table.columns:
        values = table[name].tolist()
        # repr of a number is exact, and all that is missing is the same
        told = ["" if value is None or value is pd.NA or value != value else repr(value) for value in values]
        digest.update(json.dumps([str(name), told]).encode())
    return digest.hexdigest()[:16]
