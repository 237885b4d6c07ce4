"""A lock that dies with its process: nobody has to clean up after one that was killed."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from affscore.errors import AffscoreError

__all__ = ["FolderLock"]


class FolderLock:
    """The right to write into a folder, which is made when it is missing; at most one process has it.

    The kernel lets go of it when the process ends, however that ends. Whoever holds it may remove the
    folder and the lock file in it: others that wait for it notice, and make a new one.

    Args:
        folder: The folder.
        wait: Whether to wait until another process lets go.

    Attributes:
        held: Whether the lock was got.

    Raises:
        AffscoreError: The folder cannot be made or locked.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with FolderLock(Path(place) / "job") as first, FolderLock(Path(place) / "job") as second:
    ...         first.held, second.held
    (True, False)
    """

    FILE = "lock"

    def __init__(self, folder: Path, wait: bool = False) -> None:
        self.folder = folder
        self._file: int | None = None
        mode = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            while self._file is None:
                self._file = self._attempt(mode)
        except BlockingIOError:
            pass
        except OSError as error:
            raise AffscoreError(
                f"the folder {folder.parent.name}/{folder.name} of the store cannot be locked "
                f"({error.strerror or error}); the store needs a file system that may be written to and knows flock"
            ) from error

    @classmethod
    def is_held(cls, folder: Path) -> bool:
        """Whether a process has the lock of a folder, which need not be there, nor be one to write to."""
        try:
            file = os.open(folder / cls.FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            os.close(file)
        return False

    @property
    def held(self) -> bool:
        """Whether the lock was got."""
        return self._file is not None

    def release(self) -> None:
        """Let go of the lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _attempt(self, mode: int) -> int | None:
        """A locked file, or None where it was removed before it was locked."""
        path = self.folder / self.FILE
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            return None  # the folder was removed meanwhile
        try:
            fcntl.flock(file, mode)
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        return None
