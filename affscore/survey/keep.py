"""Results out of a store, measured first where they are missing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError
from affscore.network.reduction import check_order, check_reduction
from affscore.network.result import Signature, load_signature
from affscore.survey.job import describe
from affscore.survey.plan import plan
from affscore.survey.shipped import SHIPPED
from affscore.survey.store import Store
from affscore.survey.survey import survey

__all__ = ["kept_signature", "kept_signatures"]

_OF_A_SURVEY = {"device", "batch_size", "progress", "command"}


def kept_signature(model: str, dataset: str, store: str | Path, **options: Any) -> Signature:
    """The signature of a network on a data set out of a store; what is missing is measured and kept there.

    Args:
        model: MODEL[@WEIGHTS].
        dataset: SPEC.
        store: The folder of the store; it is made when it is missing.
        options: Those of :func:`affscore.signature` that a survey has.

    Raises:
        AffscoreError: Not names, or what measuring raises.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"n": 32, "images": 32, "criteria": False, "progress": False}
    ...     first = kept_signature("mini:digitsnet", "digits", folder, **options)
    ...     again = kept_signature("mini:digitsnet", "digits", folder, **options)
    >>> first.metadata["created"] == again.metadata["created"]
    True
    """
    if not isinstance(model, str) or not isinstance(dataset, str):
        raise AffscoreError("a store keeps what has a name: give the network and the data set as text, or no store")
    if options.pop("activations", None):
        raise AffscoreError(
            "a store keeps what a file says: set declared_activations in the file of the network, or give no store"
        )
    if given := [name for name in ("forward", "data_name") if options.pop(name, None) is not None]:
        raise AffscoreError(f"results in a store go by the names of MODEL and SPEC: omit {given[0]}, or give no store")
    return kept_signatures([model], dataset, store, shipped=False, **options)[model]


def kept_signatures(
    models: Iterable[str], dataset: str, store: str | Path, *, jobs: int = 1, shipped: bool = True, **options: Any
) -> dict[str, Signature]:
    """The signatures of several networks out of a store; what is missing is measured and kept there.

    Args:
        models: MODEL[@WEIGHTS], each.
        dataset: SPEC.
        store: The folder of the store; it is made when it is missing.
        jobs: How many networks to measure at once.
        shipped: Whether the results that come with the package count, too. They are taken for the same weights,
            images and options only, never by name.
        options: Those of :func:`affscore.signature` that a survey has.

    Returns:
        A signature for each of the models, by its name as it was given.

    Raises:
        AffscoreError: A name that is none, or what measuring raises, of the first network that fails; the others
            are in the store by then.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"n": 32, "images": 32, "criteria": False, "progress": False}
    ...     both = kept_signatures(["mini:digitsnet", "mini:digitsnet@random"], "digits", folder, **options)
    >>> [len(result) for result in both.values()]
    [9, 9]
    """
    models = list(models)
    measuring = {name: options.pop(name) for name in _OF_A_SURVEY & options.keys()}
    reduction, order = options.pop("reduction", "mean"), options.pop("order", "activate-first")
    check_reduction(reduction)
    check_order(order)
    options |= {"reductions": reduction, "orders": order}
    planned = {model: describe(plan(model, dataset, **options)[0]) for model in models}
    results = [*_results(Store(store, create=True)), *(_results(Store(SHIPPED)) if shipped else [])]
    found = {model: _fitting(results, job.description) for model, job in planned.items()}
    missing = [model for model, result in found.items() if result is None]
    if missing:
        only = 0 if len(missing) == 1 else None  # in this process, where there is one
        report = survey(missing, dataset, store, jobs=jobs, only=only, **options, **measuring)
        if report.failures:
            raise AffscoreError(report.failures[0][1])
    for model in missing:
        found[model] = Store(store).result_of(planned[model].key)
        if found[model] is None:
            raise AffscoreError(f"the result of {model} was removed from the store while it was measured")
    return {model: result for model, result in found.items() if result is not None}


def _results(store: Store) -> list[Signature]:
    results = []
    for path in store.files():
        try:
            results.append(load_signature(path))
        except AffscoreError:
            continue  # what is damaged is told where it stands in the way
    return results


def _fitting(results: Iterable[Signature], description: dict[str, Any]) -> Signature | None:
    """A result of this job, or of one that differs only in having further criteria."""
    for result in results:
        job = result.metadata.get("job")
        if not isinstance(job, dict) or not isinstance(job.get("options"), dict):
            continue
        if set(description["options"]["criteria"]) <= set(job["options"].get("criteria", ())):
            alike = {**job, "options": {**job["options"], "criteria": description["options"]["criteria"]}}
            if alike == description:
                return result
    return None
