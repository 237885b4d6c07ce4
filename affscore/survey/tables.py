"""What is in a store: its results as one table, or each of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import pandas as pd

from affscore.errors import AffscoreError, AffscoreWarning
from affscore.network.criteria import COLUMNS
from affscore.network.multiverse import Multiverse, load_result
from affscore.network.result import Signature
from affscore.survey.job import last_of_each
from affscore.survey.store import Store

Result = TypeVar("Result", bound=Signature | Multiverse)


def load_results(path: str | Path) -> pd.DataFrame:
    """All rows of all signatures in a store (of multiverses there are :func:`stored_multiverses`).

    Args:
        path: The folder of a store.

    Returns:
        A table with the columns of a signature's (criteria that were not measured are missing, and so is what an older
        version did not measure), a row for each network, data set, activation and batch; ``units`` says whether it is
        of "activations" or of "blocks", and the last column, ``job``, is the key of the result that a row is from.
        Of results that a survey was asked for in the same words the last one counts: files of weights or images have
        changed between them, or one is a copy.

    Warns:
        AffscoreWarning: There are results that do not count; their names, and what has changed since.

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (the message names it).
    """
    return _as_table(_read_all(path, Signature))


def stored_signatures(path: str | Path, required: bool = True) -> list[Signature]:
    """All signatures in a store.

    Args:
        path: The folder of a store.
        required: Whether it is an error that there are none.

    Returns:
        The signatures, in the order of the names of their files; which of them count is as in :func:`load_results`.

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (the message names it).
    """
    return [*_read_all(path, Signature, required=required).values()]


def stored_multiverses(path: str | Path, required: bool = True) -> list[Multiverse]:
    """All multiverses in a store.

    Args:
        path: The folder of a store.
        required: Whether it is an error that there are none.

    Returns:
        The multiverses, in the order of the names of their files.

    Raises:
        AffscoreError: As :func:`stored_signatures`.
    """
    return [*_read_all(path, Multiverse, required=required).values()]


def _as_table(results: Mapping[str, Signature]) -> pd.DataFrame:
    """The rows of results by their keys, columns in their order; the last one is the key."""
    units = {key: one.metadata.get("units", "activations") for key, one in results.items()}  # old files say none
    table = pd.concat([one.rows.assign(units=units[key], job=key) for key, one in results.items()], ignore_index=True)
    known = [name for name in COLUMNS if name in table and name != "seconds"]
    others = [name for name in table.columns if name not in {*known, "seconds", "job"}]
    return table[[*known, *others, "seconds", "job"]]


def _read_all(path: str | Path, kind: type[Result], required: bool = True) -> dict[str, Result]:
    """The results of this kind in a store, by their keys; of those asked for in the same words the last one."""
    store, found = Store(path), dict[str, Result]()
    several, (_, older) = kind is Multiverse, last_of_each(described := store.descriptions())
    for file in store.files():
        if file not in older:
            try:
                one = load_result(file)
            except AffscoreError as error:
                raise AffscoreError(f"{error}; move it out of the store") from error
            if isinstance(one, kind):
                found[str(one.metadata.get("key", file.stem))] = one
    if required and not found:
        what, how = ("multiverse", "--multiverse mean,sample ") if several else ("signature", "")
        raise AffscoreError(
            f"there is no {what} in the folder {str(path)!r}; make some with: affscore survey ... {how}--store {path}"
        )
    if named := [text for file, text in older.items() if ("multiverse" in described[file]) == several]:
        text = f"results that do not count, since the store has a later one of the same name: {', '.join(named)}"
        warnings.warn(text, AffscoreWarning, stacklevel=3)
    return found
