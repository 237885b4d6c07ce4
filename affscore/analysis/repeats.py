"""Measurements that were repeated with several seeds: means, standard errors, and what wins with each seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from affscore.analysis.accuracy import best_explained, explained_accuracy
from affscore.analysis.checks import check_columns
from affscore.errors import AffscoreError

__all__ = ["ERROR", "best_of_each_seed", "over_seeds", "spread_in_errors"]

ERROR = "_standard_error"
"""What the names of the columns of standard errors end in."""


def over_seeds(table: pd.DataFrame, by: str = "name", seed: str = "seed") -> pd.DataFrame:
    """Means over seeds, and their standard errors.

    Args:
        table: A row for each network and seed.
        by: The column of the networks.
        seed: The column of the seeds.

    Returns:
        A row for each network, by its name: ``seeds`` (how many), and for each other column of numbers its mean, and
        the standard error of that under its name with :data:`ERROR` (missing for a single seed).

    Raises:
        AffscoreError: A column that is not there, or a seed that a network has twice.

    >>> trials = pd.DataFrame({"name": ["a", "a"], "seed": [0, 1], "accuracy": [80.0, 90.0]})
    >>> over_seeds(trials).loc["a"].tolist()
    [2.0, 85.0, 5.0]
    """
    check_columns(table, (by, seed))
    if table.duplicated([by, seed]).any():
        raise AffscoreError("a network has two rows of the same seed")
    numbers = table.drop(columns=[by, seed]).select_dtypes("number").columns
    groups = table.groupby(by, sort=False)
    columns: dict[str, pd.Series] = {"seeds": groups.size()}
    for name in numbers:
        columns[name] = groups[name].mean()
        columns[name + ERROR] = groups[name].std(ddof=1) / np.sqrt(groups[name].count())
    return pd.DataFrame(columns)


def best_of_each_seed(
    table: pd.DataFrame, columns: Sequence[str], *, kind: str = "linear", seed: str = "seed"
) -> pd.DataFrame:
    """Which characteristic explains accuracy best in each group, when only the networks of one seed are looked at.

    Args:
        table: A row for each network and seed, with ``group``, ``accuracy`` and the characteristics.
        columns: The characteristics.
        kind: One of :data:`affscore.analysis.accuracy.FITS`.
        seed: The column of the seeds.

    Returns:
        A row for each group and seed, as of :func:`affscore.analysis.explained_accuracy`, with the seed.

    Raises:
        AffscoreError: A column that is not there, or a table without rows.

    >>> x = [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> trials = pd.DataFrame({"group": "A", "seed": 3, "accuracy": x, "mean": x, "max": [1.0, 1.0, 1.0, 1.0, 2.0]})
    >>> best_of_each_seed(trials, ["mean", "max"])[["seed", "characteristic", "r2"]].values.tolist()
    [[3, 'mean', 1.0]]
    """
    check_columns(table, (seed,))
    found = []
    for number, trials in table.groupby(seed, sort=True):
        best = best_explained(explained_accuracy(trials, columns, kind=kind))
        best.insert(0, "seed", number)
        found.append(best)
    if not found:
        raise AffscoreError("the table has no rows, so there is no seed to look at")
    return pd.concat(found, ignore_index=True)


def spread_in_errors(table: pd.DataFrame, column: str = "accuracy", group: str = "group") -> pd.DataFrame:
    """How far the networks of a group lie apart, in units of the error of one of them.

    Args:
        table: A row for each network, as of :func:`over_seeds`, with the group.
        column: Which number.
        group: The column of the groups.

    Returns:
        A row for each group: ``networks``, ``lowest``, ``highest``, ``error`` (root mean square of the standard
        errors) and ``spread`` (highest - lowest, divided by the error).

    Raises:
        AffscoreError: A column that is not there.

    >>> rows = {"group": ["A", "A"], "accuracy": [80.0, 90.0], "accuracy_standard_error": [1.0, 1.0]}
    >>> float(spread_in_errors(pd.DataFrame(rows)).loc["A", "spread"])
    10.0
    """
    check_columns(table, (group, column, column + ERROR))
    groups = table.groupby(group, sort=False)
    error = table.assign(square=table[column + ERROR] ** 2).groupby(group, sort=False)["square"].mean() ** 0.5
    low, high = groups[column].min(), groups[column].max()
    return pd.DataFrame(
        {"networks": groups.size(), "lowest": low, "highest": high, "error": error, "spread": (high - low) / error}
    )
