"""The numbers that the papers print, to stand beside ours. Each file begins with where its numbers come from."""

from __future__ import annotations

from importlib import resources

import pandas as pd

from affscore.errors import AffscoreError

__all__ = ["printed_table", "printed_tables"]


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
    if name not in printed_tables():
        raise AffscoreError(f"there is no printed table {name!r}; known are {', '.join(printed_tables())}")
    with (resources.files(__name__) / f"{name}.csv").open(encoding="utf-8") as lines:
        table = pd.read_csv(lines, comment="#", index_col=0)
    text = (resources.files(__name__) / f"{name}.csv").read_text(encoding="utf-8")
    comments = (line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    table.attrs["source"] = " ".join(comments)
    return table
