"""Results out of a store, measured first where they are missing."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError
from affscore.options import check_integer
from affscore.survey.job import named_options, plan
from affscore.survey.store import Store
from affscore.survey.survey import look_at, survey


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
    models, jobs = list(models), check_integer("jobs", jobs, 1)
    if unknown := options.keys() - inspect.signature(survey).parameters.keys() - {"reduction", "order"}:
        raise AffscoreError(f"results in a store go by names and what files say: omit {min(unknown)}, or give no store")
    chosen = named_options({**options, "multiverse": multiverse})
    asked, stores = plan(models, dataset, chosen, chosen.reduction, chosen.order), [Store(store, create=True)]
    seen = {outcome.number: outcome for outcome in look_at(asked, [*stores, *map(Store, also)], range(len(asked)))}
    failures = [outcome.message for outcome in seen.values() if outcome.state == "failed"]
    missing = [outcome.number for outcome in seen.values() if outcome.state == "to do"]
    if missing and not failures:
        ways = {"reductions": options.pop("reduction", "mean"), "orders": options.pop("order", "activate-first")}
        names = [asked[number].model for number in missing]
        report = survey(names, dataset, store, jobs, multiverse=chosen.multiverse, **ways, **options)
        failures = [message for _, message in report.failures]
        seen |= {outcome.number: outcome for outcome in look_at(asked, stores, missing)}
    if failures:
        raise AffscoreError(failures[0])
    found: dict[str, Any] = {job.model: seen[number].result for number, job in enumerate(asked)}
    return {model: found[model].narrowed(chosen.multiverse) if multiverse else found[model] for model in models}
