import re

import numpy as np
import pandas as pd
import pytest

from affscore.errors import AffscoreError
from companion.style import table

FRAME = pd.DataFrame(
    {
        "count": [1, 12_345],
        "score": [0.6249, np.nan],
        "share": [1, 0.125],
        "exact": [True, False],
        "layer": ["a", None],
    },
    index=["first", "second"],
)


def test_each_kind_of_value_has_its_words() -> None:
    shown = table(FRAME, {name: name for name in FRAME.columns})
    assert shown.to_numpy().tolist() == [["1", "0.62", "1.00", "yes", "a"], ["12\u202f345", "–", "0.12", "no", "–"]]
    assert list(shown.index) == ["first", "second"]


def test_columns_have_their_order_headings_and_decimals() -> None:
    shown = table(FRAME, {"share": "kept (%)", "score": "score"}, {"share": 1, "score": 3})
    assert list(shown.columns) == ["kept (%)", "score"]
    assert shown.loc["first"].tolist() == ["100.0", "0.625"]


def test_without_columns_all_are_shown() -> None:
    assert list(table(FRAME, digits=0).columns) == list(FRAME.columns)


def test_repeated_rows_and_several_levels_stay() -> None:
    rows = pd.DataFrame({"x": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("a", 1)], names=["task", "seed"]))
    assert table(rows).index.equals(rows.index)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(AffscoreError, match="no column scores; it has count"):
        table(FRAME, {"scores": "score"})


def test_a_page_shows_long_sentences_and_all_rows():
    sentence = "networks with other weights or reductions, on photographs and on noise"
    shown = table(pd.DataFrame({"tested on": [sentence] * 100})).rename_axis("claim")
    html = shown._repr_html_()
    assert html.count(sentence) == 100


def test_words_stand_at_the_left_and_numbers_where_the_page_puts_them() -> None:
    rows = pd.DataFrame(
        {"place": ["after a sum", "gate"], "score": [0.5, None], "interval": ["0.1 to 0.3", "–"], "met": [True, False]},
        index=pd.Index(["a", "b"], name="layer"),
    )
    html = table(rows).rename_axis("network")._repr_html_()
    left = re.findall(r'<t[hd] style="text-align: left">(.*?)</t[hd]>', html)
    assert left == ["place", "met", "", "", "after a sum", "yes", "gate", "no"]
    assert "<td>0.50</td>" in html
    assert "<td>0.1 to 0.3</td>" in html


def test_a_table_without_rows_is_shown() -> None:
    assert "<th>score</th>" in table(pd.DataFrame({"score": []}))._repr_html_()
