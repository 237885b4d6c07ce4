"""The built site in headless Chromium: each page on a screen and on a phone, one of each template in the dark, too."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Request, ViewportSize, sync_playwright

from affscore import affinity_score
from affscore.transport import wasserstein
from companion.real_networks import real_multiverses
from companion.studies import load_study
from tests.book.built_site import CHAPTERS, PAGES, TOC, missing, site

SCREEN, PHONE = 1280, 390
LEDGER = "notebooks/18_what_is_reproduced"
CHAPTER = next(page for page in CHAPTERS if page.startswith("notebooks/01_"))
BIAS, CHOICES = "notebooks/03_estimating_it_well", "notebooks/10_every_choice_at_once"
TRAINING = next(page for page in CHAPTERS if page.startswith("notebooks/11_"))
TEMPLATES = [TOC["root"], CHAPTER, BIAS, CHOICES, TRAINING, LEDGER, "book/api/more", "book/explorer", "book/glossary"]
"""A page of each kind: what all of a kind share, is looked at once."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
AXE = files("axe_playwright_python") / "axe.min.js"

UNFOLD = """() => {
    for (const folded of document.querySelectorAll('article details')) folded.open = true;
    for (const button of document.querySelectorAll('article .toggle-hidden')) button.classList.remove('toggle-hidden');
}"""
IMAGES = """() => [...document.querySelectorAll('img')].filter(image => !image.alt
    || image.closest('article') && !(image.complete && image.naturalWidth > 0)).map(image => image.src)"""
EMPTY_ICONS = "() => [...document.querySelectorAll('svg.svg-inline--fa path')].filter(p => !p.getAttribute('d')).length"
FORMULAS = """() => [...document.querySelectorAll('article mjx-container')].filter(m => m.offsetParent)
    .map(m => m.getBoundingClientRect()).map(r => Math.min(r.width, r.height))"""
BARS = "() => [...document.querySelectorAll('article span.math')].map(m => getComputedStyle(m).scrollbarWidth)"
# a figure may be wider than a phone, where what it stands in scrolls
WIDEST_IMAGE = """() => Math.max(0, ...[...document.querySelectorAll('article img')]
    .map(image => (image.closest('.cell_output figure') || image).getBoundingClientRect().width))"""
CUT_CODE = """() => [...document.querySelectorAll('article pre')]
    .filter(block => block.scrollWidth > block.clientWidth)
    .map(block => block.innerText.split('\\n').sort((a, b) => b.length - a.length)[0])"""
CUT_TABLES = """() => [...document.querySelectorAll('article table')].filter(table => {
    let box = table.parentElement;
    const scrolls = box => ['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
    while (box.tagName != 'ARTICLE' && !scrolls(box)) box = box.parentElement;
    return box.scrollWidth > box.clientWidth + 1;
}).map(table => table.rows[0].innerText.replace(/\\s+/g, ' ').slice(0, 90))"""
CODE_FIRST = """() => [...document.querySelectorAll('article .cell')].filter(cell => {
    const top = part => cell.querySelector(`:scope > ${part}`)?.getBoundingClientRect().top;
    const next = cell.nextElementSibling, shows = '.cell_output :is(figure, table.dataframe, .window)';
    const prepares = !cell.querySelector('.cell_output') && next?.querySelector(':scope > .cell_output > figure');
    return prepares || top(shows) > top('.cell_input');
}).map(cell => cell.textContent.slice(0, 90))"""
HEADINGS = "() => [...document.querySelectorAll('article :is(h1, h2, h3, h4, h5, h6)')].map(h => Number(h.tagName[1]))"
SERIOUS = """async (only) => {
    // A colour is read when its transition has ended: a theme changes those of buttons within 150 ms. Some never end.
    const ended = document.getAnimations().filter(a => a instanceof CSSTransition).map(a => a.finished);
    await Promise.race([Promise.allSettled(ended), new Promise(done => setTimeout(done, 1000))]);
    const options = {resultTypes: ['violations'], preload: false, ...(only.length ? {runOnly: only} : {})};
    const found = (await axe.run(document, options)).violations;
    return found.filter(rule => ['serious', 'critical'].includes(rule.impact))
        .map(rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.target.join(' '))]);
}"""

pytestmark = pytest.mark.browser
# Of module scope, pytest puts the tests of one page one after the other: each page is loaded once.
each_page = pytest.mark.parametrize("seen", PAGES, indirect=True, scope="module")
each_width = pytest.mark.parametrize("width", [SCREEN, PHONE])


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
def visited(browser: Browser, address: str, name: str, width: int = SCREEN, **options: Any) -> Iterator[Visit]:
    context = browser.new_context(viewport=ViewportSize(width=width, height=900), **options)
    context.set_default_timeout(60_000)
    yield Visit(context.new_page(), f"{address}{name}.html", address)
    context.close()


@pytest.fixture
def visit(browser: Browser, address: str, name: str, width: int) -> Iterator[Visit]:
    with visited(browser, address, name, width) as found:
        yield found


@pytest.fixture(scope="module")
def seen(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A page on a screen, at which several tests look; the last of them is the one that makes it narrow."""
    with visited(browser, address, request.param) as found:
        yield found


@each_page
def test_a_page_is_whole(seen: Visit) -> None:
    page = seen.page
    assert seen.outside == []
    assert seen.errors == []
    assert page.locator("article h1").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= SCREEN
    assert page.evaluate(IMAGES) == [], "without a description, or not drawn"
    assert page.evaluate(EMPTY_ICONS) == 0
    levels = page.evaluate(HEADINGS)
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


@each_page
def test_figures_and_tables_stand_before_their_code(seen: Visit) -> None:
    assert seen.page.evaluate(CODE_FIRST) == []


@each_width
@pytest.mark.parametrize("name", ["notebooks/09_is_the_score_redundant"])
def test_what_is_said_of_a_figure_stands_between_it_and_its_code(visit: Visit, name: str, width: int) -> None:
    after = "at => [...document.querySelectorAll(`article .cell:has(> .cell_output #${at}) ~ *`)].map(a => a.tagName)"
    assert visit.page.evaluate(after, "fig-correlations-real")[:3] == ["P", "P", "DIV"]


@each_width
@pytest.mark.parametrize("name", ["notebooks/16_nonlinear_advantage"])
def test_an_aside_shows_its_finding_alone(visit: Visit, name: str, width: int) -> None:
    aside = visit.page.locator("section:has(> h2:text('Aside:'))").first
    assert aside.locator("> p").is_visible()
    assert not aside.locator(".cell").first.is_visible()
    aside.locator("summary").first.click()
    assert aside.locator(".cell").first.is_visible()


@each_page
def test_formulas_are_drawn(seen: Visit) -> None:
    page = seen.page
    if formulas := page.locator("article .math").count():
        drawn = "count => document.querySelectorAll('article mjx-container').length >= count"
        page.wait_for_function(drawn, arg=formulas)
        assert min(page.evaluate(FORMULAS)) > 0
        assert page.locator("article mjx-merror").count() == 0
        assert set(page.evaluate(BARS)) <= {"none"}, "scrollbars below the formulas of a line"


@each_page
def test_everybody_can_read_a_page(seen: Visit) -> None:
    if "/book/api" not in seen.page.url:  # which take long, and are alike
        assert serious(seen.page) == []


def serious(page: Page, *rules: str) -> list[Any]:
    """What axe-core finds serious: by these rules, or by all."""
    page.add_script_tag(content=AXE.read_text())
    found: list[Any] = page.evaluate(SERIOUS, rules)
    return found


@each_page
def test_nothing_is_cut_on_a_screen(seen: Visit) -> None:
    seen.page.evaluate(UNFOLD)
    assert seen.page.evaluate(CUT_CODE) == [], "code that is cut"
    assert seen.page.evaluate(CUT_TABLES) == [], "tables that are cut"


@each_page
def test_a_page_fits_a_phone(seen: Visit) -> None:
    """Also with all that was unfolded."""
    seen.page.set_viewport_size({"width": PHONE, "height": 900})
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert seen.page.evaluate(WIDEST_IMAGE) <= PHONE
    assert seen.errors == []


@pytest.mark.parametrize("width", [PHONE])
@pytest.mark.parametrize("name", TEMPLATES)
def test_everybody_can_read_a_page_on_a_phone_and_in_the_dark(visit: Visit, name: str, width: int) -> None:
    assert serious(visit.page) == []
    visit.page.set_viewport_size({"width": SCREEN, "height": 900})
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_selector("html[data-theme=dark]", state="attached")  # the page hears of it a moment later
    assert serious(visit.page, "color-contrast") == []  # only colours change
    assert visit.errors == []


@pytest.mark.parametrize(("name", "width"), [(CHAPTER, SCREEN)])
def test_paper_shows_what_is_folded(visit: Visit, name: str, width: int) -> None:
    page = visit.page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert page.locator("article details:not([open])").count() == 0
    assert page.locator("article .solution .cell").first.is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("article details[open]").count() == 0


@each_width
@pytest.mark.parametrize("name", [CHAPTER])
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
def test_a_reader_slides_the_window_of_relu(visit: Visit, name: str, width: int) -> None:
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
    window.get_by_role("slider", name="Width").press("Home")
    window.get_by_role("slider", name=re.compile("Middle")).press("End")
    assert check(8, 12) == "1.00"


@each_width
@pytest.mark.parametrize("name", [BIAS])
def test_a_reader_slides_the_number_of_images(visit: Visit, name: str, width: int) -> None:
    window = visit.page.locator("#bias-window")
    slider = window.get_by_role("slider", name="Images")

    def bias() -> tuple[float, ...]:
        """By which the scores with the empirical covariance, and with shrinkage, are above their limit."""
        label = window.locator("svg").get_attribute("aria-label") or ""
        empirical, shrunk, limit = map(float, re.findall(r"0\.\d\d", label))
        return round(empirical - limit, 2), round(shrunk - limit, 2)

    slider.press("Home")
    assert slider.get_attribute("aria-valuetext") == "32 images"
    assert bias()[0] > 0.2
    slider.press("End")
    assert max(bias()) <= 0.02
    for _ in range(4):
        slider.press("ArrowLeft")
    window.get_by_role("combobox").select_option(label="most variance in few directions")
    empirical, shrunk = bias()
    assert 0.05 < empirical < shrunk
    assert visit.errors == []


@each_width
@pytest.mark.parametrize("name", [CHOICES])
def test_a_reader_chooses_how_a_signature_is_measured(visit: Visit, name: str, width: int) -> None:
    window = visit.page.locator("#choices-window")
    every = real_multiverses("CIFAR-10").query("network == 'ResNet-56'")
    means = every.groupby(["reduction", "order", "covariance", "coupling"])["score"].mean()

    def check(*words: str) -> None:
        said = window.locator(".window-says").inner_text()
        assert said.startswith(f"Mean score {means[words]:.2f};"), said

    def choose(name: str) -> None:
        window.get_by_role("radio", name=name, exact=True).check()

    check("mean", "activate-first", "ledoit-wolf", "exact")
    assert window.locator(".course").count() == 0  # the dashed line alone
    choose("average before")
    assert window.locator(".course").count() == 1
    window.get_by_role("radio", name="exact", exact=True).press("ArrowDown")
    check("mean", "reduce-first", "ledoit-wolf", "paired")
    choose("empirical")
    choose("one position")
    check("sample", "activate-first", "empirical", "paired")
    assert window.get_by_role("radio", name="average before").is_disabled()
    assert visit.errors == []


@each_width
@pytest.mark.parametrize("name", [TRAINING])
def test_a_reader_slides_through_a_training(visit: Visit, name: str, width: int) -> None:
    window = visit.page.locator("#training-window")
    course = load_study("seeds-course").query("seed == 8")
    slider = window.get_by_role("slider")

    def check(step: int) -> None:
        """The signature shown is that of the step."""
        rows = course[course["step"] == step]
        assert float(window.get_attribute("data-score") or "nan") == pytest.approx(rows["score"].mean(), abs=1e-3)
        said = f"step {step} of 570: mean score {rows['score'].mean():.2f}, accuracy {rows['accuracy'].iloc[0]:.0%}"
        said = said.replace("%", " %")
        assert said in (window.locator("svg").get_attribute("aria-label") or "")
        assert slider.get_attribute("aria-valuetext") == said
        assert window.locator("circle").count() == len(rows)

    check(570)
    slider.press("Home")
    check(0)
    assert visit.errors == []


@each_width
@pytest.mark.parametrize("name", [CHAPTER])
def test_a_reader_moves_the_points_of_a_coupling(visit: Visit, name: str, width: int) -> None:
    page, window = visit.page, visit.page.locator("#coupling-window")

    def costs() -> tuple[float, float]:
        """What is shown is the cost of the pairs, and that of the optimal coupling by the library."""
        points = np.array(json.loads(window.get_attribute("data-points") or "[]"))
        x, y = points[:6], points[6:]
        shown = [float(window.get_attribute(f"data-{plan}") or "nan") for plan in ("pairs", "optimal")]
        assert shown == pytest.approx([((x - y) ** 2).sum(axis=1).mean(), wasserstein(x, y) ** 2])
        assert window.locator("strong").all_inner_texts() == [f"{cost:.2f}" for cost in shown]
        return shown[0], shown[1]

    for name, alike in {"scattered": False, "turned": False, "shuffled": False, "stretched": True}.items():
        window.get_by_role("button", name=name).click()
        pairs, optimal = costs()
        assert (pairs == pytest.approx(optimal)) is alike
    window.get_by_role("button", name="input 1 at 1.0 across").press("ArrowRight")
    assert costs() != (pairs, optimal)
    last = window.get_by_role("button", name="output 6")
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    assert box
    before = costs()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 60, box["y"], steps=3)
    page.mouse.up()
    assert costs() != before
    assert visit.errors == []


def test_without_a_script_the_front_page_says_what_is_missing(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}{TOC['root']}.html")
    assert page.get_by_text("needs JavaScript").is_visible()
    assert page.locator("img.two-signatures").is_visible()
    context.close()


@pytest.mark.parametrize(("name", "width"), [("search", SCREEN)])
def test_the_search_finds_a_page(visit: Visit, name: str, width: int, address: str) -> None:
    visit.page.goto(f"{address}search.html?q=affinity")
    visit.page.locator("#search-results li").first.wait_for(state="attached")
    assert visit.errors == []
