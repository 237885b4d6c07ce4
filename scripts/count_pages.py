"""Count the words of the site's pages, and the lines of code of each chapter that a reader sees: for CONTRIBUTING.md.

python scripts/count_pages.py _build/html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jupytext
from bs4 import BeautifulSoup
from count_code import lines_of_code

HIDING = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
EXERCISE = re.compile(r"^answer = None|exercises\.check\(", re.MULTILINE)


class Lines(NamedTuple):
    """Lines of code of a chapter, without those of its exercises."""

    visible: int
    hidden: int


def words(page: Path) -> int:
    """The words of a built page, those of tables and formulas too, without code."""
    article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select_one("article.bd-article")
    if article is None:
        return 0
    for code in article.select("div.cell_input, div.highlight, script, style"):
        code.extract()
    return len(article.get_text(" ").split())


def lines(chapter: Path) -> Lines:
    """The lines of a chapter that its page shows, and those that it folds or leaves out."""
    visible = hidden = 0
    for cell in jupytext.read(chapter).cells:
        if cell.cell_type != "code" or EXERCISE.search(cell.source):
            continue
        count = lines_of_code(cell.source)
        if HIDING & set(cell.metadata.get("tags", [])):
            hidden += count
        else:
            visible += count
    return Lines(visible, hidden)


def pages(site: Path) -> Iterator[Path]:
    """The pages of a built site."""
    yield from sorted([*site.glob("book/**/*.html"), *site.glob("notebooks/*.html")])


def main() -> None:
    """Run the command."""
    site = Path(sys.argv[1])
    total = 0
    for page in pages(site):
        total += (count := words(page))
        chapter = Path("notebooks") / f"{page.stem}.py"
        code = "{} visible, {} hidden".format(*lines(chapter)) if chapter.exists() else ""
        print(f"{count:7}  {page.relative_to(site)!s:55} {code}")
    print(f"{total:7}  words in all")


if __name__ == "__main__":
    main()
