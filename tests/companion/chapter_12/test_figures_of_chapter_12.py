"""What the figures of notebook 12 show: every network and data set, chance where it is known, and every class."""

import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.legend import Legend

from affscore.plots.style import PAGE_WIDTH
from companion.chapter_12.figures import deviation_panels

ROWS = [
    ("alexnet", "inverted", 0.2, 0.1, 0.02),
    ("alexnet", "random", 0.4, 0.3, 0.02),
    ("$mine", "random", 0.6, 0.5, 0),
]
TABLE = pd.DataFrame(ROWS, columns=["model", "dataset", "euclidean", "dtw", "chance"])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


def points(axes):
    """What is drawn with a marker, by its label."""
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines if line.get_marker() != "None"}


def test_every_network_and_data_set_has_its_point_in_both_panels():
    figure = deviation_panels(TABLE, chance="other digits")
    above, below = figure.axes
    assert points(above) == {"inverted": [[0, 0.2]], "random": [[0, 0.4], [1, 0.6]]}
    assert points(below) == {"inverted": [[0, 0.1]], "random": [[0, 0.3], [1, 0.5]]}
    assert (above.get_ylabel(), below.get_ylabel()) == ("Euclidean distance", "DTW distance")
    assert [label.get_text() for label in below.get_xticklabels()] == ["alexnet", r"\$mine"]
    assert legend_entries(figure) == ["inverted", "random", "other digits"]
    means = [line.get_ydata()[0] for line in above.lines if line.get_marker() == "None"]
    assert means == pytest.approx([0.2, 0.5])
    assert figure.get_figwidth() == PAGE_WIDTH


def test_chance_stands_behind_euclidean_distances_only():
    figure = deviation_panels(TABLE, chance="other digits")
    assert [[bar.get_height() for bar in axes.patches] for axes in figure.axes] == [[0.02, 0], []]
    assert not deviation_panels(TABLE).axes[0].patches
