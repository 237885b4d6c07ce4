"""The jobs of a survey: one network on one data set with one set of options, and the key of its result."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from affscore.errors import AffscoreError
from affscore.models.data import identity_of_data
from affscore.models.sources import identity_of_model
from affscore.network.criteria import CRITERIA
from affscore.options import Options, checked, usual_criteria

Identity = Callable[..., dict[str, Any]]
_USUAL = vars(Options())

_FORMAT = "1.0"
"""Raised where a survey shall measure again what older files hold."""


@dataclass(frozen=True)
class Job:
    """What is asked for.

    Attributes:
        model: MODEL[@WEIGHTS].
        dataset: SPEC.
        options: What is measured.
        description: All that the numbers depend on, in the types that JSON knows, without a path; empty until
            :func:`describe` has looked at the files. Options at their defaults are not in it, so that a further option
            makes nobody measure again.
    """

    model: str
    dataset: str
    options: Options
    description: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        options = self.options
        way = f"multiverse of {', '.join(options.multiverse)}" if options.multiverse else None
        return f"{self.model} on {self.dataset} (n={options.n}, {way or f'{options.reduction}, {options.order}'})"

    @property
    def key(self) -> str:
        """16 hexadecimal digits of the description: the same for the same numbers, another for others."""
        return key_of(self.description)

    @property
    def file_name(self) -> str:
        """model-weights-dataset-options, in characters that every system takes, and a hash of all that was asked for.

        A job that is asked for in the same words, whose files have changed since, has the same name: its result takes
        the place of the older one.
        """
        model, data, options = self.description["model"], self.description["data"]["data"], self.options
        how = "+".join(["multiverse", *options.multiverse]) if options.multiverse else options.reduction
        words = [model["model"], model["weights"], data, f"n{options.n}", how]
        for name, value in changed(options).items():
            if name == "criteria":
                words.append("all-criteria" if value == tuple(CRITERIA) else "+".join(value) or "no-criteria")
            elif name not in ("n", "reduction", "multiverse"):
                words.append(value if isinstance(value, str) else f"{name}{value}")
        name = "-".join(re.sub(r"[^A-Za-z0-9.+-]+", "_", word).strip("_.-")[:48] or "_" for word in words)
        asked = {"model": self.model, "dataset": self.dataset, "options": changed(options)}
        return f"{name}-{key_of(asked)}"


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
            raise AffscoreError(f"a store keeps what has a name: name one {kind} or more, as text")
        chosen.append(some)
    base = options or Options()
    jobs = [Job(m, d, checked(replace(base, reduction=r, order=o))) for m, d, r, o in itertools.product(*chosen)]
    return list(dict.fromkeys(jobs))


def describe(job: Job, model: Identity = identity_of_model, data: Identity = identity_of_data) -> Job:
    """The job with its description: all that its numbers depend on, before anything is measured.

    Files are hashed, networks are not loaded (:func:`affscore.models.sources.identity_of_model`). How many
    images go through the network at once, the device, and the number of processes and threads belong to
    no job: results agree up to rounding.

    Args:
        job: The job.
        model: Finds the identity of a network; given here so that a survey looks once at each.
        data: Finds the identity of a data set.

    Raises:
        AffscoreError: An unknown name, or a file that cannot be read.
    """
    options = job.options
    used = data(job.dataset, options.images, options.n, options.seed)
    chosen = {**changed(options), "images": used["images"]}
    if chosen.get("criteria") == tuple(CRITERIA):
        chosen["criteria"] = "all"
    return replace(job, description={"format": _FORMAT, "model": model(job.model), "data": used, "options": chosen})


def changed(options: Options) -> dict[str, Any]:
    """The options that are not at their defaults, of those that decide something.

    >>> changed(Options(n=64, reduction="sample", positions=3, criteria=("cka", "norm", "sparsity", "entropy", "r2")))
    {'n': 64, 'reduction': 'sample'}
    """
    unused = set() if "positions" in (options.reduction, *options.multiverse) else {"positions"}
    unused |= {"criteria"} if options.multiverse or options.criteria == usual_criteria(options.units) else set()
    unused |= {"coupling"} if options.only_paired else set()
    return {name: value for name, value in vars(options).items() if name not in unused and value != _USUAL[name]}


def is_of_job(metadata: Mapping[str, Any], job: Job) -> bool:
    """Whether a result is of this job, and has its criteria at least, or a multiverse its reductions.

    Descriptions are compared and not keys: older versions wrote every option into them, whatever its value. All
    criteria are those that there were when it was measured: one that came later is measured where it is named.

    Args:
        metadata: The metadata of the result.
        job: The job, described.
    """
    stated, wanted = metadata.get("job") or {"options": {}}, job.description
    options, reductions = stated["options"], job.options.multiverse
    several = set(options.get("multiverse", ()))
    alike = {**stated, "options": _compared(options)} == {**wanted, "options": _compared(wanted["options"])}
    all_of_then = options.get("criteria") == wanted["options"].get("criteria") == "all"
    needed = set() if all_of_then else set(job.options.criteria)
    serves = bool(several) == bool(reductions) and set(reductions) <= several
    return alike and serves and needed <= set(metadata.get("criteria", ()))


def key_of(description: dict[str, Any]) -> str:
    """The key of a description.

    >>> key_of({"b": 1, "a": [2]}) == key_of({"a": [2], "b": 1}), len(key_of({}))
    (True, 16)
    """
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:16]


def _compared(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a description that are not at their defaults, without those of which there may be more."""
    more = ("criteria", "multiverse")
    return {name: value for name, value in options.items() if name not in more and value != _USUAL.get(name, False)}
