"""A folder of results: one Parquet file for each job, and, hidden, what is not finished."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from affscore.errors import AffscoreError
from affscore.network.files import write_signature
from affscore.network.result import Signature, load_signature
from affscore.survey.checkpoints import Checkpoints
from affscore.survey.job import DescribedJob
from affscore.survey.lock import FolderLock
from affscore.zoo.paths import as_path, check_name

__all__ = ["Store", "key_in"]

HIDDEN = ".affscore"
_KEY = re.compile("[0-9a-f]{16}")


def key_in(path: Path, result: Signature) -> str:
    """The key that a result carries; a file that no survey wrote has none, and its name stands for it."""
    return str(result.metadata.get("key", path.stem))


class Store:
    """A folder of results.

    ``NAME-KEY.parquet`` is a finished result; what is in ``.affscore/KEY`` belongs to the job with this key
    that is not finished: its lock, its finished batches, and files that are being written. A file is never
    changed once it has its name, and a file that is no result is never touched.

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
        try:
            if create:
                self.folder.mkdir(parents=True, exist_ok=True)
            exists = self.folder.is_dir()
        except OSError as error:
            raise AffscoreError(f"the store {str(folder)!r} cannot be made ({error.strerror or error})") from error
        if not exists:
            what = "a file, not a folder" if self.folder.exists() else "no folder"
            raise AffscoreError(f"there is {what} {str(folder)!r}; a store is a folder of results")

    def files(self) -> list[Path]:
        """Everything that should be a result, sorted by name.

        Raises:
            AffscoreError: The folder may not be read.
        """
        try:
            entries = sorted(self.folder.iterdir())
        except OSError as error:
            raise AffscoreError(f"the store {self.folder.name!r} cannot be read ({error.strerror or error})") from error
        return [path for path in entries if path.suffix == ".parquet" and not path.name.startswith(".")]

    def file_of(self, key: str) -> Path | None:
        """The file of the job with this key, if there is one; it may be damaged."""
        return next((path for path in self.files() if path.stem.endswith(f"-{key}")), None)

    def result_of(self, key: str) -> Signature | None:
        """The result of the job with this key, or None where there is none.

        Raises:
            AffscoreError: There is a file in its place that is not that result; it is left as it is.
        """
        path = self.file_of(key)
        if path is None:
            return None
        try:
            found = load_signature(path)
            if found.metadata.get("key") != key:
                raise AffscoreError(f"the file {path.name!r} is not the result of the job in its name")
        except AffscoreError as error:
            raise AffscoreError(
                f"{error}; it stands where the result of this job belongs: move it out of the store and run again"
            ) from error
        return found

    def checkpoints(self, key: str) -> Checkpoints:
        """What is finished of the job with this key."""
        return Checkpoints(self._place(key))

    def _place(self, key: str) -> Path:
        """The folder of what is not finished of a job.

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
        return place

    def lock(self, key: str, wait: bool = False) -> FolderLock:
        """The right to work on the job with this key."""
        return FolderLock(self._place(key), wait)

    def add(self, job: DescribedJob, result: Signature) -> Path:
        """Add the result of a job whose lock this process holds, and remove its checkpoints."""
        checkpoints = self.checkpoints(job.key)
        path = write_signature(result, self.folder / job.file_name, aside=checkpoints.folder)
        checkpoints.remove()
        return path

    def unfinished(self) -> dict[str, Checkpoints]:
        """The jobs that were begun and are not finished, by their keys."""
        try:
            names = sorted(path.name for path in (self.folder / HIDDEN).iterdir() if _KEY.fullmatch(path.name))
        except OSError:
            return {}
        found = {}
        for key in names:
            with contextlib.suppress(AffscoreError):  # a link
                found[key] = self.checkpoints(key)
        return found

    def is_running(self, key: str) -> bool:
        """Whether a process works on the job with this key, at this moment; nothing is written to find out."""
        return FolderLock.is_held(self._place(key))

    def _is_done(self, key: str) -> bool:
        """Whether the result of this job is there; a file in its place that is another does not count."""
        with contextlib.suppress(AffscoreError):
            return self.result_of(key) is not None
        return False

    def tidy(self) -> None:
        """Remove what killed processes left and nobody needs: half-written files, and checkpoints of finished jobs."""
        for key, checkpoints in self.unfinished().items():
            with contextlib.suppress(AffscoreError), self.lock(key) as lock:  # a store may be there to be read only
                if not lock.held:
                    continue
                checkpoints.drop_parts()
                if checkpoints.count() == 0 or self._is_done(key):
                    checkpoints.remove()
        with contextlib.suppress(OSError):
            (self.folder / HIDDEN).rmdir()
