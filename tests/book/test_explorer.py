"""The explorer: its numbers are those of the library, and a reader picks networks by keyboard, link and phone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import explorer_data
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from affscore.comparison import signature_distance
from affscore.network.result import Signature
from affscore.survey import stored_multiverses
from companion.real_networks import FOLDER
from companion.regression import criterion_correlations
from companion.shipped import MULTIVERSES, shipped_signature
from tests.book.built_site import SITE
from tests.book.test_site import Visit, address, browser  # noqa: F401  # fixtures

ON_SITE = "book/explorer.html"
PLACES = {"a server": "{address}", "a folder": f"file://{SITE}/"}

in_browser = pytest.mark.browser


def shipped(name: str) -> Signature:
    return shipped_signature(name)


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    script = explorer_data.explorer_data()
    assert len(script) < 1_000_000
    found: dict[str, Any] = json.loads(re.fullmatch(r"window\.AFFSCORE = (.*);\n", script.decode(), re.DOTALL)[1])  # type: ignore[index]
    return found


@pytest.mark.slow
class TestData:
    def test_a_network_is_what_the_package_ships_under_its_name(self, numbers: dict[str, Any]) -> None:
        assert len(numbers["networks"]) > 70
        for name in ("resnet20", "squeezenet1_1", "mini:vit_b_16", "mini:vgg16@random", "alexnet@random"):
            (network,) = (one for one in numbers["networks"] if one["name"] == name)
            summary = shipped(name).summary
            np.testing.assert_allclose(np.array(network["score"], float), summary["score"], atol=5.1e-4)
            np.testing.assert_allclose(np.array(network["cka"], float), summary["cka"], atol=5.1e-4)
            change = summary["entropy_after"] - summary["entropy_before"]
            np.testing.assert_allclose(np.array(network["entropy"], float), change, atol=5.1e-4)
            assert [numbers["layers"][k] for k in network["layer"]] == summary["layer"].tolist()
            assert network["depth"] == summary["depth"].tolist()
            r = criterion_correlations({name: summary}).set_index("criterion")["correlation"]
            titles = [one["name"] for one in numbers["criteria"]]
            np.testing.assert_allclose(np.array(network["correlations"], float), r[titles], atol=5.1e-4)

    def test_means_under_each_specification(self, numbers: dict[str, Any]) -> None:
        every = [one for folder in (MULTIVERSES, FOLDER / "multiverses") for one in stored_multiverses(folder)]
        by_name = {explorer_data.name_of(one): one for one in every}
        for network in numbers["networks"]:
            summary = by_name[network["name"]].summary
            words = [*map(explorer_data.specification_in_words, by_name[network["name"]].choices)]
            found = dict(zip(numbers["specifications"], network["means"], strict=True))
            assert {word for word, mean in found.items() if mean is not None} == set(words)
            np.testing.assert_allclose([found[word] for word in words], summary["mean"], atol=5.1e-4)
        assert numbers["specifications"][numbers["default"]] == "average after, shrinkage, exact"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:  # noqa: F811
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    visit = Visit(context.new_page(), address + ON_SITE, address)
    yield visit.page
    assert visit.errors == []
    assert visit.outside == []
    context.close()


def about(page: Page) -> dict[str, list[str]]:
    """The cells of each row of the first table, by the name of the network."""
    rows = page.locator("#explorer-about tbody tr").all()
    return {row.locator("th").inner_text().strip(): row.locator("td").all_inner_texts() for row in rows}


def names_of_points(page: Page, chart: str) -> list[str]:
    return [point.get_attribute("aria-label") or "" for point in page.locator(f"{chart} .point").all()]


@in_browser
def test_a_network_is_picked_by_keyboard_and_has_its_numbers(page: Page) -> None:
    page.get_by_label("Network 3").focus()
    page.keyboard.type("SqueezeNet 1.1")
    page.keyboard.press("Tab")
    expect(page.locator("#explorer-about tbody tr")).to_have_count(3)
    summary = shipped("squeezenet1_1").summary
    cells = about(page)["SqueezeNet 1.1"]
    assert cells[0] == f"{summary['score'].mean():.3f}"
    assert cells[2:4] == [str(len(summary)), "SqueezeNet"]
    drawn = names_of_points(page, "#explorer-signatures > div:nth-child(3)")
    for words, row in zip(drawn, summary.itertuples(), strict=True):
        assert words.startswith(f"{row.layer}: ")
        assert float(re.search(r"affinity score ([\d.]+)", words)[1]) == pytest.approx(row.score, abs=6e-4)  # type: ignore[index]
    places = page.locator("#explorer-legend").inner_text().split("\n")
    assert len(places) == len(set(places)) > 2
    page.get_by_label("Network 3").focus()
    page.keyboard.press("Home")
    expect(page.locator("#explorer-about tbody tr")).to_have_count(2)


@in_browser
def test_arrow_keys_move_over_the_points_of_a_chart(page: Page) -> None:
    page.get_by_label("On the vertical axis").focus()
    page.keyboard.press("Tab")
    first, second = names_of_points(page, "#explorer-signatures > div:nth-child(1)")[:2]
    label = page.locator(".explorer-label")
    expect(label).to_have_text(first)
    page.keyboard.press("ArrowRight")
    expect(label).to_have_text(second)
    page.keyboard.press("Tab")  # the next chart, not the next point
    expect(label).to_have_text(names_of_points(page, "#explorer-signatures > div:nth-child(2)")[0])
    page.keyboard.press("Escape")
    expect(label).to_be_hidden()


@in_browser
def test_the_nearest_network_is_one_click_away(page: Page) -> None:
    first = page.locator("#explorer-neighbours tbody tr").first
    far = float(first.locator("td").last.inner_text())
    near = (
        page.get_by_label("Network 4")
        .locator("option", has_text=first.locator("th").inner_text())
        .get_attribute("value")
    )
    assert near is not None
    scores = [shipped(name).scores for name in ("resnet56", near)]
    assert signature_distance(*scores) == pytest.approx(far, abs=6e-4)
    first.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Network 3")).to_have_value(near)
    page.go_back()
    expect(page.get_by_label("Network 3")).to_have_value("")


@in_browser
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_link_restores_the_choice(browser: Browser, address: str, place: str) -> None:  # noqa: F811
    link = "#networks=mini%3Avgg16%40random,nothing,resnet20&show=norm"
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    start = place.format(address=address)
    visit = Visit(context.new_page(), f"{start}{ON_SITE}{link}", start)
    assert list(about(visit.page)) == ["mini VGG-16 (random weights)", "ResNet-20"]
    expect(visit.page.get_by_label("On the vertical axis")).to_have_value("norm")
    assert names_of_points(visit.page, "#explorer-specifications")
    visit.page.get_by_label("Network 2").select_option("resnet32")
    again = context.new_page()
    again.goto(visit.page.url)
    assert list(about(again)) == ["mini VGG-16 (random weights)", "ResNet-32"]
    assert visit.errors == []
    assert visit.outside == []
    context.close()


@in_browser
def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Browser, address: str) -> None:  # noqa: F811
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    link = "#networks=resnet56,mini:shufflenet_v2_x0_5,mini:efficientnet_b1,mobilenet_v2"
    page = Visit(context.new_page(), f"{address}{ON_SITE}{link}", address).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for chart in page.locator(".explorer-chart").all():
        assert (chart.bounding_box() or {})["width"] <= 390
    for table in page.locator(".explorer-table").all():
        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")
    point = page.locator("#explorer-signatures .point").first
    point.tap(force=True)
    expect(page.locator(".explorer-label")).to_have_text(point.get_attribute("aria-label") or "")
    box = page.locator(".explorer-label").bounding_box() or {}
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    context.close()
