"""What a table, a matrix of distances or a number must be, said in one sentence where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.errors import AffscoreError

__all__ = ["check_columns", "check_names", "check_permutations", "distances_between", "numbers_of"]


def check_columns(table: pd.DataFrame, columns: Iterable[str]) -> None:
    """Refuse what is no table with these columns.

    >>> check_columns(pd.DataFrame({"mean": [0.5]}), ["mean", "accuracy"])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: the table has no column 'accuracy'; it has mean
    """
    if not isinstance(table, pd.DataFrame):
        raise AffscoreError(f"expected a table (pandas.DataFrame), got {type(table).__name__}")
    if isinstance(columns, str):
        raise AffscoreError(f"expected a list of columns, got the text {columns!r}")
    for column in columns:
        if column not in table:
            there = ", ".join(map(str, table.columns)) or "no columns at all"
            raise AffscoreError(f"the table has no column {column!r}; it has {there}")


def numbers_of(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """These columns as numbers; what is missing stays missing.

    Raises:
        AffscoreError: A column that is not there, or that holds something else.

    >>> numbers_of(pd.DataFrame({"accuracy": ["good"]}), ["accuracy"])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: the column 'accuracy' must hold numbers, got 'good'
    """
    check_columns(table, columns)
    found = {column: pd.to_numeric(table[column], errors="coerce") for column in columns}
    for column, numbers in found.items():
        wrong = numbers.isna() & table[column].notna()
        if wrong.any():
            raise AffscoreError(f"the column {column!r} must hold numbers, got {table.loc[wrong, column].iloc[0]!r}")
    return pd.DataFrame(found, index=table.index).astype(float)


def check_permutations(count: int) -> None:
    """Refuse a number of shuffles that is none.

    >>> check_permutations(0)
    Traceback (most recent call last):
    affscore.errors.AffscoreError: the number of permutations must be a whole number of at least 1, got 0
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise AffscoreError(f"the number of permutations must be a whole number of at least 1, got {count!r}")


def check_names(models: Iterable[str]) -> list[str]:
    """Names of networks as a list.

    Raises:
        AffscoreError: One name instead of several, or something that is no text.

    >>> check_names("resnet18")
    Traceback (most recent call last):
    affscore.errors.AffscoreError: expected a list of networks, got the text 'resnet18'; write ['resnet18']
    """
    if isinstance(models, str):
        raise AffscoreError(f"expected a list of networks, got the text {models!r}; write [{models!r}]")
    names = list(models)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise AffscoreError(f"networks are given by their names, got {wrong[0]!r}")
    return names


def distances_between(distances: pd.DataFrame) -> NDArray[np.float64]:
    """The numbers of a matrix of distances, (k, k).

    Raises:
        AffscoreError: No square table of at least two networks, other names in the rows than in the columns, or
            what is no distance: missing, infinite, negative or asymmetric numbers, or others than 0 on the diagonal.

    >>> distances_between(pd.DataFrame([[0, -1], [-1, 0]], ["a", "b"], ["a", "b"]))
    Traceback (most recent call last):
    affscore.errors.AffscoreError: distances must be finite and not negative, got -1
    """
    if not isinstance(distances, pd.DataFrame):
        raise AffscoreError(f"expected a table of distances (pandas.DataFrame), got {type(distances).__name__}")
    names = list(distances.index)
    if len(names) < 2 or names != list(distances.columns):
        raise AffscoreError(
            f"expected the distances between at least two networks, with the same names in rows and columns, got a "
            f"table of {distances.shape}"
        )
    values = numbers_of(distances, names).to_numpy()
    if not (np.isfinite(values).all() and (values >= 0).all()):
        wrong = values[~(values >= 0) | ~np.isfinite(values)][0]
        raise AffscoreError(f"distances must be finite and not negative, got {wrong:g}")
    if not np.allclose(values, values.T) or np.diag(values).any():
        raise AffscoreError("distances must be a symmetric matrix with zeros on the diagonal")
    return values
