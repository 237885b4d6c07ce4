"""A job of a survey: one network on one data set with one set of options, and the key of its result."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affscore.models.data import identity_of_data
from affscore.models.sources import identity_of_model
from affscore.network.criteria import CRITERIA
from affscore.options import Options, usual_criteria

_USUAL = vars(Options())

_FORMAT = "1.0"
"""Raised where a survey shall measure again what older files hold."""

_ALL_BEFORE = {"cka", "norm", "sparsity", "entropy", "r2", "cka_debiased", "nlc"}
"""All criteria of the versions whose descriptions have their names, and not the word "all"."""


@dataclass(frozen=True)
class Job:
    """What is asked for.

    Attributes:
        model: MODEL[@WEIGHTS].
        dataset: SPEC.
        options: What is measured.
    """

    model: str
    dataset: str
    options: Options

    def __str__(self) -> str:
        options = self.options
        how = f"multiverse of {', '.join(options.multiverse)}" if options.multiverse else options.reduction
        order = "" if options.multiverse else f", {options.order}"
        return f"{self.model} on {self.dataset} (n={options.n}, {how}{order})"


@dataclass(frozen=True)
class DescribedJob:
    """A job whose files have been looked at.

    Attributes:
        job: What is asked for.
        description: All that the numbers depend on, in the types that JSON knows, without a path. Options at their
            defaults are not in it, so that a further option makes nobody measure again.
    """

    job: Job
    description: dict[str, Any]

    @property
    def key(self) -> str:
        """16 hexadecimal digits: the same for the same numbers, another for others."""
        return key_of(self.description)

    @property
    def asked(self) -> str:
        """A hash of MODEL, SPEC and options as they were given, whatever is in the files of these names."""
        given = {"model": self.job.model, "dataset": self.job.dataset, "options": changed(self.job.options)}
        return key_of(given)

    @property
    def file_name(self) -> str:
        """model-weights-dataset-options, in characters that every system takes: the file's name up to its key."""
        model, data = self.description["model"], self.description["data"]["data"]
        words = [model["model"], model["weights"], data, *_words_of(self.job.options)]
        return "-".join(re.sub(r"[^A-Za-z0-9.+-]+", "_", word).strip("_.-")[:48] or "_" for word in words)


def describe(
    job: Job,
    model: Callable[..., dict[str, Any]] = identity_of_model,
    data: Callable[..., dict[str, Any]] = identity_of_data,
) -> DescribedJob:
    """Look at all that the numbers of a job depend on, before anything is measured.

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
    if options.multiverse:
        chosen["multiverse"] = list(options.multiverse)
    if "criteria" in chosen:
        chosen["criteria"] = "all" if options.criteria == tuple(CRITERIA) else list(options.criteria)
    return DescribedJob(job, {"format": _FORMAT, "model": model(job.model), "data": used, "options": chosen})


def changed(options: Options) -> dict[str, Any]:
    """The options that are not at their defaults, of those that decide something.

    >>> changed(Options(n=64, reduction="sample", positions=3, criteria=("cka", "norm", "sparsity", "entropy", "r2")))
    {'n': 64, 'reduction': 'sample'}
    """
    unused = set() if "positions" in (options.reduction, *options.multiverse) else {"positions"}
    unused |= {"criteria"} if options.multiverse or options.criteria == usual_criteria(options.units) else set()
    unused |= {"coupling"} if options.only_paired else set()
    return {name: value for name, value in vars(options).items() if name not in unused and value != _USUAL[name]}


def is_of_job(metadata: Mapping[str, Any], job: DescribedJob) -> bool:
    """Whether a result is of this job, and has its criteria at least, or a multiverse its reductions.

    Descriptions are compared and not keys: older versions wrote every option into them, whatever its value. All
    criteria are those that there were when it was measured: one that came later is measured where it is named.

    Args:
        metadata: The metadata of the result.
        job: The job.
    """
    stated, criteria = metadata.get("job"), metadata.get("criteria")
    if not isinstance(stated, dict) or not isinstance(stated.get("options"), dict) or not isinstance(criteria, list):
        return False
    several = stated["options"].get("multiverse", [])
    if not (isinstance(several, list | tuple) and set(job.job.options.multiverse) <= set(several)):
        return False
    if bool(several) != bool(job.job.options.multiverse):
        return False
    alike = {**stated, "options": _compared(stated["options"])}
    wanted = {**job.description, "options": _compared(job.description["options"])}
    needed = set(job.job.options.criteria)
    if needed == CRITERIA.keys():
        needed = set() if stated["options"].get("criteria") == "all" else _ALL_BEFORE
    return alike == wanted and needed <= set(criteria)


def last_of_each(stored: Mapping[Path, dict[str, Any]]) -> tuple[dict[Path, dict[str, Any]], dict[Path, str]]:
    """The results that count: of those that were asked for in the same words the one that was measured last.

    Those of version 1 say no words: they are of the same as a newer one of the same names and options.

    Args:
        stored: Their metadata by their files.

    Returns:
        Those that count; and the others, with what has changed since.
    """
    in_order = sorted(stored, key=lambda path: str(stored[path].get("created")))
    words = {_named(stored[path]): stored[path]["asked"] for path in in_order if "asked" in stored[path]}
    names = dict[Path, str]()
    for path, about in stored.items():
        named = _named(about) or path.name
        names[path] = str(about.get("asked") or words.get(named, named))
    last = {names[path]: path for path in in_order}
    older = dict[Path, str]()
    for path, about in stored.items():
        if (then := last[names[path]]) != path:
            changed = what_changed(about, stored[then])
            older[path] = f"{path.name!r} ({f'{changed} changed since' if changed else 'the same measurement'})"
    return {path: about for path, about in stored.items() if path not in older}, older


def _named(about: Mapping[str, Any]) -> str | None:
    """The names of network and data of a result, and its options; None where it does not say them."""
    match about.get("job"):
        case {"model": {"model": model, "weights": weights}, "data": {"data": data}, "options": dict(options)}:
            several = [options.get(name) for name in ("criteria", "multiverse", "images")]
            return json.dumps([model, weights, data, several, _compared(options)], sort_keys=True)
    return None


def what_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Of the metadata of two results, which files of the same names are others; empty where none is.

    >>> what_changed({"job": {"model": 1, "data": 1}}, {"job": {"model": 2, "data": 1}})
    'the network'
    """
    one, other = (about.get("job") or {} for about in (before, after))
    words = {"model": "the network", "data": "the images"}
    return " and ".join(word for part, word in words.items() if one.get(part) != other.get(part))


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


def _words_of(options: Options) -> list[str]:
    """The options as a file name shows them: those that most results share are omitted."""
    words = [
        f"n{options.n}",
        "+".join(["multiverse", *options.multiverse]) if options.multiverse else options.reduction,
    ]
    for name, value in changed(options).items():
        if name == "criteria":
            words.append("all-criteria" if value == tuple(CRITERIA) else "+".join(value) or "no-criteria")
        elif name not in ("n", "reduction", "multiverse"):
            words.append(value if isinstance(value, str) else f"{name}{value}")
    return words
