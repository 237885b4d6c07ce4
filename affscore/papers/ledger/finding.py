"""What was found out about a printed number, and the verdict that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affscore.papers.ledger.printed import PrintedNumber

__all__ = [
    "COMPUTED",
    "DIFFERS",
    "LOOKED_UP",
    "MEASURED",
    "NEEDS_DATA",
    "REPRODUCED",
    "VERDICTS",
    "WAYS",
    "Finding",
    "Row",
    "row_of",
]

REPRODUCED = "reproduced"
DIFFERS = "differs"
NEEDS_DATA = "needs data"

VERDICTS = (REPRODUCED, DIFFERS, NEEDS_DATA)

MEASURED = "measured"
COMPUTED = "computed"
LOOKED_UP = "looked up"

WAYS = (MEASURED, COMPUTED, LOOKED_UP)
"""How a number that is ours was found: by us, from public metadata, or in a list; the last is no experiment."""

UNEXPLAINED = "by more than rounding and sampling explain"

CUT = "cut after the last digit and not rounded, ours would be the printed one"

ERRORS = 2
"""So many standard errors are allowed beside the last printed digit."""


@dataclass(frozen=True)
class Finding:
    """What there is to hold against a printed number.

    Attributes:
        ours: The same thing, measured or computed by us; None where nobody did.
        error: The standard error of the difference that sampling makes, of ours and of the printed number together.
        sampled: Of what more would make the error smaller.
        way: How ours was found, one of :data:`WAYS`.
        exact: Whether both are counts, so that they agree or do not.
        no_measure: What the number is about, where this version of the package does not measure it.
        undefined: Why the same thing has no value in our data, where that is so.
        unprinted: A choice on which the number depends, and which the paper does not print: nobody can find the same
            thing then.
        between: The smallest and the largest that ours is over that choice, where it was tried.
        how: What is peculiar to the way in which ours was found.
        why: What may explain a difference.
        analogue: The same quantity of other networks, weights or data; evidence of nothing, and never a verdict.
        analogue_of: Which networks, weights and data.
        command: What the reader has to run who brings what is missing.
    """

    ours: float | None = None
    error: float = 0.0
    sampled: str = "images"
    way: str = MEASURED
    exact: bool = False
    no_measure: str = ""
    undefined: str = ""
    unprinted: str = ""
    between: tuple[float, float] | None = None
    how: str = ""
    why: str = ""
    analogue: float | None = None
    analogue_of: str = ""
    command: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the ledger.

    Attributes:
        printed: The number in the paper.
        finding: What there is beside it.
        ours: Ours, rounded to two digits more than are printed.
        difference: ours - published.
        tolerance: How large the difference may be, in its direction.
        verdict: One of :data:`VERDICTS`.
        reason: The words behind the verdict: what it rests on, or why it differs.
    """

    printed: PrintedNumber
    finding: Finding
    ours: float | None
    difference: float | None
    tolerance: float | None
    verdict: str
    reason: str

    @property
    def verdict_text(self) -> str:
        """The verdict with its reason, as the ledger prints it."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict

    @property
    def analogue_text(self) -> str:
        """The analogue and what it is, or nothing."""
        value = self.finding.analogue
        if value is None or not np.isfinite(value):
            return ""
        return f"{value:.{self.printed.decimals + 1}f} ({self.finding.analogue_of})"


def row_of(printed: PrintedNumber, finding: Finding) -> Row:
    r"""The line of the ledger for a printed number.

    A number counts as reproduced where

    .. math:: |\text{ours} - \text{published}| \le \frac u 2 + 2 s,

    u being one unit of the last printed digit, of which rounding takes a half, and s the standard error of sampling; of
    counts both are 0. Where s itself is larger than u, too little was measured to decide, and the number needs more
    data: otherwise the worse the data, the more would be reproduced. A number that depends on a choice which the paper
    does not print needs that choice: it is at most consistent with ours, and differs where ours is never near it.

    Args:
        printed: The number in the paper.
        finding: What there is beside it.

    >>> number = PrintedNumber("", "", "", "0.62", "", "")
    >>> row_of(number, Finding(ours=0.6249)).verdict_text, row_of(number, Finding(ours=0.75, why="why")).verdict_text
    ('reproduced (within 0.005)', 'differs (why)')
    """
    if finding.undefined:
        return Row(printed, finding, None, None, None, DIFFERS, finding.undefined)
    if finding.unprinted:
        return _of_unprinted_choice(printed, finding)
    if finding.ours is None or not np.isfinite(finding.ours):
        reason = f"not measured by this version: {finding.no_measure}" if finding.no_measure else ""
        return Row(printed, finding, None, None, None, NEEDS_DATA, reason)
    digits = printed.decimals + 2
    ours = round(finding.ours, digits)
    difference = round(ours - printed.value, digits)
    unit = 10.0**-printed.decimals
    if not finding.exact and finding.error > unit:
        told = f"more {finding.sampled}: the standard error of ours is {finding.error:.2g}, more than {unit:g}"
        return Row(printed, finding, ours, difference, None, NEEDS_DATA, "; ".join(filter(None, (told, finding.how))))
    tolerance = 0.0 if finding.exact else round(unit / 2 + ERRORS * finding.error, digits)
    if abs(difference) <= tolerance:
        reason = "" if finding.exact else f"within {tolerance:g}"
        told = "; ".join(filter(None, (reason, finding.how)))
        return Row(printed, finding, ours, difference, tolerance, REPRODUCED, told)
    cut = int(abs(ours) / unit + 1e-9) == round(abs(printed.value) / unit) and not finding.exact
    told = "; ".join(filter(None, (finding.why or UNEXPLAINED, CUT if cut else "", finding.how)))
    return Row(printed, finding, ours, difference, tolerance, DIFFERS, told)


def _of_unprinted_choice(printed: PrintedNumber, finding: Finding) -> Row:
    """The line of a number that depends on a choice which the paper does not print."""
    reason = f"the paper does not print {finding.unprinted}"
    if finding.between is None:
        return Row(printed, finding, None, None, None, NEEDS_DATA, reason)
    low, high = finding.between
    half = 10.0**-printed.decimals / 2
    near = low - half <= printed.value <= high + half
    told = f"{low:.{printed.decimals}f} to {high:.{printed.decimals}f}"
    reason = f"consistent with ours, {told}: {reason}" if near else f"ours is {told}; {reason}"
    return Row(printed, finding, None, None, None, NEEDS_DATA if near else DIFFERS, reason)
