"""A printed number beside ours, and the verdict that follows from the two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affscore.papers.printed import PrintedNumber

VERDICTS = REPRODUCED, DIFFERS, NEEDS_DATA = "reproduced", "differs", "needs data"

WAYS = MEASURED, COMPUTED, LOOKED_UP = "measured", "computed", "looked up"
"""How a number that is ours was found: by us, from public metadata, or in a list; the last is no experiment."""

_PLURALS = {DIFFERS: "differ", NEEDS_DATA: "need data"}


def counted_verdict(count: int, verdict: str) -> str:
    """How many numbers have a verdict, in words that agree.

    >>> counted_verdict(1, DIFFERS), counted_verdict(5, DIFFERS), counted_verdict(0, REPRODUCED)
    ('1 differs', '5 differ', '0 reproduced')
    """
    return f"{count} {verdict if count == 1 else _PLURALS.get(verdict, verdict)}"


UNEXPLAINED = "by more than rounding and sampling explain"

CUT = "cut after the last digit and not rounded, ours would be the printed one"

ERRORS = 2
"""So many standard errors are allowed beside the last printed digit."""


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
        tolerance: How large the difference may be, in its direction.
        analogue: The same quantity of other networks, weights or data, and of which, as text; no verdict rests on it.
        command: What the reader has to run who brings what is missing.
    """

    printed: PrintedNumber
    our_number: OurNumber
    verdict: str
    reason: str = ""
    ours: float | None = None
    difference: float | None = None
    tolerance: float | None = None
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
    our = our or OurNumber()
    shown = ""
    if analogue is not None and np.isfinite(analogue[0]):
        shown = f"{analogue[0]:.{printed.decimals + 1}f} ({analogue[1]})"

    def row(verdict: str, *reasons: str, **numbers: float) -> Row:
        return Row(printed, our, verdict, "; ".join(filter(None, reasons)), analogue=shown, command=command, **numbers)

    unit, digits = 10.0**-printed.decimals, printed.decimals + 2
    if our.undefined:
        return row(DIFFERS, our.undefined)
    if our.unprinted:
        missing = f"the paper does not print {our.unprinted}"
        low, high = our.between or (-np.inf, np.inf)
        ends = f"{low:.{printed.decimals}f} to {high:.{printed.decimals}f}"
        if not low - unit / 2 <= printed.value <= high + unit / 2:
            return row(DIFFERS, f"ours is {ends}", missing)
        return row(NEEDS_DATA, f"consistent with ours, {ends}: {missing}" if our.between else missing)
    if our.value is None or not np.isfinite(our.value):
        return row(NEEDS_DATA)
    ours = round(our.value, digits)
    difference = round(ours - printed.value, digits)
    if not our.exact and our.error > unit:
        more = f"more {our.sampled}: the standard error of ours is {our.error:.2g}, more than {unit:g}"
        return row(NEEDS_DATA, more, our.how, ours=ours, difference=difference)
    tolerance = 0.0 if our.exact else round(unit / 2 + ERRORS * our.error, digits)
    numbers = {"ours": ours, "difference": difference, "tolerance": tolerance}
    if abs(difference) <= tolerance:
        return row(REPRODUCED, "" if our.exact else f"within {tolerance:g}", our.how, **numbers)
    cut = int(abs(ours) / unit + 1e-9) == round(abs(printed.value) / unit) and not our.exact
    return row(DIFFERS, our.why or UNEXPLAINED, CUT if cut else "", our.how, **numbers)
