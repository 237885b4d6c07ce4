"""Many networks on many data sets: the results that are missing in a store are measured."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

import joblib
import torch

from affscore.errors import AffscoreError
from affscore.options import UnitsName, check_integer, options_of
from affscore.survey.plan import look_at, plan
from affscore.survey.report import Report, progress_of
from affscore.survey.store import Store
from affscore.survey.work import Outcome, Work, run_job
from affscore.survey.workers import Task, on_cluster, on_this_machine
from affscore.transport.covariance import CovarianceName


def survey(
    models: str | Iterable[str],
    datasets: str | Iterable[str] = "digits",
    store: str | Path = "results",
    jobs: int = 1,
    *,
    n: int = 512,
    images: int | None = None,
    reductions: str | Iterable[str] = "mean",
    orders: str | Iterable[str] = "activate-first",
    covariance: CovarianceName = "ledoit-wolf",
    multiverse: str | Iterable[str] = (),
    bias: str = "none",
    positions: int = 4,
    criteria: bool | str | Collection[str] = True,
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    threads: int | None = None,
    scheduler: str | None = None,
    only: int | None = None,
    progress: bool | None = None,
    command: str | None = None,
    units: UnitsName = "activations",
    size: int | None = None,
) -> Report:
    """Measure every network on every data set, and keep the results in a store.

    ``affscore.survey(...)`` calls this function, and the command ``affscore survey`` does the same.

    A job whose result is in the store is not done again; one that was interrupted, however that happened,
    goes on from its last finished batch and ends with the same table. A job that fails is reported and
    stops no other. Several surveys may use one store at the same time, on one machine or on several that share it: no
    job is done by two of them.

    Args:
        models: Names of networks (:func:`affscore.load_model`), or one name.
        datasets: Names of data sets (:func:`affscore.load_data`), or one name.
        store: The folder of the results; it is made when it is missing.
        jobs: How many processes at once.
        n: As in :func:`affscore.signature`.
        images: As there, for each data set.
        reductions: One or more reductions; each gives results of its own.
        orders: One or more orders.
        covariance: As in :func:`affscore.signature`.
        multiverse: Names of reductions; where there are some, each job is a multiverse of them
            (:func:`affscore.multiverse`), and ``reductions``, ``orders``, ``covariance`` and ``criteria`` are omitted.
        bias: As in :func:`affscore.multiverse`.
        positions: As in :func:`affscore.signature`.
        criteria: As there.
        device: As there; with several GPUs "auto" and "cuda" give them to the jobs in turn.
        batch_size: As there.
        seed: As there.
        threads: Threads of each process; None for the number of cores divided by ``jobs``. (Not by how many
            jobs are left: a result does not depend on whether the survey was interrupted.)
        scheduler: The address of a dask scheduler, whose workers do the jobs instead of processes here. They
            must see the store and all files under the same paths.
        only: The number of the only job to do, in this process (see :func:`plan`): one of an array of jobs.
        progress: Whether to show a bar of finished batches; None for where there is a terminal.
        command: What the metadata of the results says about how they were made.
        units: As in :func:`affscore.signature`.
        size: As there.

    Returns:
        What became of every job: ``report.complete``, ``report.failures``, and a text.

    Raises:
        AffscoreError: Options that are not possible, or a store that cannot be used.

    >>> import tempfile
    >>> import affscore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = affscore.survey("mini:digitsnet", "digits", folder, images=512, criteria=False, only=0)
    ...     print(report)
    1 job: 1 measured
    """
    options, execution, _ = options_of(locals())
    asked = plan(models, datasets, options, reductions, orders)
    jobs, numbers = check_integer("jobs", jobs, 1), range(len(asked))
    if only is not None:
        only = check_integer("the number of a job", only, 0)
        if only >= len(asked):
            count = "1 job" if len(asked) == 1 else f"{len(asked)} jobs"
            raise AffscoreError(f"this survey has {count}, numbered from 0, and none with the number {only}")
        numbers = range(only, only + 1)
    results = Store(store, create=True)
    results.tidy()
    seen = look_at(asked, [results], numbers)
    here = only is not None
    if execution.threads is None and scheduler is None:
        execution = replace(execution, threads=max(1, joblib.cpu_count() // (1 if here else jobs)))
    work = Work(results.folder.absolute(), secrets.token_hex(8), Path.cwd(), execution, command)
    left = [number for number in seen.described if number not in seen.outcomes]
    gpus = torch.cuda.device_count() if execution.device in ("auto", "cuda") and scheduler is None else 0

    def task(place: int, number: int, wait: bool) -> Task:
        own = replace(work, execution=replace(execution, device=f"cuda:{place % gpus}")) if gpus > 1 else work
        return number, seen.described[number], own, wait or here

    with progress_of(results, seen, execution.progress):
        for wait in (False, True):  # what another process is doing is waited for at the end
            tasks = [task(place, number, wait) for place, number in enumerate(left)]
            if here:
                outcomes: Iterable[Outcome] = itertools.starmap(run_job, tasks)
            elif scheduler is not None:
                outcomes = on_cluster(tasks, scheduler)
            else:
                outcomes = on_this_machine(tasks, jobs, execution.threads or 1)
            for outcome in outcomes:
                seen.outcomes[outcome.number] = outcome
            left = [number for number in left if seen.outcomes[number].state == "busy"]
            if not left:
                break
    results.tidy()
    return Report(tuple((asked[number], seen.outcomes[number]) for number in sorted(seen.outcomes)))
