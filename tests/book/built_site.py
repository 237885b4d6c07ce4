"""The built site: its pages, and where they lie."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NoReturn

import pytest
import yaml

from tests.book.small_book import REPOSITORY

SITE = REPOSITORY / "_build" / "html"
TOC = yaml.safe_load((REPOSITORY / "book" / "_toc.yml").read_text())
_CHAPTERS = [chapter for part in TOC["parts"] for chapter in part["chapters"]]
_ENTRIES = [entry for chapter in _CHAPTERS for entry in (chapter, *chapter.get("sections", ()))]
PAGES: list[str] = [TOC["root"], *(entry["file"] for entry in _ENTRIES)]
CHAPTERS = [
    page for page in PAGES if re.match(r"notebooks/(?!00)\d\d_(?!what_is_reproduced)", page)
]  # those with exercises


def missing(what: str) -> NoReturn:
    """Skip, or fail where a browser was promised."""
    if os.environ.get("AFFSCORE_REQUIRE_BROWSER"):
        pytest.fail(what)
    pytest.skip(what)


def site() -> Path:
    """The folder of the site, where it is built."""
    if not (SITE / "index.html").exists():
        missing("the site is not built: run `make book` first")
    return SITE
