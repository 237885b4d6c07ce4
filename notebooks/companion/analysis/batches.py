"""How much a number of several networks depends on which images happened to be in the batches: the jackknife."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from companion.analysis.correlations import criterion_values
from companion.analysis.estimates import jackknife_error

if TYPE_CHECKING:
    from affscore.network.result import Signature

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
        criterion: The score, or another of :func:`companion.analysis.criterion_values`.
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
