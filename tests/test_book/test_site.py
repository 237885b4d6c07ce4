"""The built site in headless Chromium: on a screen and on a phone, in the light and in the dark."""

from __future__ import annotations

import gzip
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlparse

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Request, ViewportSize, sync_playwright

from affscore import affinity_score
from tests.test_book.built_site import CHAPTERS, PAGES, SITE, TOC, missing, site

SCREEN, PHONE = 1280, 390
LOOKS = {
    "screen": (SCREEN, "light"),
    "phone": (PHONE, "light"),
    "screen in the dark": (SCREEN, "dark"),
    "phone in the dark": (PHONE, "dark"),
}
HEAVIEST_PAGE = 1.5e6
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
AXE = files("axe_playwright_python") / "axe.min.js"

UNFOLD = """() => {
    for (const folded of document.querySelectorAll('article details')) folded.open = true;
    for (const button of document.querySelectorAll('article .toggle-hidden')) button.classList.remove('toggle-hidden');
}"""
CUT_CODE = """() => [...document.querySelectorAll('article pre')]
    .filter(block => block.scrollWidth > block.clientWidth)
    .map(block => block.innerText.split('\\n').sort((a, b) => b.length - a.length)[0])"""
CUT_TABLES = """() => [...document.querySelectorAll('article table')].filter(table => {
    let box = table.parentElement;
    const scrolls = box => ['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
    while (box.tagName != 'ARTICLE' && !scrolls(box)) box = box.parentElement;
    return box.scrollWidth > box.clientWidth + 1;
}).map(table => table.rows[0].innerText.replace(/\\s+/g, ' ').slice(0, 90))"""
HEADINGS = "() => [...document.querySelectorAll('article :is(h1, h2, h3, h4, h5, h6)')].map(h => Number(h.tagName[1]))"
SERIOUS = """async (only) => {
    const options = {resultTypes: ['violations'], ...(only ? {runOnly: only} : {})};
    const found = (await axe.run(document, options)).violations;
    return found.filter(rule => ['serious', 'critical'].includes(rule.impact))
        .map(rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.target.join(' '))]);
}"""

pytestmark = pytest.mark.browser
VISITS = [(name, look) for look in LOOKS for name in PAGES]  # those on a screen come first
_NAMES = [f"{name}-{look}" for name, look in VISITS]
# Of module scope, pytest puts the tests of one visit one after the other: each page is loaded once in each look.
each_visit = pytest.mark.parametrize("seen", VISITS, ids=_NAMES, indirect=True, scope="module")
each_visit_on_a_screen = pytest.mark.parametrize(
    "seen", VISITS[: len(PAGES)], ids=_NAMES[: len(PAGES)], indirect=True, scope="module"
)
on_a_screen = pytest.mark.parametrize("look", ["screen"])
each_width = pytest.mark.parametrize("look", ["screen", "phone"])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site())))
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
        page.on("requestfailed", self.failed)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.goto(url)
        page.wait_for_load_state("networkidle")
        self.outside = [url for url in self.requests if not url.startswith((address, "data:", "blob:"))]

    def failed(self, request: Request) -> None:
        self.errors.append(f"{request.url}: {request.failure}")


@contextmanager
def visited(browser: Browser, address: str, name: str, look: str) -> Iterator[Visit]:
    width, scheme = LOOKS[look]
    options: dict[str, Any] = {"viewport": ViewportSize(width=width, height=900), "color_scheme": scheme}
    context = browser.new_context(**options)
    context.set_default_timeout(60_000)
    yield Visit(context.new_page(), f"{address}{name}.html", address)
    context.close()


@pytest.fixture
def visit(browser: Browser, address: str, name: str, look: str) -> Iterator[Visit]:
    with visited(browser, address, name, look) as found:
        yield found


class Seen(NamedTuple):
    """A visit that several tests look at, and change nothing that matters to the others."""

    visit: Visit
    name: str
    look: str


@pytest.fixture(scope="module")
def seen(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Seen]:
    with visited(browser, address, *request.param) as found:
        yield Seen(found, *request.param)


@each_visit
def test_a_page_is_whole(seen: Seen) -> None:
    visit, _, look = seen
    width, scheme = LOOKS[look]
    assert visit.outside == []
    assert visit.errors == []
    page = visit.page
    assert page.locator("html").get_attribute("data-theme") == scheme
    assert page.locator("article h1").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page is wider than the screen"

    for image in page.locator("img").all():
        assert image.get_attribute("alt"), f"no description: {image.get_attribute('src')}"
    for image in page.locator("article img").all():
        assert image.evaluate("image => image.complete && image.naturalWidth > 0"), image.get_attribute("src")
        # a figure may be wider than a phone, where what it stands in scrolls
        shown = "image => (image.closest('.cell_output figure') || image).getBoundingClientRect().width"
        assert image.evaluate(shown) <= width
    empty = "[...document.querySelectorAll('svg.svg-inline--fa path')].filter(path => !path.getAttribute('d')).length"
    assert page.evaluate(empty) == 0, "an icon that the site does not ship"

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


@each_visit
def test_everybody_can_read_a_page(seen: Seen) -> None:
    """axe-core finds nothing serious; in the dark, where only colours change, it looks at these."""
    page, look = seen.visit.page, seen.look
    page.add_script_tag(content=AXE.read_text())
    assert page.evaluate(SERIOUS, ["color-contrast"] if "dark" in look else None) == []
    if look == "screen":
        levels = page.evaluate(HEADINGS)
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels)), levels


@each_visit_on_a_screen
def test_nothing_is_cut_on_a_screen(seen: Seen) -> None:
    seen.visit.page.evaluate(UNFOLD)
    assert seen.visit.page.evaluate(CUT_CODE) == [], "code that is cut"
    assert seen.visit.page.evaluate(CUT_TABLES) == [], "tables that are cut"


@cache
def weight(path: str) -> int:
    """Bytes that travel: text is compressed, by any server."""
    file = SITE / path.lstrip("/")
    if not file.is_file() or (file.suffix.startswith(".woff") and "mathjax" in path):
        return 0
    content = file.read_bytes()
    return len(gzip.compress(content, 6)) if file.suffix in {".html", ".js", ".css", ".svg", ".json"} else len(content)


@each_visit_on_a_screen
def test_a_page_is_light(seen: Seen) -> None:
    assert sum(weight(urlparse(url).path) for url in set(seen.visit.requests)) < HEAVIEST_PAGE


@each_visit_on_a_screen
def test_figures_have_the_number_of_their_page(seen: Seen) -> None:
    captions = seen.visit.page.locator("article figcaption .caption-number").all_inner_texts()
    number = re.match(r"notebooks/0?(\d+)", seen.name)
    of_page = f"{number[1]}." if number else ""
    assert captions == [f"Fig. {of_page}{count} " for count in range(1, len(captions) + 1)]


@on_a_screen
@pytest.mark.parametrize("name", CHAPTERS[:1])
def test_paper_shows_what_is_folded(visit: Visit, name: str, look: str) -> None:
    page = visit.page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert page.locator("article details:not([open])").count() == 0
    assert page.locator("article .solution .cell").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("article details[open]").count() == 0


@each_width
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_solution_unfolds(visit: Visit, name: str, look: str) -> None:
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
def test_a_reader_slides_the_window_of_relu(visit: Visit, name: str, look: str) -> None:
    visit.page.wait_for_url(f"**/{TOC['root']}.html")
    window = visit.page.locator("#relu-window")

    def check(low: float, high: float) -> str:
        """The score shown is that of evenly spread inputs, by the library."""
        x = low + (high - low) * (np.arange(1000) + 0.5)[:, None] / 1000
        shown = float(window.get_attribute("data-score") or "nan")
        assert shown == pytest.approx(float(affinity_score(x, np.maximum(x, 0), "empirical")), abs=2e-3)
        label = window.locator("svg").get_attribute("aria-label") or ""
        assert f"score is {shown:.2f}" in label
        assert f"from {low:g} to {high:g}".replace("-", "\N{MINUS SIGN}") in label
        return window.locator("strong").inner_text()

    three = {"outputs all zero": (-20, 0), "just past the bend": (-18, 2), "half on each side": (-10, 10)}
    scores = []
    for button, ends in three.items():
        window.get_by_role("button", name=button).click()
        scores.append(check(*ends))
    assert scores == ["1.00", "0.27", "0.68"]  # three of the panels of figure 2
    middle = window.get_by_role("slider", name=re.compile("Middle"))
    middle.focus()
    for _ in range(5):
        visit.page.keyboard.press("ArrowLeft")
    check(-12.5, 7.5)
    window.get_by_role("slider", name="Width").press("Home")
    check(-4.5, -0.5)
    middle.press("End")
    assert check(8, 12) == "1.00"


@pytest.mark.parametrize("scripts", [True, False])
def test_the_front_page_shows_a_picture_where_there_is_no_script(browser: Browser, address: str, scripts: bool) -> None:
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{address}{TOC['root']}.html")
    assert page.locator("noscript img").is_visible() is not scripts
    assert page.locator("img.two-signatures").is_visible()
    context.close()


@each_width
@pytest.mark.parametrize("name", ["search"])
def test_the_search_finds_a_page(visit: Visit, name: str, look: str, address: str) -> None:
    visit.page.goto(f"{address}search.html?q=affinity")
    visit.page.locator("#search-results li").first.wait_for(state="attached")
    assert visit.errors == []


@each_width
@pytest.mark.parametrize("name", ["notebooks/80_the_ledger"])
def test_the_rows_of_the_ledger_are_cards_on_a_phone(visit: Visit, name: str, look: str) -> None:
    """No cell lies beyond the edge of a phone, none that is empty takes room, and each says what it is of."""
    shown = """() => [...document.querySelectorAll('.ledger td')].filter(cell => cell.offsetParent).map(cell => ({
        right: cell.getBoundingClientRect().right, empty: !cell.innerText.trim(), label: cell.dataset.label,
        named: getComputedStyle(cell, '::before').content != 'none'}))"""
    visit.page.evaluate(UNFOLD)
    cells = visit.page.evaluate(shown)
    assert len(cells) > 500
    if look == "screen":
        assert any(cell["empty"] for cell in cells)
        assert not any(cell["named"] for cell in cells)
        return
    assert max(cell["right"] for cell in cells) <= PHONE
    assert not any(cell["empty"] for cell in cells)
    assert all(cell["named"] == (cell["label"] not in ("claim", "item")) for cell in cells)
