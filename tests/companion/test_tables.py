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


def test_each_kind_of_value_has_its_words_and_columns_their_order_headings_and_decimals():
    shown = table(FRAME, {name: name for name in FRAME.columns})
    assert shown.to_numpy().tolist() == [["1", "0.62", "1.00", "yes", "a"], ["12\u202f345", "–", "0.12", "no", "–"]]
    chosen = table(FRAME, {"share": "kept (%)", "score": "score"}, {"share": 1, "score": 3})
    assert list(chosen.columns) == ["kept (%)", "score"]
    assert chosen.loc["first"].tolist() == ["100.0", "0.625"]
    assert list(table(FRAME, digits=0).columns) == list(FRAME.columns)
    with pytest.raises(AffscoreError, match="no column scores; it has count"):
        table(FRAME, {"scores": "score"})


def test_a_page_shows_long_sentences_and_all_rows_of_several_levels_or_none():
    sentence = "networks with other weights or reductions, on photographs and on noise"
    rows = pd.DataFrame({"tested on": [sentence] * 100}, index=pd.MultiIndex.from_tuples([("a", 1)] * 100))
    assert table(rows).index.equals(rows.index)
    assert table(rows)._repr_html_().count(sentence) == 100
    assert "<th>score</th>" in table(pd.DataFrame({"score": []}))._repr_html_()


def test_words_stand_at_the_left_and_numbers_where_the_page_puts_them():
    rows = pd.DataFrame(
        {"place": ["after a sum", "gate"], "score": [0.5, None], "interval": ["0.1 to 0.3", "–"], "met": [True, False]},
        index=pd.Index(["a", "b"], name="layer"),
    )
    html = table(rows).rename_axis("network")._repr_html_()
    left = re.findall(r'<t[hd] style="text-align: left">(.*?)</t[hd]>', html)
    assert left == ["network", "place", "met", "after a sum", "yes", "gate", "no"]
    assert html.count("<tr") == 1 + len(rows)  # one row of headings
    assert "<td>0.50</td>" in html
    assert "<td>0.1 to 0.3</td>" in html
