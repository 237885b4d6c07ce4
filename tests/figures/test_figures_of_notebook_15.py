import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from affscore import AffscoreError
from affscore.figures import image_gallery, score_against_frequency

RAMP = np.arange(12.0).reshape(3, 4) - 100


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def shown(figure):
    return [np.asarray(axes.images[0].get_array()) for axes in figure.axes]


def test_each_image_has_its_own_black_and_white():
    figure = image_gallery([[RAMP, 5 * RAMP], [np.zeros((2, 2)), -RAMP]], ["a", "b"], ["left", "right"])
    first, second, flat, turned = shown(figure)
    np.testing.assert_allclose(first, np.arange(12).reshape(3, 4) / 11)
    np.testing.assert_allclose(second, first)
    np.testing.assert_allclose(turned, 1 - first)
    assert (flat == 0.5).all()
    assert all(axes.images[0].get_clim() == (0, 1) for axes in figure.axes)
    assert [axes.get_title() for axes in figure.axes] == ["left", "right", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes] == ["a", "", "b", ""]
    assert {axes.get_xlabel() for axes in figure.axes} == {""}


def test_captions_stand_below_their_images():
    figure = image_gallery([[RAMP, RAMP]], ["$a"], ["1", "2"], [["0.5 ± 0.1", ""]])
    assert [axes.get_xlabel() for axes in figure.axes] == ["0.5 ± 0.1", ""]
    assert figure.axes[0].get_ylabel() == r"\$a"


@pytest.mark.parametrize(
    ("images", "rows", "columns", "captions"),
    [
        ([[RAMP]], ["a", "b"], ["1"], None), ([[RAMP]], ["a"], ["1", "2"], None), ([], [], ["1"], None),
        ([[RAMP]], ["a"], ["1"], [["x", "y"]]), ([[RAMP]], ["a"], ["1"], []), ([[]], ["a"], [], None),
        ([[RAMP * np.nan]], ["a"], ["1"], None), ([[RAMP[0]]], ["a"], ["1"], None),
    ],
)  # fmt: skip
def test_what_does_not_fit(images, rows, columns, captions):
    with pytest.raises(AffscoreError, match="expected"):
        image_gallery(images, rows, columns, captions)


def networks():
    rows = [
        (panel, series, cell, 0.9 - 0.1 * place + 0.01 * seed, 2.0**place * (1 + 0.1 * seed))
        for panel in ("size", "depth")
        for series in ("Tanh", "ReLU")
        for place, cell in enumerate(("first", "second", "third"))
        for seed in range(3)
        if (panel, series) != ("depth", "Tanh")
    ]
    return pd.DataFrame(rows, columns=["panel", "series", "cell", "mean", "frequency"])


def test_a_point_for_each_network_and_a_line_through_the_medians_in_their_order():
    figure = score_against_frequency(networks())
    size, depth = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["size", "depth"]
    assert [len(points.get_offsets()) for points in size.collections] == [9, 9]
    line = size.lines[0]
    np.testing.assert_allclose(line.get_xdata(), [1.1, 2.2, 4.4])
    np.testing.assert_allclose(line.get_ydata(), [0.91, 0.81, 0.71])
    assert [text.get_text() for text in size.texts] == ["first", "third"] * 2
    assert size.get_xscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Tanh", "ReLU"]
    assert size.lines[1].get_color() == depth.lines[0].get_color() != line.get_color()
    assert size.lines[1].get_marker() == depth.lines[0].get_marker() != line.get_marker()


def test_a_single_kind_needs_no_name_and_no_network_is_an_error():
    one = networks().query("cell == 'first' and series == 'ReLU'")
    assert not score_against_frequency(one).axes[0].texts
    with pytest.raises(AffscoreError, match="at least one network"):
        score_against_frequency(one.iloc[:0])
