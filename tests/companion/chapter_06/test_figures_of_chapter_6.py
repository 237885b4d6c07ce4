"""What the figures of notebooks 6 and 8 show: every network, in its family's look, with the numbers of its scores."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.legend import Legend

from affscore.plots.style import PAGE_WIDTH
from companion.chapter_06 import history, timeline

GENERATOR = np.random.default_rng(0)


SIGNATURES = {
    name: GENERATOR.uniform(0.3, 1, length)
    for name, length in {"alexnet": 7, "vgg11": 10, "resnet18": 17, "vit_b_16": 12, "swin_t": 3, "mine": 4}.items()
}


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


def test_the_timeline_shows_the_three_numbers_of_each_network():
    table = history(SIGNATURES)
    figure = timeline(table)
    axes = figure.axes[0]
    assert figure.get_figwidth() == PAGE_WIDTH
    assert [label.get_text() for label in axes.get_xticklabels()] == table["name"].tolist()
    assert legend_entries(figure) == ["Pure convnets", "ResNets", "ViTs", "Swins", "mine"]
    places = dict(zip(axes.get_xticks(), table.index, strict=True))
    drawn = [path.vertices for lines in axes.collections for path in lines.get_paths() if len(path.vertices) == 2]
    bars = {
        places[ends[0, 0]]: sorted(ends[:, 1]) for ends in drawn if ends[0, 0] == ends[1, 0] and ends[0, 0] in places
    }
    for name, row in table.iterrows():
        assert bars[name] == pytest.approx([row["min"], row["max"]])
    points = {places[x]: y for bars in axes.containers for x, y in bars.lines[0].get_xydata()}
    assert points == pytest.approx(table["median"].to_dict())


def test_the_timeline_names_each_year_once_and_says_where_there_is_none():
    axes = timeline(history(SIGNATURES)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["2012", "2014", "2015", "2020", "2021", "?"]


def test_the_timeline_has_a_gap_between_years_and_each_year_above_its_networks():
    table = history(SIGNATURES | {"vgg13": [0.5, 0.6]})
    axes = timeline(table).axes[0]
    years = table["year"].astype("string").fillna("?").tolist()
    places = np.array(axes.get_xticks())
    assert np.diff(places).tolist() == [1.0 if one == next_ else 1.5 for one, next_ in pairwise(years)]
    for text in axes.texts:
        own = places[[year == text.get_text() for year in years]]
        assert text.get_position()[0] == pytest.approx(own.mean())
