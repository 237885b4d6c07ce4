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
    failing = results(CLAIMS, "fails", "depends").data.set_index("claim")
    assert failing.loc["A"].to_dict() == {"holds on": "printed numbers", "fails on": "mini networks"}
    assert failing.loc["B"].to_dict() == {"holds on": "", "fails on": "other networks, by some choices"}
    assert results(CLAIMS, "holds").data["claim"].str.startswith("C<br><i>but more than").all()
    assert results(CLAIMS, "open").data["claim"].tolist() == ["D"]


def test_a_claim_links_to_the_page_about_it(tmp_path, monkeypatch):
    (tmp_path / "03_estimating.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    assert results(CLAIMS, "holds").data["claim"].str.startswith('C (<a href="03_estimating.html">3</a>)<br>').all()


def test_bars_have_the_numbers_of_tests_the_longest_on_top():
    (axes,) = by_material(pd.DataFrame([[1, 2, 0, 3], [0, 0, 4, 0]], ["one", "two"], list(SHORT))).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["two", "one"]
    assert [label.get_text() for label in axes.get_legend().get_texts()] == ["holds", "fails", "depends", "open"]
    assert sorted(bar.get_width() for bar in axes.patches if bar.get_width()) == [1, 2, 3, 4]
