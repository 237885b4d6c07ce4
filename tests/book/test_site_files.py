"""The built site as files: what links lead to, the public names that it has, and the memory its notebooks took."""

from __future__ import annotations

import importlib
import json
import pydoc
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import api_pages
import pytest

from tests.book.built_site import PAGES, site
from tests.book.small_book import REPOSITORY

NOTEBOOKS = [page for page in PAGES if page.startswith("notebooks/")]


class Links(HTMLParser):
    """What a page links to, and which anchors it has."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = {"", "top"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self.targets |= {found[name] for name in ("href", "src") if name in found}


@cache
def links(path: Path) -> Links:
    parser = Links()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    path = site() / f"{name}.html"
    dead = []
    for target in links(path).targets:
        if target.startswith(("http://", "https://", "mailto:", "data:", "javascript:")):
            continue
        place, anchor = urldefrag(target)
        there = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
        if not there.is_file() or (there.suffix == ".html" and unquote(anchor) not in links(there).anchors):
            dead.append(target)
    assert dead == []


@pytest.mark.browser
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_fits_a_small_machine(name: str) -> None:
    """Its process takes less than 3 GB of the 4 that a machine may have; jobs beside it share the rest."""
    site()
    executed = json.loads((REPOSITORY / "_build" / "executed" / "mini" / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert 200 < executed["metadata"]["affscore"]["peak_mb"] < 3000


def test_every_public_name_is_on_a_page() -> None:
    texts = [(REPOSITORY / page).read_text() for page in api_pages.PAGES]
    text = "".join(api_pages.filled(page, api_pages.in_full(texts)) for page in texts)
    listed = re.findall(r"^\| `([\w.]+)` \| (.+) \|$", text, re.MULTILINE)
    assert [name for name, sentence in listed if not name.startswith(".") and not sentence.endswith(".")] == []
    documented = {id(pydoc.locate(name)) for name in (*api_pages.in_full(texts), *dict(listed))}
    for package in api_pages.NAMES.findall("".join(texts))[0].split():
        names = api_pages.public_names(package)
        assert names
        home = importlib.import_module(package)
        assert [name for name in names if id(getattr(home, name)) not in documented] == []
    assert "`.mean_interval` |" in text
    assert "`affscore.signature` |" not in text


def test_what_docstrings_name_exists() -> None:
    rooms = (REPOSITORY / "affscore", REPOSITORY / "notebooks" / "companion")
    text = "".join(path.read_text() for room in rooms for path in room.rglob("*.py"))
    named = set(re.findall(r":(?:func|class|meth|data|mod):`((?:affscore|companion)\.[\w.]+)`", text))
    assert len(named) > 100
    assert [name for name in sorted(named) if pydoc.locate(name) is None] == []
