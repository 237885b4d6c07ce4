import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from affscore import AffscoreError
from affscore.figures import choice_effects, specification_curve


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def effects():
    rows = [("a", "order", "reduce-first", 0.2, "small"), ("b", "order", "reduce-first", 0.6, "small"),
            ("c", "order", "reduce-first", 0.9, "large"), ("a", "coupling", "paired", 0.9, "small"),
            ("b", "coupling", "paired", 1.0, "small"), ("c", "coupling", "paired", np.nan, "large")]  # fmt: skip
    return pd.DataFrame(rows, columns=["network", "choice", "to", "rank_correlation", "group"])


def test_a_dot_for_each_network_with_a_number_and_a_tick_at_the_median():
    (axes,) = choice_effects(effects(), xlabel="ranks").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["coupling: paired", "order: reduce-first"]
    dots = np.concatenate([points.get_offsets() for points in axes.collections])
    assert sorted(dots[:, 0]) == [0.2, 0.6, 0.9, 0.9, 1.0]
    assert [line.get_xdata()[0] for line in axes.lines] == [0.95, 0.6]
    assert {line.get_linestyle() for line in axes.lines} == {"-"}
    assert axes.get_xlabel() == "ranks"


def test_groups_have_their_colour_and_marker_and_one_needs_no_legend():
    figure = choice_effects(effects())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["small", "large"]
    alone = choice_effects(effects().drop(columns="group"))
    assert not alone.legends
    with pytest.raises(AffscoreError, match="no network with a number"):
        choice_effects(effects().assign(rank_correlation=np.nan))


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
