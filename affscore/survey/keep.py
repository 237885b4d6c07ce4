"""One result out of a store, measured first where it is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError
from affscore.network.reduction import check_order, check_reduction
from affscore.network.result import Signature
from affscore.survey.files import read_signature
from affscore.survey.job import describe
from affscore.survey.plan import plan
from affscore.survey.store import Store
from affscore.survey.survey import survey

__all__ = ["kept_signature"]

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
    measuring = {name: options.pop(name) for name in _OF_A_SURVEY & options.keys()}
    reduction, order = options.pop("reduction", "mean"), options.pop("order", "activate-first")
    check_reduction(reduction)
    check_order(order)
    options |= {"reductions": reduction, "orders": order}
    (job,) = plan(model, dataset, **options)
    found = _stored(Store(store, create=True), describe(job).description)
    if found is not None:
        return found
    report = survey(model, dataset, store, only=0, **options, **measuring)
    if report.failures:
        raise AffscoreError(report.failures[0][1])
    result = Store(store).result_of(describe(job).key)
    if result is None:
        raise AffscoreError(f"the result of {job} was removed from the store while it was measured")
    return result


def _stored(store: Store, description: dict[str, Any]) -> Signature | None:
    """A result of this job, or of one that differs only in having further criteria."""
    for path in store.files():
        try:
            result = read_signature(path)
        except AffscoreError:
            continue  # what is damaged is told where it stands in the way
        job = result.metadata.get("job")
        if not isinstance(job, dict) or not isinstance(job.get("options"), dict):
            continue
        if set(description["options"]["criteria"]) <= set(job["options"].get("criteria", ())):
            alike = {**job, "options": {**job["options"], "criteria": description["options"]["criteria"]}}
            if alike == description:
                return result
    return None
