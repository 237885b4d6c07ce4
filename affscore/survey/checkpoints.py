"""The finished batches of a job that is not finished: what a killed job leaves to the one that takes it up."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError
from affscore.network.aside import PART, written_aside
from affscore.network.result import provenance
from affscore.network.scorers import Batch
from affscore.survey.lock import FolderLock

__all__ = ["Checkpoint", "Checkpoints"]

_NAME = re.compile(r"batch-(\d{6,})\.json")


@dataclass(frozen=True)
class Checkpoint:
    """A batch, and under what it was measured.

    Attributes:
        batch: The batch.
        conditions: What belongs to no job, and may change the last digit: device, threads, batch_size.
    """

    batch: Batch
    conditions: dict[str, Any]


class Checkpoints:
    """A folder with a file for each finished batch of one job.

    Only the process that holds the folder's lock (:class:`affscore.survey.lock.FolderLock`) writes or
    removes anything here.

    Args:
        folder: The folder; it need not exist.
    """

    BEGUN = "begun"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def count(self) -> int:
        """How many batches are finished; safe without the lock."""
        return sum(1 for path in self._entries() if _NAME.fullmatch(path.name))

    def read(self) -> list[Checkpoint]:
        """The finished batches from the first one on, up to one that is missing, damaged or of other versions.

        A file is damaged where its checksum is another one. Versions count because the bits of a number
        depend on those of PyTorch and NumPy.
        """
        found: list[Checkpoint] = []
        while (content := self._content(len(found))) is not None:
            found.append(Checkpoint(Batch(**content["batch"]), content["conditions"]))
        return found

    def write(self, checkpoint: Checkpoint) -> None:
        """Add a finished batch.

        Raises:
            AffscoreError: It cannot be written; the disk is full, say.
        """
        batch = checkpoint.batch
        rows = [{name: value for name, value in row.items() if name != "sample_costs"} for row in batch.rows]
        content = {
            "batch": {**asdict(replace(batch, rows=[])), "rows": rows},
            "conditions": checkpoint.conditions,
            "versions": provenance()["versions"],
        }
        text = json.dumps(content)  # unsorted: rows keep the order of their columns
        path = self._path(batch.number)
        try:
            with written_aside(path) as temporary:
                temporary.write_text(f"{_checksum(text)}\n{text}\n", encoding="utf-8")
        except OSError as error:
            raise AffscoreError(
                f"batch {batch.number} could not be written to the store: {error.strerror or error}; "
                "what was finished before is kept, and the same command goes on from there"
            ) from error

    def drop(self, first: int = 0) -> None:
        """Forget the batches from this number on."""
        for path in self._entries():
            name = _NAME.fullmatch(path.name)
            if name and int(name.group(1)) >= first:
                path.unlink(missing_ok=True)

    def drop_parts(self) -> None:
        """Remove files that a killed process did not finish writing."""
        for path in self._entries():
            if path.name.endswith(PART):
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder with all that this package wrote there, the lock last; what else is in it stays."""
        self.drop_parts()
        with contextlib.suppress(OSError):
            self.drop()
            (self.folder / self.BEGUN).unlink(missing_ok=True)
            (self.folder / FolderLock.FILE).unlink(missing_ok=True)
            self.folder.rmdir()

    def begin(self, run: str) -> int:
        """Note that a process of this run of a survey takes the job up; how many of that run did so before."""
        path = self.folder / self.BEGUN
        try:
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise OSError(f"{path.name!r} is a link, which is not followed, a pipe or a device")
            with path.open("a+", encoding="utf-8") as stream:
                stream.seek(0)
                before = stream.read().split().count(run)
                stream.write(f"{run}\n")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise AffscoreError(f"the store cannot be written to ({reason})") from error
        return before

    def begun_by(self, run: str) -> bool:
        """Whether a process of this run has taken the job up and not finished it; safe without the lock."""
        try:
            path = self.folder / self.BEGUN
            return path.is_file() and run in path.read_text(encoding="utf-8", errors="replace").split()
        except OSError:
            return False

    def _path(self, number: int) -> Path:
        return self.folder / f"batch-{number:06d}.json"

    def _entries(self) -> list[Path]:
        try:
            return list(self.folder.iterdir())
        except OSError:
            return []

    def _content(self, number: int) -> dict[str, Any] | None:
        path = self._path(number)
        if not path.is_file():
            return None
        try:
            checksum, text, *_ = path.read_text(encoding="utf-8").split("\n")
            if checksum != _checksum(text):
                return None
            content = json.loads(text)
            same = content["versions"] == provenance()["versions"] and content["batch"]["number"] == number
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return content if same else None


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
