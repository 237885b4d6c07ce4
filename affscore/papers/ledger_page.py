"""The ledger and the claims as tables of a page that can be filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from affscore.papers.claim import ClaimRow
from affscore.papers.comparison import VERDICTS, Row, counted_verdict
from affscore.papers.results import CHOICES

_NUMBERS = ("item", "printed", "way", "ours", "difference", "verdict", "analogue")
_CLAIMS = ("claim", "verdict", "specifications", "tested on", "found")

_FILTER = """
<script>
(() => {
  const box = document.getElementById("NAME"), [source, verdict] = box.querySelectorAll("select");
  box.addEventListener("change", () => box.querySelectorAll("details.source").forEach((part) => {
    const rows = [...part.querySelectorAll("tbody tr")];
    rows.forEach((row) => { row.hidden = !["", row.dataset.verdict].includes(verdict.value); });
    part.hidden = !["", part.dataset.source].includes(source.value) || rows.every((row) => row.hidden);
    part.open = !part.hidden && source.value + verdict.value !== "";
  }));
})();
</script>
"""


def ledger_page(rows: Sequence[Row], name: str = "ledger") -> str:
    """The ledger as HTML: a table for each source, folded up, and two lists to choose sources and verdicts from.

    Without scripts the tables unfold, too; only the lists do nothing.

    Args:
        rows: The rows of a ledger (:class:`affscore.papers.ledger.Ledger`).
        name: The name of the element, another one for each on a page.

    Returns:
        A fragment of HTML that needs no other file.
    """
    sources = list(dict.fromkeys(row.printed.source for row in rows))
    lists = _choice("source", sources) + _choice("verdict", VERDICTS)
    parts = [f'<div class="ledger" id="{escape(name)}"><p>{lists}</p>']
    for source in sources:
        some = [row for row in rows if row.printed.source == source]
        counts = Counter(row.verdict for row in some)
        listed = ", ".join(counted_verdict(counts[verdict], verdict) for verdict in VERDICTS if verdict in counts)
        table = _table(_NUMBERS, map(_line, some))
        parts.append(
            f'<details class="source" data-source="{escape(source)}">'
            f"<summary><strong>{escape(source)}</strong>: {listed}</summary>{table}</details>"
        )
    return "\n".join([*parts, "</div>"]) + _FILTER.replace("NAME", escape(name))


def claims_page(rows: Iterable[ClaimRow]) -> str:
    """The claims as an HTML table: what is said where, what was found on what, and how robust the verdict is.

    The usual choices (:data:`affscore.papers.results.CHOICES`) are left out: a page says them once.

    Args:
        rows: The claims of a ledger.

    Returns:
        A fragment of HTML.
    """
    lines = []
    for claim, members in groupby(rows, lambda one: one.claim):
        some = list(members)
        text = f"{escape(claim.text)}<br><em>{escape(claim.source)}</em>{_folded('test', escape(claim.test))}"
        first = f'<td data-label="claim" rowspan="{len(some)}">{text}</td>'
        for row in some:
            results = row.results
            choices = results.scope.removesuffix(CHOICES).rstrip(", ") if claim.of_scores else ""
            about = escape(results.about or "nothing that there is") + (" (analogue)" if results.analogue else "")
            about += "".join(f"<br>{escape(more)}" for more in (row.tested_on, choices) if more)
            own = "" if row.word == row.verdict.word else f"<br>{row.verdict.word} under the papers' choice"
            words = (f"<strong>{row.word}</strong>{own}", row.specifications, about, escape(row.found))
            lines.append(f"<tr>{first}{_cells(_CLAIMS[1:], words)}</tr>")
            first = ""
    return f'<div class="ledger">{_table(_CLAIMS, lines)}</div>'


def _choice(what: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{what} <select data-pick="{what}"><option value="">all</option>{options}</select></label>'


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>{text}</details>"


def _cells(columns: Sequence[str], cells: Sequence[str]) -> str:
    """Cells that name their columns: on a phone each row is a card, and the style sheet writes the name before it."""
    both = zip(columns, cells, strict=True)
    return "".join(f'<td data-label="{column}">{cell}</td>' for column, cell in both)


def _table(columns: Sequence[str], lines: Iterable[str]) -> str:
    head = "".join(f"<th>{column}</th>".replace(" ", "&nbsp;") for column in columns)
    return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _line(row: Row) -> str:
    digits = 0 if row.our_number.exact else row.printed.decimals + 2
    ours = "" if row.ours is None else f"{row.ours:.{digits}f}"
    difference = "" if row.difference is None else f"{row.difference:+.{digits}f}"
    reason = f"<br>{escape(row.reason)}" if row.reason else ""
    how = _folded("command", f"<code>{escape(row.command)}</code>") if row.command else ""
    verdict = f"<strong>{row.verdict}</strong>{reason}{how}"
    item, printed, analogue = escape(row.printed.item), row.printed.text, escape(row.analogue)
    words = _cells(_NUMBERS, (item, printed, row.our_number.way, ours, difference, verdict, analogue))
    return f'<tr data-verdict="{row.verdict}">{words}</tr>'
