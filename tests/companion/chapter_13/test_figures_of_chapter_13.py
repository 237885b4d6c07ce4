"""The figures of notebook 13 draw what they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from companion.chapter_13.figures import unexplained_shares

SHARES = pd.DataFrame(
    {"network": [0.2, 0.3, 0.25], "attention": [0.1, np.nan, 0.4], "linear": [0.0, 0.05, 0.01]}, index=["a", "b", "$c$"]
)
GROUPS = {"a": "ViTs", "b": "ResNets"}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_every_share_is_a_point_in_its_row_and_what_is_missing_is_none():
    (axes,) = unexplained_shares(SHARES, GROUPS).axes
    points = [
        point for line in axes.lines for point in zip(*line.get_data(), strict=True) if len(line.get_xdata()) != 2
    ]
    drawn = {(round(float(x), 6), round(float(y))) for x, y in points if np.isfinite(x)}
    expected = {(value, row) for row, kind in enumerate(SHARES) for value in SHARES[kind].dropna()}
    assert drawn == expected
    assert axes.get_xlabel() == "share of the variance that no affine map explains"
    assert [label.get_text() for label in axes.get_yticklabels()] == list(SHARES)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_the_groups_are_in_the_legend():
    figure = unexplained_shares(SHARES, GROUPS)
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"ViTs", "ResNets", r"\$c\$"}
