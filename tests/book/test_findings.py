"""What a chapter found stands first on its page."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from findings import bullets, findings_of, move_to_the_top
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

NAME = Path("notebooks/07_x.ipynb")
FOUND = "* The first is 0.62.\n* The second\n  goes on.\n* The third."


def chapter(*ends: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return new_notebook(
        cells=[
            new_markdown_cell("# A title\n\nAn opening.\n\nYou will learn\n\n* this."),
            new_code_cell("x = 1"),
            *ends,
        ]
    )


def made(text: str | None = FOUND) -> nbformat.NotebookNode:
    data = {"text/plain": "<IPython.core.display.Markdown object>"} | ({"text/markdown": text} if text else {})
    return new_code_cell(
        "Markdown(...)",
        outputs=[new_output("execute_result", data, execution_count=1)],
        metadata={"tags": ["remove-input", "findings"]},
    )


def sources(notebook: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in notebook.cells]


def test_the_findings_stand_below_the_title() -> None:
    notebook = chapter(new_markdown_cell("## What we found"), made(), new_markdown_cell("## Exercises"))
    move_to_the_top(NAME, notebook)
    title, *rest = sources(notebook)
    assert title.startswith("# A title\n\nAn opening.\n\n:::::{admonition} What we found\n:class: findings\n")
    assert FOUND in title
    assert bullets(FOUND) == ["The first is 0.62.", "The second goes on.", "The third."]
    assert title.endswith(":::::\n\nYou will learn\n\n* this.")
    assert rest == ["x = 1", "## Exercises"]
    nbformat.validate(notebook)


def test_only_the_heading_goes_from_a_cell_that_says_more_and_a_chapter_without_findings_stays() -> None:
    notebook = chapter(new_markdown_cell("Words before.\n\n## What we found\n"), made())
    move_to_the_top(NAME, notebook)
    assert sources(notebook)[1:] == ["x = 1", "Words before."]
    without = chapter(new_markdown_cell("## Exercises"))
    before = sources(without)
    move_to_the_top(NAME, without)
    assert sources(without) == before
    assert findings_of(NAME, without) is None


def test_a_cell_that_shows_no_findings_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"07_x.ipynb: the cell tagged 'findings' must show Markdown"):
        move_to_the_top(NAME, chapter(made(None)))
