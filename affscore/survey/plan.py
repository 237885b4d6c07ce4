"""Which jobs a survey has, and which of them are settled before it begins."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import cast

from affscore.errors import AffscoreError
from affscore.network.options import choose_options
from affscore.network.reduction import OrderName, ReductionName
from affscore.survey.job import DescribedJob, Job, describe
from affscore.survey.store import Store
from affscore.survey.work import Outcome, outcome_of_error
from affscore.transport.covariance import CovarianceName
from affscore.zoo.identity import identity_of_data, identity_of_model
from affscore.zoo.paths import check_name

__all__ = ["look_at", "plan"]


def plan(
    models: str | Iterable[str],
    datasets: str | Iterable[str],
    *,
    n: int = 512,
    images: int | None = None,
    reductions: str | Iterable[str] = "mean",
    orders: str | Iterable[str] = "activate-first",
    covariance: CovarianceName = "ledoit-wolf",
    criteria: bool | str | Collection[str] = True,
    seed: int = 0,
    whole: bool = False,
) -> list[Job]:
    """The jobs of a survey: every network on every data set with every reduction and order, each once.

    Their numbers, from 0, depend on nothing but these arguments. ``sample`` and ``flatten`` have one order.

    Args:
        models: Names of networks, or one name.
        datasets: Names of data sets.
        n: As in :func:`affscore.signature`, like all that follow.
        images: How many images, of each data set.
        reductions: Names of reductions.
        orders: Names of orders.
        covariance: Which covariance.
        criteria: Which criteria.
        seed: Fixes all that is random.
        whole: Whether all images are scored together.

    Raises:
        AffscoreError: No network, no data set, or options that are not possible.

    >>> both = ["activate-first", "reduce-first"]
    >>> jobs = plan(["mini:digitsnet"], "digits", reductions=["mean", "sample"], orders=both)
    >>> [(job.options.reduction, job.options.order) for job in jobs]
    [('mean', 'activate-first'), ('mean', 'reduce-first'), ('sample', 'activate-first')]
    """
    lists = {"model": models, "data set": datasets, "reduction": reductions, "order": orders}
    chosen: list[list[str]] = []
    for kind, names in lists.items():
        some = [names] if isinstance(names, str) else list(names)
        if not some or not all(isinstance(name, str) and name for name in some):
            raise AffscoreError(f"a survey needs the names of one {kind} or more, got {some!r}")
        for name in some:
            check_name(name)
        chosen.append(some)
    jobs = []
    for model, dataset, reduction, order in itertools.product(*chosen):
        options = choose_options(
            n, images, cast(ReductionName, reduction), cast(OrderName, order), covariance, criteria, seed, whole
        )
        jobs.append(Job(model, dataset, options))
    return list(dict.fromkeys(jobs))


def look_at(
    jobs: Sequence[Job], store: Store | None, numbers: Iterable[int]
) -> tuple[dict[int, DescribedJob], dict[int, Outcome]]:
    """Which jobs of these numbers can be done, and which are settled: their result is there, or cannot be.

    Args:
        jobs: All jobs.
        store: The store, if there is one.
        numbers: The numbers of those to look at.
    """
    model, data = functools.cache(identity_of_model), functools.cache(identity_of_data)
    described: dict[int, DescribedJob] = {}
    outcomes: dict[int, Outcome] = {}
    for number in numbers:
        try:
            described[number] = describe(jobs[number], model, data)
            found = None if store is None else store.result_of(described[number].key)
            if found is not None:
                outcomes[number] = Outcome(number, "there", notes=tuple(found.notes))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # becomes the outcome of this job
            outcomes[number] = outcome_of_error(number, error)
    return described, outcomes
