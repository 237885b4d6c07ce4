"""The numbers that the papers print, as files that begin with where they are printed, and each beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from affscore.errors import AffscoreError
from companion.characteristics import characteristics
from companion.regression import fisher_interval

VERDICTS = REPRODUCED, DIFFERS, NEEDS_DATA = "reproduced", "differs", "needs data"

WAYS = SIMULATED, MEASURED, COMPUTED, LOOKED_UP = "simulated", "measured", "computed", "looked up"
"""How ours was found: on synthetic samples, on networks, from public metadata, or in a list, which is no experiment."""

UNEXPLAINED = "by more than rounding and sampling explain"

CUT = "cut after the last digit and not rounded, ours would be the printed one"

ERRORS = 2
"""So many standard errors are allowed beside the last printed digit."""


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


def printed_numbers(table: str) -> list[PrintedNumber]:
    """The numbers of a table, row by row; empty cells are none.

    The file ``printed_numbers.csv`` says where each is printed and what it is of. In both ``{row}`` stands for the row,
    ``{name}`` for it with blanks, and another column in braces for what that column says in this row.

    Args:
        table: One of :func:`printed_tables`.

    >>> numbers = printed_numbers("figure4_r2")
    >>> numbers[1].source, numbers[1].item, numbers[1].text
    ('From Alexnet to Transformers, figure 4', 'Pre-residual: R2 of depth', '0.686')
    """
    numbers = []
    for row, cells in printed_text(table).iterrows():
        words = {**{str(name): cell for name, cell in cells.items()}, "row": row, "name": str(row).replace("_", " ")}
        for _, place in _places().query("table == @table and row in ['', @row]").iterrows():
            if text := cells[place["column"]]:
                about = place["source"].format(**words), place["item"].format(**words)
                numbers.append(PrintedNumber(table, str(row), place["column"], text, *about))
    return numbers


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


def printed_correlations(level: float = 0.95) -> pd.DataFrame:
    """Table 2 in the form of :func:`companion.regression.criterion_correlations`, with Fisher's intervals.

    The paper has no intervals. The number of activations is what the recorder counts in torchvision's network of that
    name; what the paper counted is not printed.

    Args:
        level: Of the intervals, in (0, 1).

    >>> table = printed_correlations().set_index(["model", "criterion"])
    >>> table.loc[("resnet18", "cka"), ["activations", "correlation", "low", "high"]].astype(float).round(2).tolist()
    [17.0, 0.59, 0.15, 0.83]
    """
    printed = printed_table("table2_correlations")
    counts = characteristics(printed.index)["activations"].astype(int)
    rows = [
        (model, criterion, count, r, *fisher_interval(r, count, level))
        for (model, correlations), count in zip(printed.iterrows(), counts, strict=True)
        for criterion, r in correlations.items()
    ]
    return pd.DataFrame(rows, columns=["model", "criterion", "activations", "correlation", "low", "high"])


def checkpoints() -> list[str]:
    """The checkpoints that figure 16 names.

    >>> len(checkpoints()), checkpoints()[0]
    (17, 'resnet50')
    """
    return [str(name) for name in printed_table("figure16_checkpoints").index]


@cache
def _places() -> pd.DataFrame:
    return pd.read_csv(Path(__file__).parent / "data" / "printed_numbers.csv", keep_default_na=False)


@cache
def _files() -> dict[str, Path]:
    return {file.stem: file for file in (Path(__file__).parent / "data" / "printed").glob("*.csv")}


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


@dataclass(frozen=True)
class OurNumber:
    """What we have for a printed number.

    Attributes:
        value: The same thing, measured or computed by us; None where nobody did.
        error: The standard error of the difference that sampling makes, of ours and of the printed number together.
        sampled: Of what more would make the error smaller.
        way: How ours was found, one of :data:`WAYS`.
        exact: Whether both are counts, so that they agree or do not.
        undefined: Why the same thing has no value in our data, where that is so.
        unprinted: A choice on which the number depends, and which the paper does not print: nobody can find the same
            thing then.
        between: The smallest and the largest that ours is over that choice, where it was tried.
        how: What is peculiar to the way in which ours was found.
        why: What may explain a difference.
    """

    value: float | None = None
    error: float = 0.0
    sampled: str = "images"
    way: str = MEASURED
    exact: bool = False
    undefined: str = ""
    unprinted: str = ""
    between: tuple[float, float] | None = None
    how: str = ""
    why: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the ledger.

    Attributes:
        printed: The number in the paper.
        our_number: What we have for it.
        verdict: One of :data:`VERDICTS`.
        reason: The words behind the verdict: what it rests on, or why it differs.
        ours: Ours, rounded to two digits more than are printed.
        difference: ours - printed.
        analogue: The same quantity of other networks, weights or data, and of which, as text; no verdict rests on it.
        command: What the reader has to run who brings what is missing.
    """

    printed: PrintedNumber
    our_number: OurNumber
    verdict: str
    reason: str = ""
    ours: float | None = None
    difference: float | None = None
    analogue: str = ""
    command: str = ""

    @property
    def verdict_text(self) -> str:
        """The verdict with its reason, as the ledger prints it."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict


def compare(
    printed: PrintedNumber, our: OurNumber | None = None, analogue: tuple[float, str] | None = None, command: str = ""
) -> Row:
    r"""The line of the ledger for a printed number.

    A number counts as reproduced where

    .. math:: |\text{ours} - \text{printed}| \le \frac u 2 + 2 s,

    u being one unit of the last printed digit, of which rounding takes a half, and s the standard error of sampling; of
    counts both are 0. Where s itself is larger than u, too little was measured to decide, and the number needs more
    data: otherwise the worse the data, the more would be reproduced. A number that depends on a choice which the paper
    does not print needs that choice: it is at most consistent with ours, and differs where ours is never near it.

    Args:
        printed: The number in the paper.
        our: What we have for it; None where nobody measured it.
        analogue: The same quantity of other networks, weights or data, and of which.
        command: What the reader has to run who brings what is missing.

    >>> number = PrintedNumber("", "", "", "0.62", "", "")
    >>> compare(number, OurNumber(0.6249)).verdict_text, compare(number, OurNumber(0.75, why="why")).verdict_text
    ('reproduced (within 0.005)', 'differs (why)')
    """
    our, decimals = our or OurNumber(), printed.decimals
    value, about = analogue or (np.nan, "")
    shown = f"{value:.{decimals + 1}f} ({about})" if np.isfinite(value) else ""

    def row(verdict: str, *reasons: str, **numbers: float) -> Row:
        return Row(printed, our, verdict, "; ".join(filter(None, reasons)), analogue=shown, command=command, **numbers)

    unit = 10.0**-decimals
    if our.undefined:
        return row(DIFFERS, our.undefined)
    if our.unprinted:
        missing, (low, high) = f"the paper does not print {our.unprinted}", our.between or (-np.inf, np.inf)
        ends = f"{low:.{decimals}f} to {high:.{decimals}f}"
        if not low - unit / 2 <= printed.value <= high + unit / 2:
            return row(DIFFERS, f"ours is {ends}", missing)
        return row(NEEDS_DATA, f"consistent with ours, {ends}: {missing}" if our.between else missing)
    if our.value is None or not np.isfinite(our.value):
        return row(NEEDS_DATA)
    numbers = {
        "ours": (ours := round(our.value, decimals + 2)),
        "difference": round(ours - printed.value, decimals + 2),
    }
    if not our.exact and our.error > unit:
        more = f"more {our.sampled}: the standard error of ours is {our.error:.2g}, more than {unit:g}"
        return row(NEEDS_DATA, more, our.how, **numbers)
    tolerance = 0.0 if our.exact else round(unit / 2 + ERRORS * our.error, decimals + 2)
    if abs(numbers["difference"]) <= tolerance:
        return row(REPRODUCED, "" if our.exact else f"within {tolerance:g}", our.how, **numbers)
    cut = int(abs(ours) / unit + 1e-9) == round(abs(printed.value) / unit) and not our.exact
    return row(DIFFERS, our.why or UNEXPLAINED, CUT if cut else "", our.how, **numbers)
