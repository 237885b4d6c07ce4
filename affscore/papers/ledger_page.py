"""The ledger and the claims as tables of a page that can be filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from affscore.papers.claim import ClaimRow
from affscore.papers.comparison import VERDICTS, Row

__all__ = ["claims_page", "ledger_page"]

_HEAD = ("item", "printed", "way", "ours", "difference", "verdict", "analogue")

_FILTER = """
<script>
(() => {
  const box = document.getElementById("NAME"), source = box.querySelector("[data-pick=source]"),
    verdict = box.querySelector("[data-pick=verdict]");
  const show = () => box.querySelectorAll("details.source").forEach((part) => {
    let left = 0;
    part.querySelectorAll("tbody tr").forEach((row) => {
      row.hidden = verdict.value !== "" && row.dataset.verdict !== verdict.value;
      left += !row.hidden;
    });
    part.hidden = left === 0 || (source.value !== "" && part.dataset.source !== source.value);
    part.open = !part.hidden && (source.value !== "" || verdict.value !== "");
  });
  source.addEventListener("change", show);
  verdict.addEventListener("change", show);
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
    parts = [f'<div class="ledger" id="{escape(name)}">', "<p>"]
    parts += [_choice("source", sources), _choice("verdict", VERDICTS), "</p>"]
    for source in sources:
        some = [row for row in rows if row.printed.source == source]
        counts = Counter(row.verdict for row in some)
        listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
        parts.append(f'<details class="source" data-source="{escape(source)}">')
        parts.append(f"<summary><strong>{escape(source)}</strong>: {listed}</summary>")
        parts.append(f"{_table_head(_HEAD)}<tbody>{''.join(map(_line, some))}</tbody></table></details>")
    return "\n".join([*parts, "</div>"]) + _FILTER.replace("NAME", escape(name))


def claims_page(rows: Iterable[ClaimRow]) -> str:
    """The claims as an HTML table: what is said where, what was found on what, and the verdict.

    Args:
        rows: The claims of a ledger.

    Returns:
        A fragment of HTML.
    """
    lines = []
    for claim, members in groupby(rows, lambda one: one.claim):
        some = list(members)
        text = f"{escape(claim.text)}<br><em>{escape(claim.source)}</em>"
        test = f"<details><summary>test</summary>{escape(claim.test)}</details>"
        first = f'<td rowspan="{len(some)}">{text}{test}</td>'
        for one in some:
            about, scope = (one.results.about, one.results.scope) if one.results else ("nothing that there is", "")
            cells = [
                f"<strong>{escape(one.verdict.word)}</strong>",
                f"{escape(about)}{' (analogue)' if one.analogue else ''}",
                escape(scope),
                str(one.verdict.networks or ""),
                escape(one.verdict.found),
            ]
            lines.append(f"<tr>{first}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
            first = ""
    head = _table_head(("claim", "verdict", "tested on", "scope", "networks", "found"))
    return f'<div class="ledger">{head}<tbody>{"".join(lines)}</tbody></table></div>'


def _choice(what: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{what} <select data-pick="{what}"><option value="">all</option>{options}</select></label>'


def _table_head(columns: Sequence[str]) -> str:
    return f'<table class="dataframe"><thead><tr>{"".join(f"<th>{c}</th>" for c in columns)}</tr></thead>'


def _line(row: Row) -> str:
    digits = 0 if row.our_number.exact else row.printed.decimals + 2
    reason = f"<br>{escape(row.reason)}" if row.reason else ""
    how = f"<details><summary>command</summary><code>{escape(row.command)}</code></details>" if row.command else ""
    cells = [
        escape(row.printed.item),
        escape(row.printed.text),
        escape(row.our_number.way),
        "" if row.ours is None else f"{row.ours:.{digits}f}",
        "" if row.difference is None else f"{row.difference:+.{digits}f}",
        f"<strong>{escape(row.verdict)}</strong>{reason}{how}",
        escape(row.analogue),
    ]
    return f'<tr data-verdict="{escape(row.verdict)}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
