"""The ledger and the claims as tables of a page that can be filtered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from affscore.papers.claims.claim import Decision
from affscore.papers.ledger.finding import VERDICTS, Row

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
    for source, members in groupby(sorted(rows, key=lambda row: sources.index(row.printed.source)), _source):
        some = list(members)
        told = ", ".join(f"{count} {verdict}" for verdict in VERDICTS if (count := _count(some, verdict)))
        parts.append(f'<details class="source" data-source="{escape(source)}">')
        parts.append(f"<summary><strong>{escape(source)}</strong>: {told}</summary>")
        parts.append(f"{_table_head(_HEAD)}<tbody>{''.join(map(_line, some))}</tbody></table></details>")
    return "\n".join([*parts, "</div>"]) + _FILTER.replace("NAME", escape(name))


def claims_page(decisions: Iterable[Decision]) -> str:
    """The claims as an HTML table: what is said where, what was found on what, and the verdict.

    Args:
        decisions: What :func:`affscore.papers.claims.decide_claims` returns.

    Returns:
        A fragment of HTML.
    """
    lines = []
    for claim, members in groupby(decisions, lambda one: one.claim):
        some = list(members)
        said = f"{escape(claim.claim)}<br><em>{escape(claim.source)}</em>"
        test = f"<details><summary>test</summary>{escape(claim.test)}</details>"
        first = f'<td rowspan="{len(some)}">{said}{test}</td>'
        for number, one in enumerate(some):
            about, scope = (one.facts.about, one.facts.scope) if one.facts else ("nothing that there is", "")
            networks = str(one.outcome.networks or "") if one.outcome else ""
            cells = [
                f"<td><strong>{escape(one.verdict)}</strong></td>",
                f"<td>{escape(about)}{' (analogue)' if one.analogue else ''}</td>",
                f"<td>{escape(scope)}</td>",
                f"<td>{networks}</td>",
                f"<td>{escape(one.found)}</td>",
            ]
            lines.append(f"<tr>{'' if number else first}{''.join(cells)}</tr>")
    head = _table_head(("claim", "verdict", "tested on", "scope", "networks", "found"))
    return f'<div class="ledger">{head}<tbody>{"".join(lines)}</tbody></table></div>'


def _source(row: Row) -> str:
    return row.printed.source


def _count(rows: Sequence[Row], verdict: str) -> int:
    return sum(row.verdict == verdict for row in rows)


def _choice(what: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{what} <select data-pick="{what}"><option value="">all</option>{options}</select></label>'


def _table_head(columns: Sequence[str]) -> str:
    return f'<table class="dataframe"><thead><tr>{"".join(f"<th>{c}</th>" for c in columns)}</tr></thead>'


def _line(row: Row) -> str:
    digits = 0 if row.finding.exact else row.printed.decimals + 2
    reason = f"<br>{escape(row.reason)}" if row.reason else ""
    command = escape(row.finding.command)
    how = f"<details><summary>command</summary><code>{command}</code></details>" if command else ""
    cells = [
        escape(row.printed.item),
        escape(row.printed.text),
        escape(row.finding.way),
        "" if row.ours is None else f"{row.ours:.{digits}f}",
        "" if row.difference is None else f"{row.difference:+.{digits}f}",
        f"<strong>{escape(row.verdict)}</strong>{reason}{how}",
        escape(row.analogue_text),
    ]
    return f'<tr data-verdict="{escape(row.verdict)}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
