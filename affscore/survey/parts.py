"""The finished parts of a key that is not finished: what a killed process leaves to the one that takes it up."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError, os_errors
from affscore.network.files import PART
from affscore.network.parquet import read_parquet, write_parquet

_NAME = re.compile(r"part-(\d{6,})\.parquet|batch-\d{6,}\.json")  # the latter by older versions, which read them


class Parts:
    """A folder with a Parquet file for each finished part of one key, by its number.

    Only the process that holds the lock of the key (:meth:`affscore.survey.store.Store.lock`) writes or removes
    anything here.

    Args:
        folder: The folder; it need not exist.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = Parts(Path(folder))
    ...     parts.write(0, [{"epoch": 0, "loss": 0.5}], {"seconds": 3})
    ...     parts.count(), parts.read()
    (1, {0: ([{'epoch': 0, 'loss': 0.5}], {'seconds': 3})})
    """

    LOCK = "lock"
    BEGUN = "begun"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def count(self) -> int:
        """How many parts are finished, those of older versions included; safe without the lock."""
        return len(self._finished())

    def read(self) -> dict[int, tuple[list[Any], dict[str, Any]]]:
        """The finished parts by their numbers, as they were written, without those that are damaged."""
        found = {}
        for path in sorted(self._finished()):
            if path.suffix == ".parquet" and not path.is_symlink():
                with contextlib.suppress(AffscoreError):
                    rows, about, _ = read_parquet(path)
                    found[int(path.stem.removeprefix("part-"))] = rows.to_dict("records"), about
        return found

    def write(self, number: int, rows: list[Any], about: dict[str, Any]) -> None:
        """Add a finished part, in the place of one with its number.

        Args:
            number: Its number.
            rows: Those of a table.
            about: What else is known of it, in the types that JSON knows.

        Raises:
            AffscoreError: It cannot be written; the disk is full, say.
        """
        kept = "what was finished before is kept, and the same command goes on from there"
        with os_errors(lambda reason: f"part {number} could not be written to the store: {reason}; {kept}"):
            write_parquet(pd.DataFrame(rows), about, [], self.folder / f"part-{number:06d}.parquet")

    def drop(self) -> None:
        """Forget all parts."""
        for path in self._finished():
            path.unlink(missing_ok=True)

    def drop_unwritten(self) -> None:
        """Remove files that a killed process did not finish writing."""
        for path in self._entries():
            with contextlib.suppress(OSError):
                if path.name.endswith(PART):
                    path.unlink()

    def remove(self) -> None:
        """Remove the folder with all that this package wrote there, the lock last; what else is in it stays."""
        self.drop_unwritten()
        with contextlib.suppress(OSError):
            self.drop()
            for name in (self.BEGUN, self.LOCK):
                (self.folder / name).unlink(missing_ok=True)
            self.folder.rmdir()

    def begin(self, run: str) -> int:
        """Note that a process of this run takes the key up; how many of that run did so before."""
        path = self.folder / self.BEGUN
        with os_errors(lambda reason: f"the store cannot be written to ({reason})"):
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise OSError(f"{path.name!r} is a link, which is not followed, a pipe or a device")
            with path.open("a+", encoding="utf-8", errors="replace") as stream:
                stream.seek(0)
                before = stream.read().split().count(run)
                stream.write(f"{run}\n")
        return before

    def begun_by(self, run: str) -> bool:
        """Whether a process of this run has taken the key up and not finished it; safe without the lock."""
        try:
            path = self.folder / self.BEGUN
            return path.is_file() and run in path.read_text(encoding="utf-8", errors="replace").split()
        except OSError:
            return False

    def _finished(self) -> list[Path]:
        return [path for path in self._entries() if _NAME.fullmatch(path.name)]

    def _entries(self) -> list[Path]:
        try:
            return list(self.folder.iterdir())
        except OSError:
            return []
