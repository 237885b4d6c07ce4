"""One result out of a store, measured first where it is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError
from affscore.network.result import Signature
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
    measuring = {name: options.pop(name) for name in _OF_A_SURVEY & options.keys()}
    for one in ("reduction", "order"):
        if one in options:
            options[f"{one}s"] = options.pop(one)
    (job,) = plan(model, dataset, **options)
    report = survey(model, dataset, store, only=0, **options, **measuring)
    if report.failures:
        raise AffscoreError(report.failures[0][1])
    result = Store(store).result_of(describe(job).key)
    if result is None:
        raise AffscoreError(f"the result of {job} was removed from the store while it was measured")
    return result
