"""One job of a survey, from the moment a process takes it up until its result is in the store."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from affscore.errors import AffscoreError, first_line
from affscore.network.measurement import BatchesOfAnotherRunError, measure
from affscore.network.result import Signature
from affscore.survey.checkpoints import Checkpoint, Checkpoints
from affscore.survey.job import DescribedJob, describe
from affscore.survey.store import Store
from affscore.zoo.card import ONE_AT_A_TIME

__all__ = ["Outcome", "State", "Work", "outcome_of_error", "run_job"]

State = Literal["measured", "there", "busy", "failed"]

ATTEMPTS = 3
"""A job whose process has died this often in one survey is not taken up again."""


@dataclass(frozen=True)
class Work:
    """How jobs are done: what belongs to a survey or a machine, and to no result.

    Attributes:
        store: The folder of the store.
        run: A name of this run of a survey, for counting attempts.
        folder: The working folder, from which relative paths in names are seen.
        batch_size: Images that go through a network at once.
        threads: Threads of a process; None for as many as PyTorch takes.
        command: The command, for the metadata.
    """

    store: Path
    run: str
    folder: Path
    batch_size: int = 64
    threads: int | None = None
    command: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        number: Its number in the survey.
        state: "measured" in this run, "there" before, "busy" in another process, or "failed".
        message: Why it failed, in one sentence.
        resumed: How many batches an earlier run had finished.
        notes: What the result has to say (images that were dropped, ...).
    """

    number: int
    state: State
    message: str = ""
    resumed: int = 0
    notes: tuple[str, ...] = ()


def run_job(number: int, job: DescribedJob, work: Work, device: str = "auto", wait: bool = False) -> Outcome:
    """Do one job, unless its result is there or another process is at it. No error leaves this function.

    Args:
        number: Its number in the survey.
        job: The job.
        work: How jobs are done.
        device: The device of this job.
        wait: Whether to wait for another process that is at it.
    """
    try:
        with ONE_AT_A_TIME, _in_folder(work.folder), _threads(work.threads):
            return _run(number, job, work, device, wait)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a job that fails must not stop the others, with sys.exit neither
        return outcome_of_error(number, error)


def outcome_of_error(number: int, error: BaseException) -> Outcome:
    """The outcome of a job that failed with this error.

    >>> outcome_of_error(3, KeyError("layer")).message
    "KeyError: 'layer'"
    """
    if isinstance(error, AffscoreError):
        return Outcome(number, "failed", str(error))
    return Outcome(number, "failed", f"{type(error).__name__}: {first_line(error)}")


def _run(number: int, job: DescribedJob, work: Work, device: str, wait: bool) -> Outcome:
    store = Store(work.store)
    with store.lock(job.key, wait) as lock:
        if not lock.held:
            return Outcome(number, "busy")
        checkpoints = store.checkpoints(job.key)
        result = store.result_of(job.key)
        if result is not None:
            checkpoints.remove()
            # the outcome of a job of this run is lost where another process dies in the moment that it ends
            state: State = "measured" if result.metadata.get("run") == work.run else "there"
            return Outcome(number, state, notes=tuple(result.notes))
        _check_unchanged(job)
        checkpoints.drop_parts()
        if checkpoints.begin(work.run) >= ATTEMPTS:
            raise AffscoreError(f"its process has died {ATTEMPTS} times (out of memory, perhaps)")
        found = [] if job.job.options.whole else checkpoints.read()
        checkpoints.drop(first=len(found))
        try:
            result = _measure(job, work, device, checkpoints, found)
        except (
            BatchesOfAnotherRunError
        ):  # of images that another version decodes otherwise, or a network unlike its key
            checkpoints.drop()
            found = []
            result = _measure(job, work, device, checkpoints, found)
        result.metadata.update({"key": job.key, "job": job.description, "run": work.run})
        if work.command is not None:
            result.metadata["command"] = work.command
        try:
            _check_unchanged(job)
        except AffscoreError:
            checkpoints.remove()  # nobody knows which of its files they are of
            raise
        store.add(job, result)
        return Outcome(number, "measured", resumed=len(found), notes=tuple(result.notes))


def _check_unchanged(job: DescribedJob) -> None:
    """Whether the files of a job are those that its key is of."""
    changed = "its files were changed after the survey had begun; run it again"
    try:
        unchanged = describe(job.job).key == job.key
    except AffscoreError as error:
        raise AffscoreError(f"{changed} ({error})") from error
    if not unchanged:
        raise AffscoreError(changed)


def _measure(
    job: DescribedJob, work: Work, device: str, checkpoints: Checkpoints, found: list[Checkpoint]
) -> Signature:
    kind = device.partition(":")[0]
    if kind == "auto":
        kind = "cuda" if torch.cuda.is_available() else "cpu"
    conditions = {"batch_size": work.batch_size, "device": kind, "threads": torch.get_num_threads()}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is worth saying is in the notes
        result = measure(
            job.job.model,
            job.job.dataset,
            job.job.options,
            device,
            work.batch_size,
            progress=False,
            finished=[checkpoint.batch for checkpoint in found],
            on_batch=lambda batch: checkpoints.write(Checkpoint(batch, conditions)),
        )
    result.notes.extend(_of_other_conditions(found, conditions))
    return result


def _of_other_conditions(found: list[Checkpoint], conditions: dict[str, Any]) -> list[str]:
    """What to tell of batches that were measured with another batch_size, device or number of threads."""
    others = [checkpoint.batch.number for checkpoint in found if checkpoint.conditions != conditions]
    if not others:
        return []
    told = ", ".join(f"{name}={value}" for name, value in sorted(found[others[0]].conditions.items()))
    numbers = ", ".join(map(str, others))
    return [f"batches {numbers} were measured before an interruption, with {told}"]


@contextlib.contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    try:
        before = Path.cwd()
        os.chdir(folder)
    except OSError as error:
        raise AffscoreError(
            f"the folder {folder.name!r}, from which the survey was started, is not on the machine of this process "
            f"({error.strerror}); the machines of a cluster must share it"
        ) from error
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
