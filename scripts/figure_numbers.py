"""A Sphinx extension: figures are numbered by page, Fig. 5.1 on the page of ``05_a_decade_at_a_glance``.

Sphinx numbers figures through the whole book, so that a new figure, or another order of the chapters, renumbers all
that follow. The number of a chapter is that of its file, for ever; figures of other pages are Fig. 1, Fig. 2, ...
Captions and ``{numref}`` read the numbers from the same table, which is changed here after Sphinx has filled it.
Tables, equations and exercises keep theirs.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

AFTER_SPHINX = 900
"""Sphinx's own handler of the same event, which numbers the figures, has priority 500."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("env-get-updated", by_page, priority=AFTER_SPHINX)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def by_page(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Number the figures of every page from 1, behind the number of its file.

    Returns:
        The pages that have to be written again: none but those that Sphinx found itself, which compares its own numbers
        with ours and so finds every page with figures.
    """
    for page, numbers in env.toc_fignumbers.items():
        figures = numbers.get("figure", {})
        chapter = chapter_number(page)
        for count, identifier in enumerate(figures, start=1):
            figures[identifier] = (*chapter, count)
    return []


def chapter_number(page: str) -> tuple[int, ...]:
    """The number that a page's name begins with, if it does.

    >>> chapter_number("notebooks/05_a_decade_at_a_glance"), chapter_number("book/theory")
    ((5,), ())
    """
    found = re.match(r"(\d+)_", PurePosixPath(page).name)
    return (int(found[1]),) if found else ()
