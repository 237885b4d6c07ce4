"""Results out of a store, measured first where they are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError
from affscore.network.multiverse import REDUCTIONS, Multiverse
from affscore.network.result import Signature
from affscore.options import Execution, check_integer, check_reductions
from affscore.survey.plan import look_at, named_options, plan
from affscore.survey.store import Store
from affscore.survey.survey import survey


def load_or_measure_one(model: str, dataset: str, store: str | Path, **options: Any) -> Signature:
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
    ...     first = load_or_measure_one("mini:digitsnet", "digits", folder, **options)
    ...     again = load_or_measure_one("mini:digitsnet", "digits", folder, **options)
    >>> first.metadata["created"] == again.metadata["created"]
    True
    """
    if not isinstance(model, str) or not isinstance(dataset, str):
        raise AffscoreError("a store keeps what has a name: give the network and the data set as text, or no store")
    if options.pop("activations", None):
        raise AffscoreError(
            "a store keeps what a file says: set declared_activations in the file of the network, or give no store"
        )
    if given := [name for name in ("forward", "data_name", "mask") if options.pop(name, None) is not None]:
        raise AffscoreError(f"results in a store go by the names of MODEL and SPEC: omit {given[0]}, or give no store")
    return load_or_measure([model], dataset, store, **options)[model]


def load_or_measure(
    models: Iterable[str],
    dataset: str,
    store: str | Path,
    *,
    jobs: int = 1,
    also: Iterable[str | Path] = (),
    **options: Any,
) -> dict[str, Signature]:
    """The signatures of several networks out of a store; what is missing is measured and kept there.

    Args:
        models: MODEL[@WEIGHTS], each.
        dataset: SPEC.
        store: The folder of the store; it is made when it is missing.
        jobs: How many networks to measure at once.
        also: Further folders of results that count, too: for the same weights, images and options, never by name.
        options: Those of :func:`affscore.signature` that a survey has.

    Returns:
        A signature for each of the models, by its name as it was given.

    Raises:
        AffscoreError: A name that is none, or what measuring raises, of the first network that fails; the others
            are in the store by then.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"n": 32, "images": 32, "criteria": False, "progress": False}
    ...     results = load_or_measure(["mini:digitsnet"], "digits", folder, **options)
    >>> {name: len(result) for name, result in results.items()}
    {'mini:digitsnet': 9}
    """
    if "multiverse" in options:
        raise TypeError("load_or_measure has no option multiverse (affscore.survey.load_or_measure_multiverses)")
    return _loaded(models, dataset, store, jobs, also, **options)  # type: ignore[return-value]


def load_or_measure_multiverses(
    models: Iterable[str], dataset: str, store: str | Path, *, jobs: int = 1, also: Iterable[str | Path] = (),
    reductions: str | Sequence[str] = REDUCTIONS, **options: Any,
) -> dict[str, Multiverse]:  # fmt: skip
    """The multiverses of several networks out of a store; what is missing is measured and kept there.

    Args:
        models: As in :func:`load_or_measure`.
        dataset: As there.
        store: As there.
        jobs: As there.
        also: As there.
        reductions: As in :func:`affscore.multiverse`.
        options: Further options of :func:`affscore.multiverse` that a survey has.

    Returns:
        A multiverse for each of the models, by its name as it was given.

    Raises:
        AffscoreError: As :func:`load_or_measure`; no reduction.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"n": 32, "images": 32, "progress": False}
    ...     results = load_or_measure_multiverses(["mini:digitsnet"], "digits", folder, **options)
    >>> {name: len(result.choices) for name, result in results.items()}
    {'mini:digitsnet': 12}
    """
    return _loaded(models, dataset, store, jobs, also, multiverse=check_reductions(reductions), **options)  # type: ignore[return-value]


def _loaded(
    models: Iterable[str], dataset: str, store: str | Path, jobs: int, also: Iterable[str | Path], **options: Any
) -> dict[str, Signature | Multiverse]:
    models, jobs = list(models), check_integer("jobs", jobs, 1)
    chosen = named_options(options)
    if unknown := options.keys() - vars(chosen).keys() - vars(Execution()).keys() - {"command"}:
        raise TypeError(f"load_or_measure has no option {', '.join(sorted(unknown))}")
    own = Store(store, create=True)
    asked = plan(models, dataset, chosen, chosen.reduction, chosen.order)
    seen = look_at(asked, [own, *map(Store, also)], range(len(asked)))
    failures = [outcome.message for outcome in seen.outcomes.values() if outcome.state == "failed"]
    missing = [asked[number].model for number in seen.described if number not in seen.results]
    if missing and not failures:
        ways = {"reductions": options.pop("reduction", "mean"), "orders": options.pop("order", "activate-first")}
        report = survey(missing, dataset, store, jobs, **ways, **options)
        failures = [message for _, message in report.failures]
    if failures:
        raise AffscoreError(failures[0])
    results = seen.results | look_at(asked, [own], seen.described.keys() - seen.results).results
    found = dict[str, Signature | Multiverse]()
    for number, job in enumerate(asked):
        if number not in results:
            raise AffscoreError(f"the result of {job.model} was removed from the store while it was measured")
        result, several = results[number], job.options.multiverse
        found[job.model] = result.narrowed(several) if isinstance(result, Multiverse) else result
    return {model: found[model] for model in models}
