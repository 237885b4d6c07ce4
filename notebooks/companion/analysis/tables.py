"""What tables and matrices of distances must be, and a number out of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.errors import AffscoreError


def cell(table: pd.DataFrame, row: str, column: str) -> float:
    """The number in a row and a column; to pandas it could be anything.

    >>> cell(pd.DataFrame({"score": [0.5]}, ["relu"]), "relu", "score")
    0.5
    """
    return float(cast(Any, table.loc[row, column]))


def check_level(level: float) -> None:
    """Refuse what is no level of an interval."""
    if not 0 < level < 1:
        raise AffscoreError(f"level must be in (0, 1), got {level}")


def check_columns(table: pd.DataFrame, *lists: Iterable[str]) -> None:
    """Refuse what is no table with these columns.

    >>> check_columns(pd.DataFrame({"mean": [0.5]}), ["mean", "accuracy"])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: the table has no column 'accuracy'; it has mean
    """
    if not isinstance(table, pd.DataFrame):
        raise AffscoreError(f"expected a table (pandas.DataFrame), got {type(table).__name__}")
    if text := [columns for columns in lists if isinstance(columns, str)]:
        raise AffscoreError(f"expected a list of columns, got the text {text[0]!r}")
    if missing := [column for columns in lists for column in columns if column not in table]:
        there = ", ".join(map(str, table.columns)) or "no columns at all"
        raise AffscoreError(f"the table has no column {missing[0]!r}; it has {there}")


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
    wrong = values[~(np.isfinite(values) & (values >= 0))]
    if len(wrong):
        raise AffscoreError(f"distances must be finite and not negative, got {wrong[0]:g}")
    if not np.allclose(values, values.T) or np.diag(values).any():
        raise AffscoreError("distances must be a symmetric matrix with zeros on the diagonal")
    return values
