"""One job of a survey, and the processes that do many of them: joblib's, or those of a dask cluster."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from joblib import Parallel, parallel_config
from tqdm import tqdm

from affscore.errors import AffscoreError, first_line
from affscore.models.card import ONE_AT_A_TIME
from affscore.models.data import DataSource, register_data
from affscore.models.naming import switched
from affscore.models.sources import Source, register
from affscore.network.batch import subject_of
from affscore.network.multiverse import Multiverse
from affscore.network.notes import Note
from affscore.network.result import Signature
from affscore.network.signature import signatures
from affscore.options import Execution
from affscore.survey.job import Job, describe

State = Literal["measured", "there", "failed", "to do"]


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        number: Its number in the survey.
        state: "measured" in this run, "there" before, "failed", or "to do".
        message: Why it failed, in one sentence.
        notes: What the result has to say (images that were dropped, ...).
        job: Of one that is to do, the job, described.
        result: Of one that is there, its result.
    """

    number: int
    state: State
    message: str = ""
    notes: tuple[Note, ...] = ()
    job: Job | None = None
    result: Signature | Multiverse | None = None


def measure(
    number: int, job: Job, store: Path, folder: Path, execution: Execution, command: str | None,
    sources: Sequence[Source | DataSource],
) -> Outcome:  # fmt: skip
    """Do a job, and keep its result. No error leaves this function, and no ``sys.exit`` of a network.

    Args:
        number: Its number in the survey.
        job: The job, described.
        store: The folder of the store.
        folder: The working folder, from which relative paths in names are seen.
        execution: How it is measured.
        command: The command, for the metadata.
        sources: What other packages have registered, which another process may not have imported.
    """
    for source in sources:
        register_data(source) if isinstance(source, DataSource) else register(source)
    threads = execution.threads or torch.get_num_threads()
    try:
        with ONE_AT_A_TIME, contextlib.chdir(folder), switched(torch.get_num_threads, torch.set_num_threads, threads):
            with warnings.catch_warnings(action="ignore", category=UserWarning):  # what is worth saying is in the notes
                found = signatures(subject_of(job.model, job.dataset, job.options, execution))
            result = Multiverse.of(found, job.options) if job.options.multiverse else found[0]
            if describe(job).key != job.key:
                raise AffscoreError("its files were changed after the survey had begun; run it again")
        about = {**result.metadata, "job": job.description, "key": job.key} | ({"command": command} if command else {})
        replace(result, metadata=about).save(store / f"{job.file_name}.parquet")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a job that fails must not stop the others
        return outcome_of_error(number, error)
    return Outcome(number, "measured", notes=tuple(result.notes))


def outcome_of_error(number: int, error: BaseException) -> Outcome:
    """The outcome of a job that failed with this error.

    >>> outcome_of_error(3, KeyError("layer")).message
    "KeyError: 'layer'"
    """
    own = isinstance(error, AffscoreError)
    return Outcome(number, "failed", str(error) if own else f"{type(error).__name__}: {first_line(error)}")


def _lock_of_threads() -> None:
    tqdm.set_lock(threading.RLock())  # its usual one is a semaphore, which a process that is killed leaves behind


def outcomes_of(calls: Sequence[Any], jobs: int, threads: int | None, client: Any) -> Iterator[Outcome]:
    """Do jobs; their outcomes as they come.

    Args:
        calls: Delayed calls of :func:`measure`.
        jobs: How many processes at once; one alone is this process.
        threads: Threads of a process.
        client: A client of dask, whose workers do them instead; None for processes here.

    Raises:
        AffscoreError: A process has died, or there is no worker.
    """
    if client is None:
        jobs = min(jobs, len(calls))
        where = parallel_config("loky", n_jobs=jobs, inner_max_num_threads=threads, initializer=_lock_of_threads)
    else:
        where = parallel_config("dask", client=client, wait_for_workers_timeout=10)
    with where:
        try:
            yield from Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")(calls)
        except Exception as error:
            died = isinstance(error, BrokenProcessPool)
            why = "a process died, out of memory perhaps" if died else f"{type(error).__name__}: {first_line(error)}"
            rest = "affscore survey --list shows the rest, --job NUMBER does one, fewer jobs at once need less memory"
            raise AffscoreError(f"the survey ended early ({why}); what had finished is kept: {rest}") from error
