"""Many networks on many data sets: the results that are missing in a store are measured, and those there are read."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import torch
from joblib import delayed
from tqdm import tqdm

from affscore.errors import AffscoreError
from affscore.models.data import identity_of_data, registered_data
from affscore.models.sources import identity_of_model, registered
from affscore.network.multiverse import load_result
from affscore.network.notes import Note
from affscore.network.signature import named_options
from affscore.options import BiasName, Execution, UnitsName, check_integer, in_range
from affscore.survey.job import Identity, Job, describe, is_of_job, plan
from affscore.survey.store import Store
from affscore.survey.work import Outcome, measure, outcome_of_error, outcomes_of
from affscore.transport.covariances import CovarianceName


@dataclass(frozen=True)
class Report:
    """What became of every job of a survey.

    Attributes:
        outcomes: Each job and its outcome, by their numbers. The text of the report counts them, tells of each
            failure, and has the notes of the results.
    """

    outcomes: tuple[tuple[Job, Outcome], ...]

    @property
    def complete(self) -> bool:
        """Whether the result of every job is in the store."""
        return all(outcome.state in ("measured", "there") for _, outcome in self.outcomes)

    @property
    def failures(self) -> list[tuple[Job, str]]:
        """The jobs that failed, and why."""
        return [(job, outcome.message) for job, outcome in self.outcomes if outcome.state == "failed"]

    @property
    def notes(self) -> dict[Note, list[int]]:
        """What the results have to say, each sentence with the numbers of its jobs."""
        found = defaultdict[Note, list[int]](list)
        for _, outcome in self.outcomes:
            for note in dict.fromkeys(outcome.notes):
                found[note].append(outcome.number)
        return found

    def __repr__(self) -> str:
        counts, count = Counter[str](outcome.state for _, outcome in self.outcomes), len(self.outcomes)
        words = {"measured": "measured", "there": "already there", "failed": "failed"}
        states = ", ".join(f"{counts[state]} {word}" for state, word in words.items() if counts[state])
        lines = [f"{count} {'job' if count == 1 else 'jobs'}: {states}"]
        lines += [f"job {x.number} failed: {job}: {x.message}" for job, x in self.outcomes if x.state == "failed"]
        for note, numbers in sorted(self.notes.items(), key=lambda item: item[0].kind, reverse=True):
            jobs = f"job{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
            lines.append(f"{note.kind} on {jobs}: {note}" if count > 1 else f"{note.kind}: {note}")
        return "\n".join(lines)


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
        reductions: One or more reductions; each gives results of its own.
        orders: One or more orders.
        multiverse: Names of reductions; where there are some, each job is a multiverse of them
            (:func:`affscore.multiverse`), and ``reductions``, ``orders``, ``covariance`` and ``criteria`` are omitted.
        bias: As for :func:`affscore.multiverse`.
        device: As for :func:`affscore.signature`; with several GPUs "auto" and "cuda" give them to the jobs in turn.
        threads: Threads of each process; None for the number of cores divided by ``jobs``, or as many as PyTorch
            takes (``OMP_NUM_THREADS``) if that is less. (Not divided by how many jobs are left: a result does not
            depend on whether the survey was interrupted.)
        client: A ``dask.distributed.Client``, whose workers do the jobs instead of processes here. They must see the
            store and all files under the same paths.
        only: The number of the only job to do, in this process (see :func:`affscore.survey.job.plan`): one of an array
            of jobs.
        progress: Whether to show a bar of finished jobs; None for where there is a terminal.
        command: What the metadata of the results says about how they were made.

    As for :func:`affscore.signature`: n, images (of each data set), covariance, positions, criteria, batch_size, seed,
    units, size.

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
    options = named_options(locals())
    execution = in_range(Execution(device, batch_size, False, threads))
    asked = dict(enumerate(plan(models, datasets, options, reductions, orders)))
    jobs = check_integer("jobs", jobs, 1)
    if only is not None:
        only = check_integer("the number of a job (from 0)", only, 0, len(asked) - 1)
        asked, jobs, client = {only: asked[only]}, 1, None
    results = Store(store, create=True)
    outcomes = look_at(asked, [results])
    if execution.threads is None and client is None:
        execution = replace(execution, threads=max(1, min(torch.get_num_threads(), joblib.cpu_count() // jobs)))
    gpus = torch.cuda.device_count() if execution.device in ("auto", "cuda") and client is None else 0
    ways = [replace(execution, device=f"cuda:{gpu}") for gpu in range(gpus)] if gpus > 1 else [execution]
    where, sources = (results.folder.absolute(), Path.cwd()), (*registered.values(), *registered_data.values())
    turns = zip([one for one in outcomes.values() if one.state == "to do"], itertools.cycle(ways), strict=False)
    calls = [delayed(measure)(one.number, one.job, *where, how, command, sources) for one, how in turns]
    if calls:
        bar: Any = {"total": len(asked), "initial": len(asked) - len(calls), "unit": "job"}
        hidden = None if progress is None else not progress
        for outcome in tqdm(outcomes_of(calls, jobs, execution.threads, client), disable=hidden, **bar):
            outcomes[outcome.number] = outcome
    return Report(tuple((asked[number], outcome) for number, outcome in outcomes.items()))


def look_at(jobs: Mapping[int, Job], stores: Sequence[Store]) -> dict[int, Outcome]:
    """Which jobs are settled, as their result is there or they cannot be done, and which are to do.

    Of results only the metadata is read, but for those that are found. One with more criteria serves, too; one that is
    damaged does not.

    Args:
        jobs: Jobs by their numbers.
        stores: The stores whose results count.
    """
    identities = functools.cache(identity_of_model), functools.cache(identity_of_data)
    stored = {path: about for store in stores for path, about in store.descriptions().items()}
    return {number: _look_at(number, job, stored, *identities) for number, job in jobs.items()}


def _look_at(number: int, job: Job, stored: Mapping[Path, dict[str, Any]], model: Identity, data: Identity) -> Outcome:
    try:
        job = describe(job, model, data)
    except Exception as error:  # noqa: BLE001  # becomes the outcome of this job
        return outcome_of_error(number, error)
    for path in [path for path, about in stored.items() if is_of_job(about, job)]:
        with suppress(AffscoreError):
            result = load_result(path)
            return Outcome(number, "there", notes=tuple(result.notes), result=result)
    return Outcome(number, "to do", job=job)


def listing(jobs: Sequence[Job], folder: str | Path) -> list[str]:
    """A line for each job: its number, what it is, and whether it is done.

    Args:
        jobs: The jobs.
        folder: The folder of the store, which need not exist.
    """
    words = {"there": "done", "to do": "to do", "failed": "cannot be done: "}
    outcomes = look_at(dict(enumerate(jobs)), [Store(folder)] if Path(folder).is_dir() else [])
    return [f"{number}: {jobs[number]}: {words[one.state]}{one.message}" for number, one in outcomes.items()]


def load_or_measure(
    models: Iterable[str],
    dataset: str,
    store: str | Path,
    *,
    jobs: int = 1,
    also: Iterable[str | Path] = (),
    multiverse: str | Iterable[str] = (),
    **options: Any,
) -> dict[str, Any]:
    """The signatures, or multiverses, of several networks out of a store; what is missing is measured and kept there.

    Args:
        models: MODEL[@WEIGHTS], each.
        dataset: SPEC.
        store: The folder of the store; it is made when it is missing.
        jobs: How many networks to measure at once.
        also: Further folders of results that count, too: for the same weights, images and options, never by name.
        multiverse: Names of reductions: multiverses of them, and not signatures.
        options: Those of :func:`affscore.signature` that a survey has.

    Returns:
        A signature for each of the models, by its name as it was given; or a multiverse.

    Raises:
        AffscoreError: A name or an option that is none, or what measuring raises, of the first network that fails; the
            others are in the store by then.

    >>> import tempfile
    >>> options = {"n": 32, "images": 32, "progress": False}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = load_or_measure(["mini:digitsnet"], "digits", folder, **options)
    ...     again = load_or_measure(["mini:digitsnet"], "digits", folder, **options)
    ...     several = load_or_measure(["mini:digitsnet"], "digits", folder, multiverse="mean,sample", **options)
    >>> first["mini:digitsnet"].metadata["created"] == again["mini:digitsnet"].metadata["created"]
    True
    >>> len(first["mini:digitsnet"]), len(several["mini:digitsnet"].choices)
    (9, 12)
    """
    if unknown := options.keys() - inspect.signature(survey).parameters.keys() - {"reduction", "order"}:
        raise AffscoreError(f"results in a store go by names and what files say: omit {min(unknown)}, or give no store")
    chosen = named_options({**options, "multiverse": multiverse})
    asked = dict(enumerate(plan(models, dataset, chosen, chosen.reduction, chosen.order)))
    own = Store(store, create=True)
    seen = look_at(asked, [own, *map(Store, also)])
    failures = [outcome.message for outcome in seen.values() if outcome.state == "failed"]
    missing = {number: asked[number] for number, outcome in seen.items() if outcome.state == "to do"}
    if missing and not failures:
        ways = {"reductions": options.pop("reduction", "mean"), "orders": options.pop("order", "activate-first")}
        names = [job.model for job in missing.values()]
        report = survey(names, dataset, store, jobs, multiverse=chosen.multiverse, **ways, **options)
        failures = [message for _, message in report.failures]
        seen |= look_at(missing, [own])
    if failures:
        raise AffscoreError(failures[0])
    found: dict[str, Any] = {job.model: seen[number].result for number, job in asked.items()}
    return {model: one.narrowed(chosen.multiverse) if multiverse else one for model, one in found.items()}
