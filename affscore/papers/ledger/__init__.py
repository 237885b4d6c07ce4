"""The ledger: every number that the papers print, beside ours, or beside an analogue where we have none."""

from affscore.papers.ledger.finding import DIFFERS, NEEDS_DATA, REPRODUCED, VERDICTS, WAYS, Finding, Row
from affscore.papers.ledger.printed import PrintedNumber, printed_numbers
from affscore.papers.ledger.table import ALL, COLUMNS, KINDS, Ledger, ledger

__all__ = [
    "ALL",
    "COLUMNS",
    "DIFFERS",
    "KINDS",
    "NEEDS_DATA",
    "REPRODUCED",
    "VERDICTS",
    "WAYS",
    "Finding",
    "Ledger",
    "PrintedNumber",
    "Row",
    "ledger",
    "printed_numbers",
]
