"""A job of a survey: one network on one data set with one set of options, and the key of its result."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from affscore.network.criteria import BY_DEFAULT, CRITERIA
from affscore.network.files import FORMAT
from affscore.network.options import Options
from affscore.zoo.identity import identity_of_data, identity_of_model

__all__ = ["DescribedJob", "Job", "describe", "key_of"]


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
        shown = [f"n={self.options.n}", self.options.reduction, self.options.order]
        return f"{self.model} on {self.dataset} ({', '.join(shown)})"


@dataclass(frozen=True)
class DescribedJob:
    """A job whose files have been looked at.

    Attributes:
        job: What is asked for.
        description: All that the numbers depend on, in the types that JSON knows, without a path.
    """

    job: Job
    description: dict[str, Any]

    @property
    def key(self) -> str:
        """16 hexadecimal digits: the same for the same numbers, another for others."""
        return key_of(self.description)

    @property
    def batches(self) -> int:
        """How many batches the result will have, as far as that is known beforehand."""
        images = self.description["data"]["images"]
        return 1 if self.job.options.whole else max(1, images // self.job.options.n)

    @property
    def file_name(self) -> str:
        """model-weights-dataset-options-key.parquet, in characters that every system takes."""
        model, data = self.description["model"], self.description["data"]["data"]
        words = [model["model"], model["weights"], data, *_words_of(self.job.options)]
        return "-".join([*map(_safe, words), self.key]) + ".parquet"


def describe(
    job: Job,
    model: Callable[..., dict[str, Any]] = identity_of_model,
    data: Callable[..., dict[str, Any]] = identity_of_data,
) -> DescribedJob:
    """Look at all that the numbers of a job depend on, before anything is measured.

    Files are hashed, networks are not loaded (:func:`affscore.zoo.identity.identity_of_model`). How many
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
    chosen = {**asdict(options), "criteria": list(options.criteria), "images": used["images"]}
    return DescribedJob(job, {"format": FORMAT, "model": model(job.model), "data": used, "options": chosen})


def key_of(description: dict[str, Any]) -> str:
    """The key of a description.

    >>> key_of({"b": 1, "a": [2]}) == key_of({"a": [2], "b": 1}), len(key_of({}))
    (True, 16)
    """
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:16]


def _words_of(options: Options) -> list[str]:
    """The options as a file name shows them: those that most results share are left away."""
    words = [f"n{options.n}", options.reduction]
    if options.images is not None:
        words.append(f"images{options.images}")
    for value, usual in ((options.order, "activate-first"), (options.covariance, "ledoit-wolf")):
        words += [value] if value != usual else []
    if options.criteria != BY_DEFAULT:
        every = options.criteria == tuple(CRITERIA)
        words.append("all-criteria" if every else "+".join(options.criteria) or "no-criteria")
    words += [f"seed{options.seed}"] if options.seed else []
    words += ["whole"] if options.whole else []
    return words


def _safe(word: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", word).strip("_.-")[:48] or "_"
