"""One look for a family, for a kind of activation and for a function, and axes that hide no score."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from affscore.plots.style import BLOCK_LOOKS, KIND_LOOKS, PALETTE, kind_style, legend_below, page, score_axis
from companion.style import FAMILIES, FAMILY_LOOKS

# How much red, green and blue of linear light reach those without one kind of cones (Machado et al. 2009, severity 1).
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour, matrix):
    """CIE L*a*b* of a colour as it is seen: differences of 10 and more are plain to see."""
    value = np.array(to_rgb(colour))
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(TO_XYZ @ np.clip(np.asarray(matrix) @ linear, 0.009, 1) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("matrix", SEEN.values(), ids=SEEN)
@pytest.mark.parametrize(
    "looks", [[FAMILY_LOOKS[name] for name in FAMILIES], KIND_LOOKS.values(), BLOCK_LOOKS.values()]
)
def test_colours_differ_for_everybody(looks, matrix):
    colours = {PALETTE[colour] for colour, _ in looks}
    near = min(np.linalg.norm(lab(a, matrix) - lab(b, matrix)) for a, b in combinations(colours, 2))
    assert near > 12


@pytest.mark.parametrize("looks", [KIND_LOOKS, BLOCK_LOOKS])
def test_no_two_places_look_alike_and_markers_differ_too(looks):
    found = [kind_style(kind) for kind in looks]
    assert len({marker for _, marker in found}) == len(looks)
    assert kind_style("mine") not in found


@pytest.mark.parametrize(
    ("scores", "ends"),
    [
        ([0.71, 0.98], (0.65, 1.02)),
        ([0.6, 0.62], (0.55, 0.65)),
        ([0.05, 0.5], (0, 0.55)),
        ([0.18, 1.0], (0, 1.02)),
        ([np.nan, np.inf, 0.9, 1 + 1e-9], (0.85, 1.05)),
        ([-0.1, 0.5], (-0.15, 0.55)),
        ([], (0, 1.02)),
    ],
)
@pytest.mark.parametrize("direction", ["x", "y"])
def test_the_axis_fits_the_scores_and_says_where_it_begins(scores, ends, direction):
    figure, axes = plt.subplots()
    score_axis(axes, scores, direction=direction)
    assert getattr(axes, f"get_{direction}lim")() == pytest.approx(ends)
    said = getattr(axes, f"get_{direction}label")()
    assert said == ("affinity score" if ends[0] <= 0 else f"affinity score (axis from {ends[0]})")
    plt.close(figure)


def test_panels_share_the_axis_and_only_a_labelled_one_has_its_label():
    figure, panels = plt.subplots(1, 2)
    panels[0].set_ylabel("mean affinity score")
    score_axis(list(panels), [0.8, 0.9])
    assert [axes.get_ylabel() for axes in panels] == ["mean affinity score (axis from 0.75)", ""]
    assert panels[0].get_ylim() == panels[1].get_ylim()
    plt.close(figure)


@pytest.mark.parametrize("length", [5, 20, 60])
def test_a_legend_fits_the_figure_with_as_many_columns_as_it_can(length):
    figure, (axes,) = page(1, 2.0)
    for number in range(4):
        axes.plot([0, 1], label=f"{number}" * length)
    legend_below(figure, 4)
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 4
    assert legend._ncols == {5: 4, 20: 2, 60: 1}[length]
    assert legend.get_window_extent().width <= figure.bbox.width
    plt.close(figure)
