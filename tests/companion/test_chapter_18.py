"""How chapter 18 words the tests of claims."""

import pandas as pd

from companion.chapter_18 import SHORT, by_material, results

ROWS = [
    ("here", "A", "holds", "the printed numbers"),
    ("here", "A", "does not hold", "the small networks on digits"),
    ("there", "B", "depends on a choice", "some networks"),
    ("seeds-change-little", "C", "holds", "the small networks on digits"),
    ("seeds-change-little", "C", "holds", "the small networks on a few distorted digits"),
    ("nowhere", "D", "cannot be decided", ""),
]
CLAIMS = pd.DataFrame(ROWS, columns=["name", "claim", "verdict", "on"]).assign(material="other networks")


def test_a_claim_that_fails_anywhere_is_not_among_those_that_hold():
    failing = results(CLAIMS, "fails", "depends").data
    assert failing.to_numpy().tolist() == [["A", "It holds on printed numbers."], ["B", ""]]
    assert len(results(CLAIMS, "fails", on=["mini networks"]).data) == 1
    assert results(CLAIMS, "holds").data["it holds"].str.startswith("On mini networks. Seeds change").all()
    assert results(CLAIMS, "open").data["claim"].tolist() == ["D"]


def test_a_claim_links_to_the_page_about_it(tmp_path, monkeypatch):
    (tmp_path / "03_estimating.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    assert results(CLAIMS, "holds").data["claim"].tolist() == ['C (<a href="03_estimating.html">3</a>)']


def test_bars_have_the_numbers_of_tests_those_nearest_to_the_papers_on_top():
    (axes,) = by_material(pd.DataFrame([[1, 2, 0, 3], [0, 0, 4, 0]], ["mini networks", "other inputs"], [*SHORT])).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["mini networks", "other inputs"]
    assert [label.get_text() for label in axes.get_legend().get_texts()] == ["holds", "fails", "depends", "open"]
    assert sorted(bar.get_width() for bar in axes.patches if bar.get_width()) == [1, 2, 3, 4]
