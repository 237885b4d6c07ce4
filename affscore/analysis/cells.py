"""A number out of a table."""

from __future__ import annotations

from typing import Any, cast

import pandas as pd

__all__ = ["cell"]


def cell(table: pd.DataFrame, row: str, column: str) -> float:
    """The number in a row and a column; to pandas it could be anything.

    >>> cell(pd.DataFrame({"score": [0.5]}, ["relu"]), "relu", "score")
    0.5
    """
    return float(cast(Any, table.loc[row, column]))
