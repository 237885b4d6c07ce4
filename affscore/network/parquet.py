"""A table with its description in a Parquet file: written as a whole, and looked at when it is read.

The entry ``affscore`` of the file's metadata holds, as JSON, a dictionary, notes, and the number of the format. The
values have Parquet's own checksums, one for each page of the file.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from affscore.errors import AffscoreError, guarding
from affscore.models.naming import check_destination, readable_file
from affscore.network.columns import ForeignError
from affscore.network.notes import Note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Contents = tuple[pd.DataFrame, dict[str, Any], list[Note]]
"""A table, its metadata, and notes."""

FORMAT = "1.1"
"""Raised where older versions cannot read what is written; files without it are 1.0, whose notes are texts."""

_KEY = b"affscore"

_KINDS = {"every": "record", "multiverse": "multiverse", "fingerprint_data": "signature"}
"""What a file holds, by the first of these entries that its metadata have."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A name to write to, hidden beside the file; what is there gets the file's name if the context ends without error.

    On an error nothing is left behind, and what was there before is as it was.

    Args:
        path: The name in the end.

    Raises:
        OSError: It cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with atomic_write(Path(place) / "x.txt") as temporary:
    ...         _ = temporary.write_text("all of it")
    ...     [file.name for file in Path(place).iterdir()]
    ['x.txt']
    """
    # not by tempfile, whose files nobody else may read, whatever the umask
    temporary = path.absolute().parent / f".{path.name[:40]}.{secrets.token_hex(8)}.part"
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_table(table: pd.DataFrame, file: Path, draw: Callable[[], Figure] | None = None) -> Path:
    """Write a table without its index to a .csv file, or draw it, as a whole or not at all.

    Args:
        table: The table.
        file: Where to; already checked (:func:`affscore.models.naming.check_destination`).
        draw: Draws it, for another ending.

    Raises:
        AffscoreError: It cannot be written.
    """
    with guarding(f"{file.name!r} could not be written", only=OSError), atomic_write(file) as temporary:
        if draw is None or file.suffix == ".csv":
            table.to_csv(temporary, index=False)
        else:
            import matplotlib.pyplot as plt  # slow to load

            figure = draw()
            figure.savefig(temporary, format=file.suffix[1:], dpi=200)
            plt.close(figure)
    return file


def write_parquet(table: pd.DataFrame, metadata: dict[str, Any], notes: Sequence[str], file: str | Path) -> Path:
    """Write a table to a Parquet file that pandas, DuckDB and R read, under a temporary name first.

    Args:
        table: The table.
        metadata: Its description, in the types that JSON knows.
        notes: Sentences; each keeps its kind and value (:class:`affscore.network.Note`).
        file: A name that ends in .parquet.

    Returns:
        The path.

    Raises:
        AffscoreError: Another ending, or a place that cannot be written.
    """
    path = check_destination(file)
    about = {"metadata": metadata, "notes": [Note.of(note).stored() for note in notes], "format": FORMAT}
    # without the description that pandas would add for itself, which is longer than all the rest
    rows = pa.Table.from_pandas(table, preserve_index=False)
    rows = rows.replace_schema_metadata({_KEY: json.dumps(about, sort_keys=True).encode()})
    repeat = [one.name for one in rows.schema if pa.types.is_large_string(one.type) or pa.types.is_integer(one.type)]
    with guarding(f"{path.name!r} could not be written", only=OSError), atomic_write(path) as part:
        pq.write_table(rows, part, use_dictionary=repeat or False, write_page_checksum=True, write_statistics=False)
    return path


def alike(one: Any, other: Any, rows: str = "table") -> bool:
    """Whether two results are equal, as files hold them: NaN is equal to NaN, and a tuple to a list.

    Args:
        one: A result, with ``metadata`` and ``notes``.
        other: Another one of its kind.
        rows: The attribute that is the table.
    """
    said = (json.dumps([result.metadata, result.notes], sort_keys=True, default=repr) for result in (one, other))
    return next(said) == next(said) and getattr(one, rows).equals(getattr(other, rows))


def read_parquet(path: str | Path, what: str, check: Callable[[pd.DataFrame, dict[str, Any]], None]) -> Contents:
    """Table, metadata and notes of a file that :func:`write_parquet` wrote.

    Args:
        path: The file.
        what: What the file should be, for the message.
        check: Looks at table and metadata; where it fails, by :class:`ForeignError` or otherwise, the file is not one
            of ours.

    Raises:
        AffscoreError: No such file, not Parquet, not ours, of a newer version, or damaged.
    """
    path = readable_file(path)
    problem = "is not a Parquet file that can be read"
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(use_threads=False)
        problem = f"is Parquet, but not a {what} that affscore wrote"
        about = json.loads(table.schema.metadata[_KEY])
        if _numbers(stated := about.get("format", FORMAT)) > _numbers(FORMAT):
            problem = f"was written by a newer affscore (its format is {stated}, this version reads {FORMAT})"
            raise ForeignError("update affscore")
        rows, metadata = table.to_pandas(ignore_metadata=True), dict(about["metadata"])
        if "pairing_optimal" in rows:
            rows["pairing_optimal"] = rows["pairing_optimal"].astype("boolean")  # true, false, or not looked at
        kind = next((kind for entry, kind in _KINDS.items() if entry in metadata), what)
        if kind != what and what in _KINDS.values():
            raise ForeignError(f"it holds a {kind} (affscore.load_{kind})")
        check(rows, metadata)
        return rows, metadata, [Note.of(stored) for stored in about["notes"]]
    except Exception as error:  # pyarrow's own or Python's: a damaged or foreign file can hold anything in any place
        if isinstance(error, PermissionError):
            problem = "may not be read (Permission denied)"
        reason = f": {error}" if isinstance(error, ForeignError) else ""
        raise AffscoreError(f"the file {path.name!r} {problem}{reason}") from error


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def read_description(path: Path) -> dict[str, Any]:
    """The metadata of a table, of which no row is read; empty where the file is none of ours."""
    with suppress(Exception):  # anything, of a foreign or damaged file; reading its rows will raise
        return dict(json.loads(pq.read_metadata(path).metadata[_KEY])["metadata"])
    return {}
