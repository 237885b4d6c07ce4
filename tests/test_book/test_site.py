"""The built site in headless Chromium, on a screen and on a phone."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NoReturn

import pytest
import yaml
from playwright.sync_api import Browser, Page, sync_playwright

REPOSITORY = Path(__file__).resolve().parents[2]
SITE = REPOSITORY / "_build" / "html"
TOC = yaml.safe_load((REPOSITORY / "book" / "_toc.yml").read_text())
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
CHAPTERS = [page for page in PAGES if re.match(r"notebooks/[0-7]", page)]  # 80 and above are reference
WIDTHS = {"screen": 1280, "phone": 390}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"

pytestmark = pytest.mark.browser
each_page = pytest.mark.parametrize("name", PAGES)
each_width = pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)


def missing(what: str) -> NoReturn:
    """Skip, or fail where a browser was promised."""
    if os.environ.get("AFFSCORE_REQUIRE_BROWSER"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not (SITE / "index.html").exists():
        missing("the site is not built: run `make book` first")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        missing(f"no browser on PATH ({', '.join(BROWSERS)}): the tests of the site need one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=[*QUIET.split(), "--no-first-run"])
        yield browser
        browser.close()


class Visit:
    """A page that was loaded, and what happened meanwhile."""

    def __init__(self, page: Page, url: str, address: str) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.goto(url)
        page.wait_for_load_state("networkidle")
        self.outside = [url for url in self.requests if not url.startswith((address, "data:", "blob:"))]


@pytest.fixture
def visit(browser: Browser, address: str, name: str, width: int) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": width, "height": 900})
    yield Visit(context.new_page(), f"{address}{name}.html", address)
    context.close()


@each_width
@each_page
def test_a_page_is_whole(visit: Visit, name: str, width: int) -> None:
    assert visit.outside == []
    assert visit.errors == []
    page = visit.page
    assert page.locator("article h1").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page is wider than the screen"

    for image in page.locator("article img").all():
        assert image.get_attribute("alt"), f"no description: {image.get_attribute('src')}"
        assert image.evaluate("image => image.complete && image.naturalWidth > 0"), image.get_attribute("src")
        # a figure may be wider than a phone, where what it stands in scrolls
        shown = "image => (image.closest('.cell_output figure') || image).getBoundingClientRect().width"
        assert image.evaluate(shown) <= width

    formulas = page.locator("article .math").count()
    if formulas:
        page.wait_for_function(
            "count => document.querySelectorAll('article mjx-container').length >= count", arg=formulas
        )
        sizes = page.evaluate(
            "[...document.querySelectorAll('article mjx-container')].filter(m => m.offsetParent)"
            ".map(m => m.getBoundingClientRect()).map(r => Math.min(r.width, r.height))"
        )
        assert sizes
        assert min(sizes) > 0
        assert page.locator("article mjx-merror").count() == 0
        bars = "[...document.querySelectorAll('article span.math')].map(m => getComputedStyle(m).scrollbarWidth)"
        assert set(page.evaluate(bars)) <= {"none"}, "scrollbars below the formulas of a line"


@each_width
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_solution_unfolds(visit: Visit, name: str, width: int) -> None:
    solutions = visit.page.locator("article .solution").all()
    assert solutions
    for solution in solutions:
        content = solution.locator("section, .cell").first
        assert not content.is_visible()
        solution.locator(".admonition-title").first.click()
        content.wait_for(state="visible")
    assert visit.errors == []


@each_width
@pytest.mark.parametrize("name", ["index"])
def test_the_front_page_shows_a_signature(visit: Visit, name: str, width: int) -> None:
    visit.page.wait_for_url(f"**/{TOC['root']}.html")
    image = visit.page.locator("article img").first
    assert "front-page" in (image.get_attribute("src") or "")
    assert image.is_visible()


@each_width
@pytest.mark.parametrize("name", ["search"])
def test_the_search_finds_a_page(visit: Visit, name: str, width: int, address: str) -> None:
    visit.page.goto(f"{address}search.html?q=affinity")
    visit.page.locator("#search-results li").first.wait_for(state="attached")
    assert visit.errors == []
