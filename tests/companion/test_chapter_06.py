"""Networks over the years: their history, its trends, and the timeline that shows them."""

from itertools import pairwise

import numpy as np
import pytest
from drawn import words
from scipy import stats

from companion.chapter_06 import history, timeline
from companion.permutation import trends

LENGTHS = {"alexnet": 7, "vgg11": 10, "vgg13": 9, "resnet18": 17, "vit_b_16": 12, "swin_t": 3, "mine": 4}


def test_history_is_in_the_order_of_years_and_draws_as_many_from_each():
    table = history({"swin_t": [0.2, 0.9, 0.4, 0.5], "mine": [0.5, 0.5, 0.5], "alexnet": [0.6, 0.7, 0.65]})
    assert table.index.tolist() == ["alexnet", "swin_t", "mine"]
    assert table.attrs["few"] == 3
    assert table.loc["alexnet", "spread"] == pytest.approx(table.loc["alexnet", "rarefied range"])
    assert table.loc["swin_t", "rarefied range"] < table.loc["swin_t", "spread"]
    assert np.isnan(table.loc["mine", "skewness"])
    assert table.loc["swin_t", "skewness"] == pytest.approx(stats.skew([0.2, 0.9, 0.4, 0.5]))


def test_variants_of_one_design_are_one_point_of_a_trend():
    spreads = {"alexnet": 0.1, "vgg11": 0.2, "vgg13": 0.2, "resnet18": 0.4, "densenet121": 0.5, "vit_b_16": 0.1,
               "mine": 1.0}  # fmt: skip
    table = history({name: [0.0, spread] for name, spread in spreads.items()})
    found = {year: trends(table, ["spread"], until=year).loc["spread"] for year in (2015, 2016, 2019)}
    assert [row["points"] for row in found.values()] == [3, 4, 4]  # the last year counts
    assert found[2019]["correlation"] == 1
    assert trends(table, ["spread"]).loc["spread", "points"] == 5


def test_the_timeline_shows_the_three_numbers_of_each_network_beside_its_year():
    generator = np.random.default_rng(0)
    table = history({name: generator.uniform(0.3, 1, length) for name, length in LENGTHS.items()})
    figure = timeline(table.copy())
    axes = figure.axes[0]
    assert words(axes.get_yticklabels()) == table["name"].tolist()
    assert [bars.get_label() for bars in axes.containers] == ["Pure convnets", "ResNets", "ViTs", "Swins", "mine"]
    at = np.array(axes.get_yticks())
    places = dict(zip(at, table.index, strict=True))
    drawn = [path.vertices for lines in axes.collections for path in lines.get_paths() if len(path.vertices) == 2]
    bars = {
        places[ends[0, 1]]: sorted(ends[:, 0]) for ends in drawn if ends[0, 1] == ends[1, 1] and ends[0, 1] in places
    }
    for name, row in table.iterrows():
        assert bars[name] == pytest.approx([row["min"], row["max"]])
    points = {places[y]: x for bars in axes.containers for x, y in bars.lines[0].get_xydata()}
    assert points == pytest.approx(table["median"].to_dict())
    years = table["year"].astype("string").fillna("?").tolist()
    assert np.diff(at).tolist() == [1.0 if one == after else 1.5 for one, after in pairwise(years)]
    assert words(axes.texts) == list(dict.fromkeys(years)) == ["2012", "2014", "2015", "2020", "2021", "?"]
    for text in axes.texts:
        assert text.get_position()[1] == pytest.approx(at[[year == text.get_text() for year in years]].mean())
