"""A folder of tables, each a Parquet file NAME-KEY.parquet with its description; ``pandas.read_parquet`` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError, os_errors
from affscore.network.parquet import read_description, write_parquet


class Store:
    """A folder of tables: signatures, or anything else that has a key.

    Args:
        folder: The folder.
        create: Whether to make it when it is missing.

    Raises:
        AffscoreError: It is missing, or no folder, or cannot be made.
    """

    def __init__(self, folder: str | Path, create: bool = False) -> None:
        if not str(folder):
            raise AffscoreError("the store needs the path of a folder, got an empty one")
        self.folder = Path(folder)
        with os_errors(lambda reason: f"the store {str(folder)!r} cannot be made ({reason})"):
            if create:
                self.folder.mkdir(parents=True, exist_ok=True)
            if not self.folder.is_dir():
                what = "a file, not a folder" if self.folder.exists() else "no folder"
                raise AffscoreError(f"there is {what} {str(folder)!r}; a store is a folder of results")

    def files(self) -> list[Path]:
        """Everything that should be a table, sorted by name.

        Raises:
            AffscoreError: The folder may not be read.
        """
        with os_errors(lambda reason: f"the store {self.folder.name!r} cannot be read ({reason})"):
            entries = sorted(self.folder.iterdir())
        return [path for path in entries if path.suffix == ".parquet" and not path.name.startswith(".")]

    def descriptions(self) -> dict[Path, dict[str, Any]]:
        """The metadata of every table; no row is read. What is damaged or not ours is left out."""
        return {path: metadata for path in self.files() if (metadata := read_description(path))}

    def add(self, key: str, name: str, table: pd.DataFrame, metadata: dict[str, Any], notes: Sequence[str]) -> Path:
        """Add a table, in the place of one with its name and key.

        It is written under another name first. Where two processes add the same one, that of the last is there.

        Args:
            key: The key, which becomes a part of the metadata, too.
            name: How the name of the file begins.
            table: The table.
            metadata: Its description, in the types that JSON knows.
            notes: Sentences.

        Raises:
            AffscoreError: It cannot be written.
        """
        return write_parquet(table, {**metadata, "key": key}, notes, self.folder / f"{name}-{key}.parquet")
