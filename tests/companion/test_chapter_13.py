"""Every share of a block has its point."""

import numpy as np
import pandas as pd
from drawn import legend_entries, words

from companion.chapter_13.figures import unexplained_shares


def test_every_share_is_a_point_in_its_row_and_what_is_missing_is_none():
    shares = {"network": [0.2, 0.3, 0.25], "attention": [0.1, np.nan, 0.4], "linear": [0.0, 0.05, 0.01]}
    table = pd.DataFrame(shares, index=["a", "b", "$c$"])
    figure = unexplained_shares(table, {"a": "ViTs", "b": "ResNets"})
    (axes,) = figure.axes
    points = [point for line in axes.lines for point in line.get_xydata() if len(line.get_xdata()) != 2]
    drawn = {(round(float(x), 6), round(float(y))) for x, y in points if np.isfinite(x)}
    assert drawn == {(value, row) for row, kind in enumerate(table) for value in table[kind].dropna()}
    assert words(axes.get_yticklabels()) == list(table)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert set(legend_entries(figure)) == {"ViTs", "ResNets", r"\$c\$"}


def test_a_row_that_stands_apart_comes_last_behind_an_empty_one():
    table = pd.DataFrame({"network": [0.2], "linear": [0.0], "MLP": [0.1]}, index=["a"])
    (axes,) = unexplained_shares(table, {"a": "ViTs"}, apart="network").axes
    assert words(axes.get_yticklabels()) == ["linear", "MLP", "", "network"]
    points = [tuple(line.get_xydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]
    assert {(float(x), round(float(y))) for x, y in points if np.isfinite(x)} == {(0.0, 0), (0.1, 1), (0.2, 3)}
