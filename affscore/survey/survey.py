"""Many networks on many data sets: the results that are missing in a store are measured."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import torch

from affscore.errors import AffscoreError
from affscore.network.criteria import choose_criteria
from affscore.options import BiasName, Execution, Options, UnitsName, check_integer, check_reductions, checked_execution
from affscore.survey.plan import look_at, plan
from affscore.survey.report import Report, with_progress
from affscore.survey.store import Store
from affscore.survey.work import Task, outcomes_of
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
    bias: BiasName = "none",
    positions: int = 4,
    criteria: bool | str | Collection[str] = True,
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    threads: int | None = None,
    client: Any = None,
    only: int | None = None,
    progress: bool | None = None,
    command: str | None = None,
    units: UnitsName = "activations",
    size: int | None = None,
) -> Report:
    """Measure every network on every data set, and keep the results in a store.

    ``affscore.survey(...)`` calls this function, and the command ``affscore survey`` does the same.

    A job whose result is in the store is not done again; one that was interrupted is done from its start. A job that
    fails is reported and stops no other. Several surveys may use one store at the same time, on one machine or on
    several that share it; what two of them do, the last one keeps.

    Args:
        models: Names of networks (:func:`affscore.load_model`), or one name.
        datasets: Names of data sets (:func:`affscore.load_data`), or one name.
        store: The folder of the results; it is made when it is missing.
        jobs: How many processes at once; 1 for this process alone.
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
        threads: Threads of each process; None for the number of cores divided by ``jobs``, or as many as PyTorch
            takes (``OMP_NUM_THREADS``) if that is less. (Not divided by how many jobs are left: a result does not
            depend on whether the survey was interrupted.)
        client: A ``dask.distributed.Client``, whose workers do the jobs instead of processes here. They must see the
            store and all files under the same paths.
        only: The number of the only job to do, in this process (see :func:`plan`): one of an array of jobs.
        progress: Whether to show a bar of finished jobs, or, where there is no terminal, a line for each; None for a
            bar where there is a terminal.
        command: What the metadata of the results says about how they were made.
        units: As in :func:`affscore.signature`.
        size: As there.

    Returns:
        What became of every job: ``report.complete``, ``report.failures``, and a text.

    Raises:
        AffscoreError: Options that are not possible, a store that cannot be used, or a process that has died: what had
            finished by then is in the store.

    >>> import tempfile
    >>> import affscore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = affscore.survey("mini:digitsnet", "digits", folder, images=512, criteria=False)
    ...     print(report)
    1 job: 1 measured
    """
    several = check_reductions(multiverse) if multiverse != () else ()
    options = Options(
        n=n, images=images, covariance=covariance, criteria=choose_criteria(criteria, units),
        seed=seed, positions=positions, multiverse=several, bias=bias, units=units, size=size,
    )  # fmt: skip
    execution = checked_execution(Execution(device, batch_size, progress, threads))
    asked = plan(models, datasets, options, reductions, orders)
    jobs, numbers = check_integer("jobs", jobs, 1), range(len(asked))
    if only is not None:
        only, jobs = check_integer("the number of a job", only, 0), 1
        if only >= len(asked):
            count = "1 job" if len(asked) == 1 else f"{len(asked)} jobs"
            raise AffscoreError(f"this survey has {count}, numbered from 0, and none with the number {only}")
        numbers = range(only, only + 1)
    results = Store(store, create=True)
    seen = look_at(asked, [results], numbers)
    left = [number for number in seen.described if number not in seen.outcomes]
    if execution.threads is None and client is None:
        execution = replace(execution, threads=max(1, min(torch.get_num_threads(), joblib.cpu_count() // jobs)))
    gpus = torch.cuda.device_count() if execution.device in ("auto", "cuda") and client is None else 0
    tasks = [
        Task(
            number, seen.described[number], results.folder.absolute(), Path.cwd(),
            replace(execution, device=f"cuda:{place % gpus}") if gpus > 1 else execution,
            command, seen.changed.get(number, ""),
        )
        for place, number in enumerate(left)
    ]  # fmt: skip
    outcomes = outcomes_of(tasks, jobs, execution.threads, client if only is None else None) if tasks else ()
    for outcome in with_progress(outcomes, len(numbers), len(seen.outcomes), execution.progress):
        seen.outcomes[outcome.number] = outcome
    return Report(tuple((asked[number], seen.outcomes[number]) for number in sorted(seen.outcomes)))
