"""Figures of chapter 15."""

import numpy as np
import pandas as pd
import pytest
from drawn import legend_entries, titles
from torch import nn

from affscore.linear_regions import along_segments
from companion.chapter_15.figures import against_width, logits_along_path, mosaic
from companion.figures import two_measures
from companion.planes import Plane, on_plane


def along(place):
    """A path on which a network of one unit, max(t - place, 0), bends."""
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    nn.init.ones_(net[0].weight)
    nn.init.constant_(net[0].bias, -place)
    return along_segments(net, [[0.0], [1.0]], [[1.0], [3.0]], progress=False)


def test_the_whole_path_with_its_chords_and_the_beginning_with_its_breakpoints():
    figure = logits_along_path({"late": along(0.5), "early": along(0.01)}, 0, part=0.25)
    whole, magnified, other, last = figure.axes
    assert [axes.get_title() for axes in (whole, other)] == ["late, kinks: 1", "early, kinks: 1"]
    assert magnified.get_title() == "enlarged, kinks: 0"
    assert last.get_title() == "enlarged, kinks: 1"
    assert np.ptp(whole.get_ylim()) == pytest.approx(np.ptp(other.get_ylim()))
    function, chord, second, _ = whole.lines
    assert function.get_xydata().tolist() == [[0, 0], [0.5, 0], [1, 0.5]]
    assert chord.get_xydata().tolist() == [[0, 0], [1, 0.5]]
    assert second.get_xydata().tolist() == [[1, 0.5], [3, 2.5]]
    assert last.lines[1].get_xdata() == pytest.approx([0.01])
    assert last.lines[0].get_xydata()[-1].tolist() == pytest.approx([0.25, 0.24])


def quadrants(points):
    return on_plane(nn.ReLU(), [-1.0, -2.0], [1.0, -2.0], [-1.0, 2.0], points=points)


def test_a_mosaic_has_one_scale_and_lines_between_regions_that_are_not_small():
    plane = quadrants(8)
    steep = Plane(plane.regions, 3 * plane.slopes, plane.sides)
    flat, other, _ = mosaic({"flat": [plane], "steep": [steep]}, 0).axes
    assert flat.images[0].get_clim() == other.images[0].get_clim() == (0.0, 3.0)
    assert flat.get_title() == "flat\n4 regions at 64 points"
    assert flat.images[0].get_extent() == [0.0, 2.0, 0.0, 4.0]
    lines = np.array(flat.collections[0].get_segments())
    upright = lines[lines[:, 0, 0] == lines[:, 1, 0]]
    assert (len(lines), len(upright)) == (16, 8)
    assert (upright[:, :, 0] == 1.0).all()  # in the middle of a side of 2
    assert not mosaic({"net": [quadrants(4)]}, 0).axes[0].collections


def test_measures_of_networks_in_panels_and_against_width():
    table = pd.DataFrame({"net": ["a", "a", "b"], "way": ["x", "y", "x"], "p": [1.0, 2, 3], "q": [4.0, 5, 6]})
    figure = two_measures(table, "p", "q", "net", "way", ("first", "second"), diagonal=True)
    assert titles(figure) == ["a", "b"]
    assert [line.get_xydata().tolist() for line in figure.axes[0].lines[:2]] == [[[1, 4]], [[2, 5]]]
    assert figure.axes[0].lines[2].get_xydata().tolist() == [[0.98, 0.98], [6.02, 6.02]]
    assert {axes.get_xlim() for axes in figure.axes} == {axes.get_ylim() for axes in figure.axes} == {(0.98, 6.02)}
    assert legend_entries(figure) == ["x", "y"]

    wide = pd.DataFrame({"width": [1, 2, 1, 2], "seed": [1, 1, 2, 2], "p": [1.0, 2.0, 3.0, 4.0]})
    *seeds, mean, threshold = against_width(wide, {"p": "measure"}, threshold=2).axes[0].lines
    assert [line.get_ydata().tolist() for line in seeds] == [[1, 2], [3, 4]]
    assert mean.get_ydata().tolist() == [2, 3]
    assert threshold.get_xdata() == [2, 2]
