"""How long the pages are, and how much of the code a reader sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from count_pages import Lines, lines, pages, words

from tests.book.built_site import PAGES, site
from tests.book.small_book import REPOSITORY

LONG = {"book/theory": 3600, "book/definitions": 3000}
"""The pages that may be longer than others."""

MOST, ALL = 3000, 45_000

CHAPTERS = sorted((REPOSITORY / "notebooks").glob("[0-9][0-9]_*.py"))


def test_words_are_those_of_the_text_and_of_tables(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code = '<div class="cell_input"><pre>x = 1</pre></div><div class="highlight"><pre>$ run it</pre></div>'
    page.write_text(f"<nav>Menu</nav><article class='bd-article'><p>Two words.</p>{code}<td>0.5</td></article>")
    assert words(page) == 3


def test_lines_are_seen_or_hidden_and_exercises_are_neither(tmp_path: Path) -> None:
    cells = ["# %%\nimport numpy\nx = 1", '# %% tags=["hide-input"]\nx = 2\ny = 3', '# %% tags=["parameters"]\nz = 1']
    cells += ["# %%\nanswer = None  # yours", '# %%\ncompanion.exercises.check("1.1", x)']
    chapter = tmp_path / "chapter.py"
    chapter.write_text("\n\n".join(cells))
    assert lines(chapter) == Lines(visible=2, hidden=2)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_shows_more_of_its_code_than_it_hides(chapter: Path) -> None:
    visible, hidden = lines(chapter)
    assert visible > hidden


@pytest.mark.browser  # as it needs the built site
def test_the_book_is_short() -> None:
    built = {str(page.relative_to(site()).with_suffix("")): words(page) for page in pages(site())}
    of_pages = {name: built[name] for name in PAGES}  # a site that was built before may have more
    assert {name: count for name, count in of_pages.items() if count > LONG.get(name, MOST)} == {}
    assert sum(of_pages.values()) <= ALL
