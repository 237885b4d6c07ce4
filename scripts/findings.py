"""``stage_book`` and ``front_page`` read what a chapter found with it: the cell tagged ``findings``."""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode
from notebook_files import error

TAG = "findings"
HEADING = re.compile(r"^## What we found[ \t]*$", re.MULTILINE)
BOX = """\
:::::{{admonition}} What we found
:class: findings

{findings}
:::::
"""


def findings_of(name: Path, notebook: NotebookNode) -> str | None:
    """The sentences that a chapter's cell tagged ``findings`` made, in Markdown; None of a chapter without one."""
    cell = _cell_of(notebook)
    if cell is None:
        return None
    made = [output.get("data", {}).get("text/markdown") for output in cell.outputs]
    if not any(made):
        raise error(
            f"{name}: the cell tagged 'findings' must show Markdown(...), the findings of this run; it shows none"
        )
    return "".join(next(filter(None, made))).strip()


def move_to_the_top(name: Path, notebook: NotebookNode) -> None:
    """Put the findings into a box below the opening, and take their cell and its heading from where they were made."""
    findings = findings_of(name, notebook)
    if findings is None:
        return
    place = notebook.cells.index(_cell_of(notebook))
    del notebook.cells[place]
    before = (cell for cell in reversed(notebook.cells[:place]) if HEADING.search(cell.source))
    for cell in before:
        if cell.cell_type == "markdown":
            cell.source = HEADING.sub("", cell.source).strip()
            break
    notebook.cells = [cell for cell in notebook.cells if cell.source or cell.cell_type != "markdown"]
    title = notebook.cells[0]
    opening, rest = _opening_and_rest(title.source)
    title.source = "\n\n".join(filter(None, (opening, BOX.format(findings=findings).strip(), rest)))


def _opening_and_rest(source: str) -> tuple[str, str]:
    r"""The title with its first paragraph, and what follows.

    >>> _opening_and_rest("# Title\n\nAn opening.\n\nYou will learn\n\n* this.")
    ('# Title\n\nAn opening.', 'You will learn\n\n* this.')
    """
    parts = re.split(r"\n[ \t]*\n", source.strip(), maxsplit=2)
    return "\n\n".join(parts[:2]), "".join(parts[2:])


def bullets(findings: str) -> list[str]:
    r"""The findings one by one, each in one line. A space that must not break stays one.

    >>> bullets("* The first\n  goes on.\n* The second, 5\u00a0%.")
    ['The first goes on.', 'The second, 5\xa0%.']
    """
    items = re.split(r"^[*-] ", findings, flags=re.MULTILINE)[1:]
    return [re.sub(r"[ \n]+", " ", item).strip() for item in items]


def _cell_of(notebook: NotebookNode) -> NotebookNode | None:
    return next((cell for cell in notebook.cells if TAG in cell.metadata.get("tags", [])), None)
