"""A folder of results, each a Parquet file with its description; ``pandas.read_parquet`` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from affscore.errors import AffscoreError, guarding
from affscore.network.criteria import COLUMNS
from affscore.network.multiverse import Multiverse, load_result
from affscore.network.parquet import read_description
from affscore.network.result import Signature

Result = TypeVar("Result", bound=Signature | Multiverse)


class Store:
    """A folder of tables: signatures, or anything else that has a description.

    Args:
        folder: The folder.
        create: Whether to make it when it is missing.

    Raises:
        AffscoreError: It is missing, or no folder, or cannot be made.
    """

    def __init__(self, folder: str | Path, create: bool = False) -> None:
        if not isinstance(folder, str | Path) or not str(folder):
            raise AffscoreError(f"a store needs the path of a folder, got {folder!r}")
        self.folder = Path(folder)
        with guarding(f"the store {str(folder)!r} cannot be made", only=OSError):
            if create:
                self.folder.mkdir(parents=True, exist_ok=True)

    def files(self) -> list[Path]:
        """Everything that should be a table, sorted by name.

        Raises:
            AffscoreError: The folder may not be read.
        """
        with guarding(f"the store {self.folder.name!r} cannot be read", only=OSError):
            entries = sorted(self.folder.iterdir())
        return [path for path in entries if path.suffix == ".parquet" and not path.name.startswith(".")]

    def descriptions(self) -> dict[Path, dict[str, Any]]:
        """The metadata of every table; no row is read. What is damaged or not ours is left out."""
        return {path: metadata for path in self.files() if (metadata := read_description(path))}


def load_results(path: str | Path) -> pd.DataFrame:
    """All rows of all signatures in a store (of multiverses there are :func:`stored_multiverses`).

    Args:
        path: The folder of a store.

    Returns:
        A table with the columns of a signature's (criteria that were not measured are missing, and so is what an older
        version did not measure), a row for each network, data set, activation and batch; ``units`` says whether it is
        of "activations" or of "blocks", and the last column, ``job``, is the key of the result that a row is from.

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (the message names it).
    """
    found = _read_all(path, Signature)
    if not found:
        raise AffscoreError(f"there is no signature in {str(path)!r}; make some: affscore survey ... --store {path}")
    units = {key: one.metadata.get("units", "activations") for key, one in found.items()}  # old files say none
    table = pd.concat([one.table.assign(units=units[key], job=key) for key, one in found.items()], ignore_index=True)
    names = [name for name in dict.fromkeys([*COLUMNS, *table]) if name in table and name not in ("seconds", "job")]
    return table[[*names, "seconds", "job"]]


def stored_signatures(path: str | Path) -> list[Signature]:
    """All signatures in a store.

    Args:
        path: The folder of a store.

    Returns:
        The signatures, in the order of the names of their files.

    Raises:
        AffscoreError: No such folder, or a file in it that is no result (the message names it).
    """
    return [*_read_all(path, Signature).values()]


def stored_multiverses(path: str | Path) -> list[Multiverse]:
    """All multiverses in a store.

    Args:
        path: The folder of a store.

    Returns:
        The multiverses, in the order of the names of their files.

    Raises:
        AffscoreError: As :func:`stored_signatures`.
    """
    return [*_read_all(path, Multiverse).values()]


def _read_all(path: str | Path, kind: type[Result]) -> dict[str, Result]:
    """The results of this kind in a store, by their keys."""
    found = dict[str, Result]()
    for file in Store(path).files():
        try:
            one = load_result(file)
        except AffscoreError as error:
            raise AffscoreError(f"{error}; move it out of the store") from error
        if isinstance(one, kind):
            found[str(one.metadata.get("key", file.stem))] = one
    return found
