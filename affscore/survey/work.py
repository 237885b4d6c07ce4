"""One job of a survey, and the processes that do many of them: joblib's, or those of a dask cluster."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from affscore.errors import AffscoreError, first_line
from affscore.models.card import ONE_AT_A_TIME
from affscore.models.naming import switched
from affscore.models.sources import Source, register, registered
from affscore.network.batch import subject_of
from affscore.network.multiverse import Multiverse
from affscore.network.notes import Note
from affscore.network.result import Signature
from affscore.network.signature import signatures
from affscore.options import Execution
from affscore.survey.job import DescribedJob, Job, describe
from affscore.survey.store import Store

State = Literal["measured", "there", "failed"]


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        number: Its number in the survey.
        state: "measured" in this run, "there" before, or "failed".
        message: Why it failed, in one sentence.
        notes: What the result has to say (images that were dropped, ...).
    """

    number: int
    state: State
    message: str = ""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Task:
    """A job that is to be done, and how.

    Attributes:
        number: Its number in the survey.
        job: The job.
        store: The folder of the store.
        folder: The working folder, from which relative paths in names are seen.
        execution: How it is measured.
        command: The command, for the metadata.
        changed: What has changed since an older result.
        sources: What other packages have registered, which another process may not have imported.
    """

    number: int
    job: DescribedJob
    store: Path
    folder: Path
    execution: Execution = Execution()  # noqa: RUF009  # it is frozen
    command: str | None = None
    changed: str = ""
    sources: tuple[Source, ...] = field(default_factory=lambda: tuple(registered().values()))

    def run(self) -> Outcome:
        """Do the job, and keep its result. No error leaves this function, and no ``sys.exit`` of a network."""
        threads = self.execution.threads or torch.get_num_threads()
        for source in self.sources:
            register(source)
        try:
            with (
                ONE_AT_A_TIME,
                contextlib.chdir(self.folder),
                switched(torch.get_num_threads, torch.set_num_threads, threads),
            ):
                result = _measured(self.job.job, self.execution)
                if describe(self.job.job).key != self.job.key:
                    raise AffscoreError("its files were changed after the survey had begun; run it again")
            about = {**result.metadata, "job": self.job.description, "asked": self.job.asked}
            about |= {} if self.command is None else {"command": self.command}
            Store(self.store).add(self.job.key, self.job.file_name, result.rows, about, result.notes)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a job that fails must not stop the others
            return outcome_of_error(self.number, error)
        return Outcome(self.number, "measured", notes=(*result.notes, *map(Note, filter(None, [self.changed]))))


def outcome_of_error(number: int, error: BaseException) -> Outcome:
    """The outcome of a job that failed with this error.

    >>> outcome_of_error(3, KeyError("layer")).message
    "KeyError: 'layer'"
    """
    if isinstance(error, AffscoreError):
        return Outcome(number, "failed", str(error))
    return Outcome(number, "failed", f"{type(error).__name__}: {first_line(error)}")


def _measured(job: Job, execution: Execution) -> Signature | Multiverse:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is worth saying is in the notes
        found = signatures(subject_of(job.model, job.dataset, job.options, replace(execution, progress=False)))
    return Multiverse.of(found, job.options) if job.options.multiverse else found[0]


def _lock_of_threads() -> None:
    tqdm.set_lock(threading.RLock())  # its usual one is a semaphore, which a process that is killed leaves behind


def outcomes_of(tasks: Sequence[Task], jobs: int, threads: int | None, client: Any) -> Iterator[Outcome]:
    """Do tasks; their outcomes as they come.

    Args:
        tasks: The tasks.
        jobs: How many processes at once; one alone is this process.
        threads: Threads of a process.
        client: A client of dask, whose workers do them instead; None for processes here.

    Raises:
        AffscoreError: A process has died, or there is no worker.
    """
    if client is None:
        number = min(jobs, len(tasks))
        where = parallel_config("loky", n_jobs=number, inner_max_num_threads=threads, initializer=_lock_of_threads)
    else:
        where = parallel_config("dask", client=client, wait_for_workers_timeout=10)
    with where:
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")
        try:
            yield from parallel(delayed(task.run)() for task in tasks)
        except Exception as error:
            died = isinstance(error, BrokenProcessPool)
            why = "a process died, out of memory perhaps" if died else f"{type(error).__name__}: {first_line(error)}"
            raise AffscoreError(
                f"the survey ended early ({why}); what had finished is kept, and the same survey does the rest (fewer "
                "jobs at once need less memory; affscore survey --list shows which are left, --job NUMBER does one)"
            ) from error
