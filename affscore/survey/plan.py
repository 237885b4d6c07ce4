"""Which jobs a survey has, and which of them are settled before it begins."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError
from affscore.models.by_name import identity_of_model
from affscore.models.datasets import identity_of_data
from affscore.models.paths import check_name
from affscore.network.criteria import choose_criteria
from affscore.network.multiverse import Multiverse, load_result
from affscore.network.result import Signature
from affscore.options import Options, checked
from affscore.survey.job import DescribedJob, Job, describe, is_of_job, last_of_each, what_changed
from affscore.survey.store import Store
from affscore.survey.work import Outcome, outcome_of_error


def named_options(keywords: Mapping[str, Any]) -> Options:
    """The options among keywords, as :func:`affscore.signature` takes them.

    Raises:
        AffscoreError: They are not possible.

    >>> named_options({"n": 64, "criteria": "r2", "device": "cpu"}).criteria
    ('r2',)
    """
    given = {one.name: keywords[one.name] for one in fields(Options) if one.name in keywords}
    given["criteria"] = choose_criteria(keywords.get("criteria", True), keywords.get("units", "activations"))
    return checked(Options(**given))


def plan(
    models: str | Iterable[str],
    datasets: str | Iterable[str],
    options: Options | None = None,
    reductions: str | Iterable[str] = "mean",
    orders: str | Iterable[str] = "activate-first",
) -> list[Job]:
    """The jobs of a survey: every network on every data set with every reduction and order, each once.

    Their numbers, from 0, depend on nothing but these arguments. ``sample`` and ``flatten`` have one order. A
    multiverse is one job, and takes no other reduction or order beside it.

    Args:
        models: Names of networks, or one name.
        datasets: Names of data sets.
        options: What is measured, but for reduction and order; None for the defaults.
        reductions: Names of reductions.
        orders: Names of orders.

    Raises:
        AffscoreError: No network, no data set, or options that are not possible.

    >>> both = ["activate-first", "reduce-first"]
    >>> jobs = plan(["mini:digitsnet"], "digits", reductions=["mean", "sample"], orders=both)
    >>> [(job.options.reduction, job.options.order) for job in jobs]
    [('mean', 'activate-first'), ('mean', 'reduce-first'), ('sample', 'activate-first')]
    """
    chosen: list[list[Any]] = []
    for kind, names in {"model": models, "data set": datasets, "reduction": reductions, "order": orders}.items():
        some = [names] if isinstance(names, str) else list(names)
        if not some or not all(isinstance(name, str) and name for name in some):
            raise AffscoreError(f"a survey needs the names of one {kind} or more, got {some!r}")
        for name in some:
            check_name(name)
        chosen.append(some)
    base = options or Options()
    jobs = [Job(m, d, checked(replace(base, reduction=r, order=o))) for m, d, r, o in itertools.product(*chosen)]
    return list(dict.fromkeys(jobs))


@dataclass
class Outlook:
    """Jobs that have been looked at, by their numbers.

    Attributes:
        described: Those that can be done.
        results: Those of them whose result is there.
        outcomes: Those that are settled: their result is there, or they cannot be done.
        changed: Of those that are to be done, which had a result before their files changed, in a sentence.
    """

    described: dict[int, DescribedJob] = field(default_factory=dict)
    results: dict[int, Signature | Multiverse] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    changed: dict[int, str] = field(default_factory=dict)


def look_at(jobs: Sequence[Job], stores: Sequence[Store], numbers: Iterable[int]) -> Outlook:
    """Which jobs of these numbers can be done, and which are settled: their result is there, or cannot be.

    Of results only the metadata is read, but for those that are found. One with more criteria serves, too; one that is
    damaged does not, nor one that was measured before its files changed (:func:`affscore.survey.job.last_of_each`).

    Args:
        jobs: All jobs.
        stores: The stores whose results count.
        numbers: The numbers of those to look at.
    """
    model, data = functools.cache(identity_of_model), functools.cache(identity_of_data)
    stored = {path: about for store in stores for path, about in last_of_each(store.descriptions())[0].items()}
    seen = Outlook()
    for number in numbers:
        try:
            job = seen.described[number] = describe(jobs[number], model, data)
        except Exception as error:  # noqa: BLE001  # becomes the outcome of this job
            seen.outcomes[number] = outcome_of_error(number, error)
            continue
        if (found := _first([path for path, about in stored.items() if is_of_job(about, job)])) is not None:
            seen.results[number] = found
            seen.outcomes[number] = Outcome(number, "there", notes=tuple(found.notes))
        for path, about in stored.items() if found is None else ():
            same_names = about.get("asked") == job.asked
            if same_names and (changed := what_changed(about, {"job": job.description})):
                seen.changed[number] = f"changed since {path.name!r} was measured, which counts no more: {changed}"
    return seen


def _first(paths: Iterable[Path]) -> Signature | Multiverse | None:
    for path in paths:
        with suppress(AffscoreError):
            return load_result(path)
    return None
