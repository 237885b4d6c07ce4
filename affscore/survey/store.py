"""A folder of tables by their keys, each with its description, and, hidden, what is not finished.

A store knows nothing of what is in its tables: signatures are kept in one, and anything else that has a key.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from filelock import FileLock, Timeout

from affscore.errors import AffscoreError, os_errors
from affscore.network.parquet import read_description, write_parquet
from affscore.survey.parts import Parts
from affscore.zoo.paths import as_path, check_name

HIDDEN = ".affscore"
_KEY = re.compile("[0-9a-f]{16}")

Loaded = TypeVar("Loaded")


class Store:
    """A folder of tables.

    ``NAME-KEY.parquet`` is a finished table; what is in ``.affscore/KEY`` belongs to a key that is not finished: its
    lock, its finished parts, and files that are being written. A file is never changed once it has its name, and a
    file that is not ours is never touched.

    Args:
        folder: The folder.
        create: Whether to make it when it is missing.

    Raises:
        AffscoreError: It is missing, or no folder, or cannot be made.
    """

    def __init__(self, folder: str | Path, create: bool = False) -> None:
        if not str(folder):
            raise AffscoreError("the store needs the path of a folder, got an empty one")
        check_name(str(folder))
        self.folder = as_path(folder)
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

    def find(self, key: str) -> Path | None:
        """The file with this key in its name, if there is one; it may be damaged."""
        return next((path for path in self.files() if path.stem.endswith(f"-{key}")), None)

    def load(self, key: str, read: Callable[[Path], Loaded]) -> Loaded | None:
        """What is stored under this key, or None where nothing is.

        Args:
            key: The key.
            read: Reads a file.

        Raises:
            AffscoreError: There is a file in its place that is something else; it is left as it is.
        """
        path = self.find(key)
        if path is None:
            return None
        try:
            found = read(path)
            if read_description(path).get("key") != key:
                raise AffscoreError(f"the file {path.name!r} is not the result of the job in its name")
        except AffscoreError as error:
            raise AffscoreError(
                f"{error}; it stands where the result of this job belongs: move it out of the store and run again"
            ) from error
        return found

    def add(self, key: str, name: str, table: pd.DataFrame, metadata: dict[str, Any], notes: list[str]) -> Path:
        """Add a table whose lock this process holds, and remove its parts.

        Args:
            key: The key, which becomes a part of the metadata, too.
            name: How the name of the file begins.
            table: The table.
            metadata: Its description, in the types that JSON knows.
            notes: Sentences.

        Raises:
            AffscoreError: It cannot be written.
        """
        parts, path = self.parts(key), self.folder / f"{name}-{key}.parquet"
        with os_errors(lambda reason: f"the result could not be written to {path.name!r}: {reason}"):
            write_parquet(table, {**metadata, "key": key}, notes, path, parts.folder)
        parts.remove()
        return path

    def parts(self, key: str) -> Parts:
        """What is finished of this key.

        Raises:
            AffscoreError: A link stands in its place, whose files are of somebody else.
        """
        place = self.folder / HIDDEN / key
        for path in (place.parent, place):
            if path.is_symlink():
                raise AffscoreError(
                    f"{path.relative_to(self.folder)} of the store {self.folder.name!r} is a link, which is not "
                    "followed; remove it"
                )
        return Parts(place)

    @contextlib.contextmanager
    def lock(self, key: str, wait: bool = False) -> Iterator[bool]:
        """Hold the right to work on this key; whether it was got, since at most one process has it.

        The kernel lets go of it when the process ends, however that ends. Whoever holds it may remove the folder of
        the key with the lock in it: others that wait for it make a new one.

        Args:
            key: The key.
            wait: Whether to wait until another process lets go.

        Raises:
            AffscoreError: The folder cannot be made or locked.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = Store(folder)
        ...     with store.lock("a") as first, store.lock("a") as second:
        ...         first, second, store.is_running("a")
        (True, False, True)
        """
        place = self.parts(key).folder
        lock = FileLock(place / Parts.LOCK, blocking=wait, fallback_to_soft=False)
        what = f"the folder {HIDDEN}/{key} of the store cannot be locked"
        needs = "the store needs a file system that may be written to and knows flock"
        refused = os_errors(lambda reason: f"{what} ({reason}); {needs}")
        with refused, contextlib.suppress(Timeout):  # another process holds it
            while not lock.is_locked:
                place.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(FileNotFoundError):  # the folder was removed meanwhile
                    lock.acquire()
        try:
            yield lock.is_locked
        finally:
            lock.release()

    def is_running(self, key: str) -> bool:
        """Whether a process works on this key, at this moment; nothing is written to find out."""
        try:
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(self.parts(key).folder / Parts.LOCK, flags)
        except OSError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return isinstance(error, BlockingIOError)
        finally:
            os.close(file)
        return False

    def unfinished(self) -> dict[str, Parts]:
        """What was begun and is not finished, by its keys."""
        found = {}
        with contextlib.suppress(OSError):
            for path in sorted((self.folder / HIDDEN).iterdir()):
                with contextlib.suppress(AffscoreError):  # a link
                    if _KEY.fullmatch(path.name):
                        found[path.name] = self.parts(path.name)
        return found

    def tidy(self) -> None:
        """Remove what killed processes left and nobody needs: half-written files, and parts of what is finished."""
        for key, parts in self.unfinished().items():
            with contextlib.suppress(AffscoreError), self.lock(key) as held:  # a store may be there to be read only
                if not held:
                    continue
                parts.drop_unwritten()
                path = self.find(key)
                if parts.count() == 0 or (path is not None and read_description(path).get("key") == key):
                    parts.remove()
        with contextlib.suppress(OSError):
            (self.folder / HIDDEN).rmdir()
