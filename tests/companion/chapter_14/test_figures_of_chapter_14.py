"""What the figures of notebook 14 show: each activation once, means and bands over seeds, and the baselines."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from affscore.plots.style import PAGE_WIDTH
from companion.chapter_14 import scores_along

ROWS = [
    (step, index, seed, 0.9 - 0.001 * step - 0.05 * index + 0.01 * (seed - 2))
    for step in (0, 50, 100)
    for index in (0, 1)
    for seed in (1, 2, 3)
]
TABLE = pd.DataFrame(ROWS, columns=["step", "index", "seed", "score"])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_line_is_the_mean_over_seeds_and_the_band_reaches_from_least_to_most():
    figure = scores_along({"plain": TABLE, "$gated": TABLE.assign(score=TABLE["score"] - 0.1)}, "step", "steps")
    assert figure.get_figwidth() == PAGE_WIDTH
    first, second = figure.axes
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]
    assert first.lines[1].get_xdata().tolist() == [0, 50, 100]
    np.testing.assert_allclose(first.lines[1].get_ydata(), [0.85, 0.8, 0.75])
    np.testing.assert_allclose(second.lines[0].get_ydata(), [0.8, 0.75, 0.7])
    band = first.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.79)
    assert band[:, 1].max() == pytest.approx(0.91)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["activation 1", "activation 2"]
    assert second.get_title() == r"\$gated"
    low, high = first.get_ylim()
    assert low < TABLE["score"].min() - 0.1
    assert high > TABLE["score"].max()


def test_positions_are_counted_from_one_on_an_axis_of_doublings():
    rows = TABLE.replace({"step": {0: 0, 50: 1, 100: 7}}).rename(columns={"step": "position"})
    (axes,) = scores_along({"net": rows}, "position", "position", doubling=True).axes
    assert axes.get_xscale() == "log"
    assert axes.lines[0].get_xdata().tolist() == [1, 2, 8]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "8"]


def test_an_activation_that_one_panel_lacks():
    figure = scores_along({"two": TABLE, "one": TABLE[TABLE["index"] == 1]}, "step", "steps")
    two, one = figure.axes
    assert len(one.lines) == 1
    assert np.array_equal(one.lines[0].get_color(), two.lines[1].get_color())
