"""The numbers that the papers print: their tables as files beside the modules of their figures, and number by number.

Each file begins with where its numbers come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError


@dataclass(frozen=True)
class PrintedNumber:
    """A number as a paper prints it.

    Attributes:
        table: The table of :func:`printed_table` that holds it.
        row: Its row there.
        column: Its column there.
        text: The number as it is printed.
        source: The paper, and where in it.
        item: What the number is of.
    """

    table: str
    row: str
    column: str
    text: str
    source: str
    item: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def decimals(self) -> int:
        """How many digits behind the point are printed.

        >>> PrintedNumber("", "", "", "-0.90", "", "").decimals
        2
        """
        return len(self.text.partition(".")[2])


def printed_numbers(
    table: str, columns: Mapping[str, tuple[str, str]], names: Mapping[str, str] | None = None
) -> list[PrintedNumber]:
    """The numbers of a table, row by row; empty cells are none.

    Args:
        table: One of :func:`printed_tables`.
        columns: For each column that holds numbers the source and the item. In both ``{row}`` stands for the row,
            ``{name}`` for its name, and another column in braces for what that column says in this row.
        names: Names of rows that differ from the rows.

    >>> columns = {"common_r2": ("figure 4", "{row}: R2 of {best_common_characteristic}")}
    >>> numbers = printed_numbers("figure4_r2", columns)
    >>> numbers[0].source, numbers[0].item, numbers[0].text
    ('figure 4', 'Pre-residual: R2 of depth', '0.686')
    """
    numbers = []
    for row, cells in printed_text(table).iterrows():
        words: dict[str, Any] = {str(name): cell for name, cell in cells.items()}
        words |= {"row": row, "name": (names or {}).get(str(row), row)}
        for column, (source, item) in columns.items():
            if cells[column]:
                about = source.format(**words), item.format(**words)
                numbers.append(PrintedNumber(table, str(row), column, cells[column], *about))
    return numbers


def mean_and_deviation(source: str, item: str) -> dict[str, tuple[str, str]]:
    """The columns ``mean`` and ``std`` of a table, for :func:`printed_numbers`.

    Args:
        source: Of both.
        item: Of both; ``{what}`` becomes "mean" or "standard deviation".
    """
    words = {"mean": "mean", "std": "standard deviation"}
    return {column: (source, item.replace("{what}", what)) for column, what in words.items()}


def printed_tables() -> list[str]:
    """The names of the tables that :func:`printed_table` can read.

    >>> "figure7_activation_scores" in printed_tables()
    True
    """
    return sorted(_files())


def printed_table(name: str) -> pd.DataFrame:
    """A table of numbers as a paper prints them, rounded as they are there.

    Args:
        name: One of :func:`printed_tables`.

    Returns:
        The table; its first column is the index. The attribute ``attrs["source"]`` says which figure or
        table of which paper it is.

    Raises:
        AffscoreError: There is no table of that name.

    >>> table = printed_table("figure7_activation_scores")
    >>> float(table.loc["relu", "shrinkage"]), table.attrs["source"][:19]
    (0.62, 'Printed in figure 7')
    """
    return _read(name, as_text=False).copy()


def printed_text(name: str) -> pd.DataFrame:
    """The same table as text: how many decimals are printed says how far a number was rounded.

    Args:
        name: One of :func:`printed_tables`.

    Returns:
        The table of :func:`printed_table` with its cells as they stand in the file, empty ones as "".

    Raises:
        AffscoreError: There is no table of that name.

    >>> printed_text("table2_correlations").loc["swin_s"].tolist()
    ['-0.003', '-0.61', '-0.31', '0.18', '-0.03']
    """
    return _read(name, as_text=True).copy()


@cache
def _files() -> dict[str, Path]:
    return {file.stem: file for file in Path(__file__).parent.glob("*/*.csv")}


@cache
def _read(name: str, as_text: bool) -> pd.DataFrame:
    if name not in _files():
        raise AffscoreError(f"there is no printed table {name!r}; known are {', '.join(printed_tables())}")
    text = _files()[name].read_text(encoding="utf-8")
    how: dict[str, Any] = {"dtype": str, "keep_default_na": False} if as_text else {}
    table = pd.read_csv(StringIO(text), comment="#", index_col=0, **how)
    comments = (line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    table.attrs["source"] = " ".join(comments)
    return table
