"""Processes for the jobs of a survey: on this machine by joblib's loky, on a cluster by its dask backend."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from affscore.errors import AffscoreError, first_line
from affscore.survey.work import Outcome, has_begun, run_job

Task = tuple[Any, ...]
"""The arguments of :func:`affscore.survey.work.run_job`."""


def on_this_machine(tasks: Sequence[Task], jobs: int, threads: int) -> Iterator[Outcome]:
    """Do tasks in processes of their own, and outlive those that die; their outcomes as they come.

    When a process dies (out of memory, a fault in a library), joblib ends all of them. The tasks that had
    begun are then done one at a time, which shows whose fault it was, and the others go on as before.

    Args:
        tasks: The tasks.
        jobs: How many processes at once.
        threads: Threads of a process.
    """
    left = {task[0]: task for task in tasks}

    def do(some: Sequence[Task], processes: int) -> Iterator[Outcome]:
        parallel = Parallel(n_jobs=processes, return_as="generator_unordered", batch_size=1, pre_dispatch=processes)
        for outcome in parallel(delayed(run_job)(*task) for task in some):
            del left[outcome.number]
            yield outcome

    loky = parallel_config("loky", inner_max_num_threads=threads, initializer=_belong_to, initargs=(os.getpid(),))
    with warnings.catch_warnings(), loky:
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")  # which loses nothing
        while left:
            alone = list(left.values())
            if jobs > 1 and len(left) > 1:
                try:
                    yield from do(alone, min(jobs, len(left)))
                    alone = []
                except BrokenProcessPool:
                    alone = [task for task in left.values() if has_begun(*task)] or list(left.values())
            for task in alone:
                try:
                    yield from do([task], 2)  # joblib takes two, of which one rests: with n_jobs=1 it would take none
                except BrokenProcessPool as error:
                    del left[task[0]]
                    yield Outcome(task[0], "failed", f"its process died ({_reason(error)})")


def _belong_to(parent: int) -> None:
    """Make this process a worker of a survey: it ends when the survey does, in whichever way that happens."""
    tqdm.set_lock(threading.RLock())  # its usual lock is a semaphore, which a worker that is killed would leave behind

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.1)
        os._exit(1)  # what is finished is in the store

    threading.Thread(target=watch, daemon=True).start()


def _reason(error: BaseException) -> str:
    """What loky says of the end of a process: "SIGKILL(-9)", from a longer text."""
    text = " ".join(str(error).split())
    codes = text.rpartition("{")[2].rpartition("}")[0] if "{" in text else ""
    return codes or "out of memory, or a fault in a library"


def on_cluster(tasks: Sequence[Task], address: str) -> Iterator[Outcome]:
    """Do tasks on the workers of a dask cluster; their outcomes as they come. A task whose worker dies goes to another.

    The store must lie on a file system that all machines share.

    Args:
        tasks: The tasks.
        address: The address of the scheduler.

    Raises:
        AffscoreError: No scheduler there, no worker within 10 seconds, or no package distributed.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise AffscoreError('a cluster needs the package distributed: pip install "affscore[cluster]"') from error
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise AffscoreError(
            f"there is no scheduler of dask at {address!r} ({first_line(error)}); start one with: dask scheduler"
        ) from error
    with client, parallel_config("dask", client=client, wait_for_workers_timeout=10):
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="all")
        try:
            yield from parallel(delayed(run_job)(*task) for task in tasks)
        except TimeoutError as error:
            raise AffscoreError(
                f"the scheduler at {address!r} has no worker; start some with: dask worker {address} --nthreads 1"
            ) from error
