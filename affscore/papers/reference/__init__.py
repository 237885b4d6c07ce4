"""The numbers that the papers print, to stand beside ours. Each file begins with where its numbers come from."""

from __future__ import annotations

from functools import cache
from importlib import resources
from io import StringIO
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError

__all__ = ["printed_table", "printed_tables", "printed_text"]


def printed_tables() -> list[str]:
    """The names of the tables that :func:`printed_table` can read.

    >>> "figure7_activation_scores" in printed_tables()
    True
    """
    names = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".csv") for name in names if name.endswith(".csv"))


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
def _read(name: str, as_text: bool) -> pd.DataFrame:
    if name not in printed_tables():
        raise AffscoreError(f"there is no printed table {name!r}; known are {', '.join(printed_tables())}")
    text = (resources.files(__name__) / f"{name}.csv").read_text(encoding="utf-8")
    how: dict[str, Any] = {"dtype": str, "keep_default_na": False} if as_text else {}
    table = pd.read_csv(StringIO(text), comment="#", index_col=0, **how)
    comments = (line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    table.attrs["source"] = " ".join(comments)
    return table
