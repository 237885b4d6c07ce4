"""The results of a store as one table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from affscore.survey.aside import written_aside
from affscore.survey.files import check_destination, read_signature
from affscore.survey.shipped import SHIPPED
from affscore.survey.store import Store

__all__ = ["export", "load_results"]


def load_results(path: str | Path | None = None) -> pd.DataFrame:
    """All rows of all results in a store.

    Args:
        path: The folder of a store; None for the results that come with the package.

    Returns:
        A table with the columns of a signature's (criteria that were not measured are missing), a row for
        each network, data set, activation and batch; the last column, ``job``, is the key of the result that
        a row is from.

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (its name is told).
    """
    if path is None and not SHIPPED.is_dir():
        raise AffscoreError(
            "this version of the package comes without results; give the folder of a store, as written by: "
            "affscore survey ... --store DIR"
        )
    store = Store(SHIPPED if path is None else path)
    files = store.files()
    if not files:
        raise AffscoreError(
            "this version of the package comes without results; give the folder of a store"
            if path is None
            else f"there is no result in the folder {str(path)!r}; make some with: affscore survey ... --store {path}"
        )
    tables = []
    for file in files:
        try:
            found = read_signature(file)
        except AffscoreError as error:
            raise AffscoreError(f"{error}; move it out of the store (affscore store verify names all)") from error
        tables.append(found.table.assign(job=str(found.metadata.get("key", file.stem))))
    table = pd.concat(tables, ignore_index=True)
    return table[[*(name for name in table.columns if name not in ("seconds", "job")), "seconds", "job"]]


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
    table = load_results(folder)
    try:
        with written_aside(file) as temporary:
            if file.suffix == ".csv":
                table.to_csv(temporary, index=False)
            else:
                table.to_parquet(temporary, index=False)
    except OSError as error:
        raise AffscoreError(f"the table could not be written to {file.name!r}: {error.strerror or error}") from error
    return file
