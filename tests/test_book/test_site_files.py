"""The built site as files: what links lead to, and what it weighs."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from tests.test_book.built_site import PAGES, site

pytestmark = pytest.mark.browser
HEAVIEST_SITE = 60e6


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


def test_the_site_is_light() -> None:
    assert sum(path.stat().st_size for path in site().resolve().rglob("*") if path.is_file()) < HEAVIEST_SITE
