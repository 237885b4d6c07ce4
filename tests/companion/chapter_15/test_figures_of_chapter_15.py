"""Figures of notebook 15."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from affscore.linear_regions import along_segments
from companion.chapter_15.figures import against_width, logits_along_path, mosaic
from companion.figures import two_measures
from companion.planes import Plane, on_plane


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def hinge(place):
    """A network of one unit, max(t - place, 0)."""
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    nn.init.ones_(net[0].weight)
    nn.init.constant_(net[0].bias, -place)
    return net


def along(place):
    return along_segments(hinge(place), [[0.0], [1.0]], [[1.0], [3.0]], progress=False)


def test_the_whole_path_with_its_chords_and_the_beginning_with_its_breakpoints():
    figure = logits_along_path({"late": along(0.5), "early": along(0.01)}, 0, part=0.25)
    whole, magnified, other, last = figure.axes
    assert [axes.get_title() for axes in (whole, other)] == ["late", "early"]
    assert magnified.get_title().startswith("0 breakpoints on 25%")
    assert last.get_title().startswith("1 breakpoints")
    function, chord, second, _ = whole.lines
    assert function.get_xydata().tolist() == [[0, 0], [0.5, 0], [1, 0.5]]
    assert chord.get_xydata().tolist() == [[0, 0], [1, 0.5]]
    assert second.get_xydata().tolist() == [[1, 0.5], [3, 2.5]]
    assert last.lines[1].get_xdata() == pytest.approx([0.01])
    assert whole.get_xlabel() == ""
    assert other.get_xlabel() == "distance along the path"


def quadrants(points=8):
    return on_plane(nn.ReLU(), [-1.0, -2.0], [1.0, -2.0], [-1.0, 2.0], points=points)


def test_a_mosaic_has_one_scale_and_lines_between_regions():
    plane = quadrants()
    steep = Plane(plane.regions, 3 * plane.slopes, plane.sides)
    figure = mosaic({"flat": [plane], "steep": [steep]}, 0)
    flat, other, colours = figure.axes
    assert flat.images[0].get_clim() == other.images[0].get_clim() == (0.0, 3.0)
    assert flat.get_title() == "flat: 4 regions at 64 points"
    assert flat.images[0].get_extent() == [0.0, 2.0, 0.0, 4.0]
    lines = np.array(flat.collections[0].get_segments())
    assert len(lines) == 16
    upright = lines[lines[:, 0, 0] == lines[:, 1, 0]]
    assert len(upright) == 8
    assert (upright[:, :, 0] == 1.0).all()  # in the middle of a side of 2
    assert "slope" in colours.get_ylabel()


def test_small_regions_have_no_lines():
    assert not mosaic({"net": [quadrants(points=4)]}, 0).axes[0].collections


def test_measures_of_networks_in_panels_and_against_width():
    table = pd.DataFrame({"net": ["a", "a", "b"], "way": ["x", "y", "x"], "p": [1.0, 2, 3], "q": [4.0, 5, 6]})
    figure = two_measures(table, "p", "q", "net", "way", ("first", "second"), from_zero=True)
    assert [axes.get_title() for axes in figure.axes] == ["a", "b"]
    assert figure.axes[0].get_xlim()[0] == figure.axes[0].get_ylim()[0] == 0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["x", "y"]

    wide = pd.DataFrame({"width": [1, 2, 1, 2], "seed": [1, 1, 2, 2], "p": [1.0, 2.0, 3.0, 4.0]})
    (axes,) = against_width(wide, {"p": "measure"}, threshold=2).axes
    *seeds, mean, threshold = axes.lines
    assert [line.get_ydata().tolist() for line in seeds] == [[1, 2], [3, 4]]
    assert mean.get_ydata().tolist() == [2, 3]
    assert threshold.get_xdata() == [2, 2]


def test_the_beginning_of_a_segment_ends_where_it_is_asked_to():
    segment = along_segments(hinge(0.5), torch.tensor([[0.0]]), torch.tensor([[2.0]]), progress=False)
    magnified = logits_along_path({"net": segment}, 0, part=0.5).axes[1]
    assert magnified.lines[0].get_xydata()[-1].tolist() == [1.0, 0.5]
