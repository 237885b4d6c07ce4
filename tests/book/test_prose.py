"""What readers read: spelling, and code that fits on the page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from markdown_it import MarkdownIt

from tests.book.small_book import REPOSITORY

CODE_WIDTH = 78
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("[0-9]*.ipynb"))
PROSE = [*sorted((REPOSITORY / "book").rglob("*.md")), REPOSITORY / "README.md"]


def code_blocks(text: str) -> Iterator[str]:
    """The blocks of code in Markdown, also those within directives."""
    for token in MarkdownIt().parse(text):
        if token.type == "fence" and token.info.startswith("{"):
            yield from code_blocks(token.content)
        elif token.type == "fence" and token.info:  # a block without a language is what a program prints
            yield token.content


def too_long(code: str) -> list[str]:
    return [line for line in code.splitlines() if len(line) > CODE_WIDTH]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_shown_code_fits_on_the_page(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and not {"remove-input", "remove-cell"} & set(cell.metadata.get("tags", [])):
            assert too_long(cell.source) == []
        if cell.cell_type == "markdown":
            assert [line for block in code_blocks(cell.source) for line in too_long(block)] == []


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.stem)
def test_code_in_prose_fits_on_the_page(path: Path) -> None:
    assert [line for block in code_blocks(path.read_text(encoding="utf-8")) for line in too_long(block)] == []


def test_spelling() -> None:
    """``[tool.codespell]`` in pyproject.toml says what it reads, and which words it does not know."""
    command = [sys.executable, "-m", "codespell_lib"]
    found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert found.stdout == ""
    assert found.returncode == 0, found.stderr
