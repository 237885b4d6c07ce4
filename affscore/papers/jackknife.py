"""How much a number depends on which images happened to be in the batches: the jackknife over batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import criterion_values
from affscore.network.result import Signature

Array = NDArray[np.float64]


def jackknife_error(replicates: Array) -> float:
    r"""Standard error of a number from what it is without one batch, for each batch in turn.

    .. math:: s^2 = \frac{B - 1}{B} \sum_b (\theta_{-b} - \bar\theta)^2

    Args:
        replicates: The number without each of the B batches.

    Returns:
        The error; infinite where no batch can be left out.

    Source: Tukey's jackknife.

    The standard error of a mean:

    >>> values = np.array([1.0, 2.0, 6.0])
    >>> round(jackknife_error((values.sum() - values) / 2), 6), round(float(values.std(ddof=1)) / 3**0.5, 6)
    (1.527525, 1.527525)
    """
    if len(replicates) < 2 or not np.isfinite(replicates).all():
        return np.inf
    return float(np.std(replicates) * (len(replicates) - 1) ** 0.5)


def means_without_a_batch(signature: Signature, criterion: str = "score") -> pd.DataFrame:
    """The mean over batches for each activation, without each batch in turn.

    Args:
        signature: A signature of several batches.
        criterion: The score, or another of :func:`affscore.analysis.criterion_values`.

    Returns:
        A row for each activation, a column for each batch that is left out; missing where no value is left.
    """
    table = signature.table[["index", "batch"]].assign(value=criterion_values(signature.table)[criterion])
    by_batch = table.pivot(index="index", columns="batch", values="value")  # noqa: PD010 - a value for each pair
    sums, counts = by_batch.fillna(0.0), by_batch.notna().astype(int)
    return sums.rsub(sums.sum(axis=1), axis=0) / counts.rsub(counts.sum(axis=1), axis=0)  # 0 / 0 is missing


def error_over_batches(
    statistic: Callable[[Mapping[str, Array]], float], signatures: Mapping[str, Signature], criterion: str = "score"
) -> float:
    """Standard error of a number that follows from the scores of several networks, measured on the same images.

    A batch is left out of all networks at once, since it has the same images for all.

    Args:
        statistic: The number, from the scores of each network by its name; they may have missing values.
        signatures: The networks.
        criterion: As of :func:`means_without_a_batch`; the statistic then gets its values in place of scores.

    Returns:
        The error of :func:`jackknife_error`; infinite where a network has a single batch.
    """
    without = {name: means_without_a_batch(one, criterion) for name, one in signatures.items()}
    if any(table.shape[1] < 2 for table in without.values()):
        return np.inf
    batches = sorted(set().union(*(table.columns for table in without.values())))
    # where a network has fewer batches, all of them
    full = {name: criterion_values(one.summary)[criterion] for name, one in signatures.items()}
    scores = ({name: np.asarray(table.get(batch, full[name])) for name, table in without.items()} for batch in batches)
    return jackknife_error(np.array([statistic(some) for some in scores]))
