"""One job of a survey, from the moment a process takes it up until its result is in the store."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from affscore.errors import AffscoreError, first_line
from affscore.network.batch import Batch
from affscore.network.measurement import Measurement, OtherDataError
from affscore.network.multiverse_result import Multiverse, load_result
from affscore.network.result import Signature
from affscore.network.table import provenance
from affscore.options import Execution
from affscore.survey.job import DescribedJob, describe
from affscore.survey.parts import Parts
from affscore.survey.store import Store
from affscore.zoo.card import ONE_AT_A_TIME
from affscore.zoo.naming import switched

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
        execution: How each of them is measured.
        command: The command, for the metadata.
    """

    store: Path
    run: str
    folder: Path
    execution: Execution = Execution()  # noqa: RUF009  # it is frozen
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


def run_job(number: int, job: DescribedJob, work: Work, wait: bool = False) -> Outcome:
    """Do one job, unless its result is there or another process is at it. No error leaves this function.

    Args:
        number: Its number in the survey.
        job: The job.
        work: How jobs are done.
        wait: Whether to wait for another process that is at it.
    """
    try:
        if not work.folder.is_dir():
            raise AffscoreError(
                f"the folder {work.folder.name!r}, from which the survey was started, is not on the machine of this "
                "process; the machines of a cluster must share it"
            )
        threads = work.execution.threads or torch.get_num_threads()
        on_threads = switched(torch.get_num_threads, torch.set_num_threads, threads)
        with ONE_AT_A_TIME, contextlib.chdir(work.folder), on_threads:
            return _run(number, job, work, wait)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a job that fails must not stop the others, with sys.exit neither
        return outcome_of_error(number, error)


def has_begun(number: int, job: DescribedJob, work: Work, wait: bool = False) -> bool:
    """Whether a process of this run has begun with a job, as given to :func:`run_job`, and not ended it."""
    return Store(work.store).parts(job.key).begun_by(work.run)


def outcome_of_error(number: int, error: BaseException) -> Outcome:
    """The outcome of a job that failed with this error.

    >>> outcome_of_error(3, KeyError("layer")).message
    "KeyError: 'layer'"
    """
    if isinstance(error, AffscoreError):
        return Outcome(number, "failed", str(error))
    return Outcome(number, "failed", f"{type(error).__name__}: {first_line(error)}")


def _run(number: int, job: DescribedJob, work: Work, wait: bool) -> Outcome:
    store = Store(work.store)
    with store.lock(job.key, wait) as held:
        if not held:
            return Outcome(number, "busy")
        parts = store.parts(job.key)
        result: Signature | Multiverse | None = store.load(job.key, load_result)
        if result is not None:
            parts.remove()
            # the outcome of a job of this run is lost where another process dies in the moment that it ends
            state: State = "measured" if result.metadata.get("run") == work.run else "there"
            return Outcome(number, state, notes=tuple(result.notes))
        _check_unchanged(job)
        parts.drop_unwritten()
        if parts.begin(work.run) >= ATTEMPTS:
            raise AffscoreError(f"its process has died {ATTEMPTS} times (out of memory, perhaps)")
        try:
            result, resumed = _measure(job, work.execution, parts)
        except OtherDataError:  # another version decodes the images otherwise, or they were others for a while
            parts.drop()
            result, resumed = _measure(job, work.execution, parts)
        try:
            _check_unchanged(job)
        except AffscoreError:
            parts.remove()  # nobody knows which of its files they are of
            raise
        command = {} if work.command is None else {"command": work.command}
        metadata = {**result.metadata, "job": job.description, "run": work.run, **command}
        store.add(job.key, job.file_name, result.rows, metadata, result.notes)
        return Outcome(number, "measured", resumed=resumed, notes=tuple(result.notes))


def _check_unchanged(job: DescribedJob) -> None:
    """Whether the files of a job are those that its key is of."""
    changed = "its files were changed after the survey had begun; run it again"
    try:
        unchanged = describe(job.job).key == job.key
    except AffscoreError as error:
        raise AffscoreError(f"{changed} ({error})") from error
    if not unchanged:
        raise AffscoreError(changed)


def _measure(job: DescribedJob, execution: Execution, parts: Parts) -> tuple[Signature | Multiverse, int]:
    """The signature, and how many of its batches were there already; every other one becomes a part of the store."""
    versions = provenance()["versions"]  # the bits of a number depend on those of PyTorch and NumPy
    done, conditions_of = dict[int, Batch](), dict[int, dict[str, Any]]()
    for number, (rows, about) in parts.read().items():
        match about:  # the batch that its name says, of these versions, and no other file of ours
            case {"batch": dict(known), "conditions": dict(stated), "versions": found}:
                if (known.get("number"), found) == (number, versions):
                    done[number], conditions_of[number] = Batch(**known, rows=rows), stated
    options, batches = job.job.options, list[Batch]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is worth saying is in the notes
        measurement = Measurement(job.job.model, job.job.dataset, options, replace(execution, progress=False))
        device, threads = measurement.device.type, torch.get_num_threads()
        conditions = {"batch_size": execution.batch_size, "device": device, "threads": threads}
        with contextlib.closing(measurement.batches(done)) as measured:
            for batch in measured:
                batches.append(batch)
                if batch is not done.get(batch.number):
                    about = {"batch": _without("rows", vars(batch)), "conditions": conditions, "versions": versions}
                    parts.write(batch.number, [_without("sample_costs", row) for row in batch.rows], about)
        signatures = measurement.signatures(batches)
    result = Multiverse.of(signatures, options) if options.multiverse else signatures[0]
    taken = [batch.number for batch in batches if batch is done.get(batch.number)]
    if others := [number for number in taken if conditions_of[number] != conditions]:
        settings = ", ".join(f"{name}={value}" for name, value in sorted(conditions_of[others[0]].items()))
        numbers = ", ".join(map(str, others))
        result.notes.append(f"batches {numbers} were measured before an interruption, with {settings}")
    return result, len(taken)


def _without(name: str, values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}
