import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from affscore.plots import specification_curve


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_a_curve_of_another_number_with_bars():
    rows = pd.DataFrame({"reduction": ["mean", "sample", "mean"], "order": ["activate-first"] * 2 + ["reduce-first"],
                         "holds": [0.9, 0.1, np.nan], "low": [0.8, 0.0, 0.0], "high": [1.0, 0.2, 0.1]})  # fmt: skip
    figure = specification_curve(rows, "holds", low="low", high="high", ylabel="share", title="$x")
    curve, dots = figure.axes
    assert curve.get_ylabel() == "share"
    assert curve.get_title() == r"\$x"
    assert curve.lines[0].get_ydata().tolist() == [0.1, 0.9]
    bars = curve.collections[0].get_segments()
    assert [bar[:, 1].tolist() for bar in bars] == [[0.0, 0.2], [0.8, 1.0]]
    assert dots.get_xlabel() == "2 specifications, sorted"
    assert [text.get_text() for text in curve.get_legend().get_texts()] == ["default"]
