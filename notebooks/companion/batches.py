"""A number of networks that were measured, and how much it depends on which images were in the batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from affscore.network.result import Signature
from companion.printed import OurNumber
from companion.regression import criterion_values
from companion.statistics import jackknife_error

Array: TypeAlias = NDArray[np.float64]

Statistic: TypeAlias = Callable[[Mapping[str, Array]], float]
"""A number, from the scores of each network and the values of a criterion beside them, (2, activations)."""


def values_of(signature: Signature, criterion: str = "score") -> Array:
    """The scores of a signature, and a criterion: the mean over its batches for each activation, (2, activations)."""
    values = criterion_values(signature.table, [criterion]).set_axis(["score", "value"], axis=1)
    return values.groupby(signature.table["index"]).mean().to_numpy().T


def without_each_batch(signature: Signature, criterion: str = "score") -> dict[int, Array]:
    """The same without each batch in turn, by its number; missing where no value is left.

    Args:
        signature: A signature of several batches.
        criterion: The score, or another of :func:`companion.regression.criterion_values`.
    """
    means = []
    for values in criterion_values(signature.table, [criterion]).to_numpy().T:
        table = signature.table[["index", "batch"]].assign(value=values)
        by_batch = table.pivot(index="index", columns="batch", values="value")
        sums, counts = by_batch.fillna(0.0), by_batch.notna().astype(int)
        means.append(sums.rsub(sums.sum(axis=1), axis=0) / counts.rsub(counts.sum(axis=1), axis=0))  # 0 / 0 is missing
    return {int(str(batch)): np.array([one[batch] for one in means]) for batch in means[0]}


def error_over_batches(statistic: Statistic, signatures: Mapping[str, Signature], criterion: str = "score") -> float:
    """Standard error of a number that follows from several networks, measured on the same images.

    A batch is left out of all networks at once, since it has the same images for all; one that has fewer batches keeps
    all of its own beyond them.

    Args:
        statistic: The number; what it is given may have missing values.
        signatures: The networks.
        criterion: As of :func:`without_each_batch`.

    Returns:
        The jackknife's error; infinite where a network has a single batch.
    """
    without = {name: without_each_batch(one, criterion) for name, one in signatures.items()}
    if any(len(batches) < 2 for batches in without.values()):
        return np.inf
    full = {name: values_of(one, criterion) for name, one in signatures.items()}
    every = sorted(set().union(*without.values()))
    some = ({name: batches.get(batch, full[name]) for name, batches in without.items()} for batch in every)
    return jackknife_error(np.array([statistic(values) for values in some]))


NO_VALUE = "it has no value: a score is missing, or does not vary"


def number_of(
    signatures: Mapping[str, Signature], names: list[str], statistic: Statistic, criterion: str = "score", **words: str
) -> OurNumber | None:
    """A number of several networks with its error over batches.

    Args:
        signatures: Of networks by name.
        names: Which; None is returned where one is missing, or has not this criterion.
        statistic: The number.
        criterion: As of :func:`without_each_batch`.
        words: ``how`` and ``why`` of :class:`~companion.printed.OurNumber`.
    """
    found = analogue_of(signatures, names, statistic, "", criterion)
    if found is None:
        return None
    value, how = found[0], "; ".join(filter(None, [words.pop("how", ""), few_images(signatures, names)]))
    error = error_over_batches(statistic, {name: signatures[name] for name in names}, criterion)
    undefined = "" if np.isfinite(value) else NO_VALUE
    return OurNumber(value, error, undefined=undefined, how=how, why=words.get("why", ""))


def analogue_of(
    signatures: Mapping[str, Signature], names: list[str], statistic: Statistic, about: str, criterion: str = "score"
) -> tuple[float, str] | None:
    """The same without its error, and what it is of.

    Args:
        about: What it is of; words in braces are looked up in the metadata of the first of the networks.

    As for :func:`number_of`: signatures, names, statistic, criterion.
    """
    if not set(names) <= signatures.keys():
        return None
    values = {name: values_of(signatures[name], criterion) for name in names}
    missing = any(np.isnan(one[1]).all() for one in values.values())
    return None if missing else (statistic(values), about.format(**signatures[names[0]].metadata))


def few_images(signatures: Mapping[str, Signature], names: list[str]) -> str:
    """That networks were not measured on all images of the validation set, in words; nothing where they were."""
    counts = sorted({int(signatures[name].metadata.get("images", 0)) for name in names})
    return "; ".join(f"on {count} of the 50,000 images" for count in counts if count < 49_000)
