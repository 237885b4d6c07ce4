"""The results of a store as one table."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError, AffscoreWarning, os_errors
from affscore.network.files import atomic_write, check_destination
from affscore.network.result import Signature, load_signature
from affscore.network.table import without_formulas
from affscore.survey.shipped import SHIPPED
from affscore.survey.store import Store


def load_results(path: str | Path | None = None) -> pd.DataFrame:
    """All rows of all results in a store.

    Args:
        path: The folder of a store; None for the results that come with the package.

    Returns:
        A table with the columns of a signature's (criteria that were not measured are missing), a row for
        each network, data set, activation and batch; the last column, ``job``, is the key of the result that
        a row is from. Copies of a result, which have the same key, count once.

    Warns:
        AffscoreWarning: There are copies; their names.

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (the message names it).
    """
    tables = [found.table.assign(job=key) for key, (_, found) in _read_all(path).items()]
    table = pd.concat(tables, ignore_index=True)
    return table[[*(name for name in table.columns if name not in ("seconds", "job")), "seconds", "job"]]


def stored_signatures(path: str | Path | None = None) -> list[Signature]:
    """All results in a store, each as the signature that was measured.

    Args:
        path: The folder of a store; None for the results that come with the package.

    Returns:
        The signatures, in the order of the names of their files, and once where there are copies (with a warning).

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (the message names it).

    >>> stored_signatures()[0].metadata["model"]
    'alexnet'
    """
    return [found for _, found in _read_all(path).values()]


def export(folder: str | Path, file: str | Path) -> Path:
    """Write all rows of a store to one file.

    Args:
        folder: The folder of the store.
        file: A file name that ends in .csv or .parquet; outside the store, where it would be taken for a result.

    Returns:
        The file.

    Raises:
        AffscoreError: As :func:`load_results`; another ending; a place that cannot be written.
    """
    file = Path(file)
    check_destination(file, (".csv", ".parquet"))
    if file.absolute().parent.resolve() == Path(folder).resolve():
        raise AffscoreError(f"{file.name!r} would lie among the results of the store; choose another folder")
    return write_table(load_results(folder), file)


def write_table(table: pd.DataFrame, file: Path) -> Path:
    """Write a table without its index to a .csv or .parquet file, as a whole or not at all.

    In a .csv file text that a spreadsheet would take for a formula has an apostrophe in front.

    Raises:
        AffscoreError: It cannot be written.
    """
    refused = os_errors(lambda reason: f"the table could not be written to {file.name!r}: {reason}")
    with refused, atomic_write(file) as temporary:
        if file.suffix == ".csv":
            without_formulas(table).to_csv(temporary, index=False)
        else:
            table.to_parquet(temporary, index=False)
    return file


def _read_all(path: str | Path | None) -> dict[str, tuple[Path, Signature]]:
    if path is None and not (SHIPPED.is_dir() and Store(SHIPPED).files()):
        raise AffscoreError(
            "this version of the package comes without results; give the folder of a store, as written by: "
            "affscore survey ... --store DIR"
        )
    found, problems, copies = read_all(Store(SHIPPED if path is None else path))
    for error in problems.values():
        raise AffscoreError(f"{error}; move it out of the store (affscore store verify names all)") from error
    if not found:
        raise AffscoreError(
            f"there is no result in the folder {str(path)!r}; make some with: affscore survey ... --store {path}"
        )
    if copies:
        pairs = "; ".join(f"{copy.name!r} and {first.name!r}" for copy, first in copies.items())
        text = f"files with the same key are one result, and count once: {pairs}"
        warnings.warn(text, AffscoreWarning, stacklevel=3)
    return found


def read_all(
    store: Store,
) -> tuple[dict[str, tuple[Path, Signature]], dict[Path, AffscoreError], dict[Path, Path]]:
    """The results of a store by their keys; why other files are none; and copies, with the file that counts."""
    found, problems, copies = dict[str, tuple[Path, Signature]](), dict[Path, AffscoreError](), dict[Path, Path]()
    for file in store.files():
        try:
            result = load_signature(file)
        except AffscoreError as error:
            problems[file] = error
            continue
        key = str(result.metadata.get("key", file.stem))  # a file that no survey wrote has none
        if key in found:
            copies[file] = found[key][0]
        found.setdefault(key, (file, result))
    return found, problems, copies
