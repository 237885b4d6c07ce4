"""What the figures of notebooks 7 and 9 draw."""

import numpy as np
import pandas as pd
import pytest

from companion.chapter_07.figures import accuracy_fits
from companion.chapter_07.measurements import explained_accuracy, panel_fits
from companion.regression import fit

RNG = np.random.default_rng(0)


def networks():
    table = pd.DataFrame(
        {
            "group": ["A"] * 6 + ["B"] * 3,
            "family": ["F"] * 3 + ["G"] * 3 + ["H"] * 3,
            "accuracy": RNG.uniform(60, 90, 9),
        }
    )
    return table.assign(mean=RNG.uniform(size=9), gflops=RNG.uniform(1, 9, 9), accuracy_standard_error=1.0)


def drawn(table, panels, **options):
    return accuracy_fits(table, panels, panel_fits(table, panels), **options)


def test_a_row_of_panels_for_each_group():
    table = networks()
    panels = explained_accuracy(table, ["mean", "gflops"], kind="logarithm")
    figure = drawn(table, panels)
    titles = [axes.get_title() for axes in figure.axes]
    r2 = fit(table["mean"][:6], table["accuracy"][:6], "logarithm").r2
    assert titles[0] == f"A\n$R^2$ = {r2:.2f}"
    assert titles[2] == titles[3] == "B\nno $R^2$ of 3 networks"
    assert [axes.get_xlabel() for axes in figure.axes[:2]] == ["mean of the scores", "GFLOPs of an image"]
    assert figure.axes[0].get_ylabel() == "accuracy (%)"
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"F", "G", "H"}


def test_each_network_is_a_point_with_its_error_and_the_curve_is_the_fit():
    table = networks()
    figure = drawn(table, explained_accuracy(table, ["gflops"], kind="logarithm"))
    axes = figure.axes[0]
    points = np.concatenate([bars.lines[0].get_xydata() for bars in axes.containers])
    assert sorted(map(tuple, points)) == sorted(map(tuple, table[["gflops", "accuracy"]][:6].to_numpy()))
    bars = np.concatenate([np.diff([part[:, 1] for part in b.lines[2][0].get_segments()]) for b in axes.containers])
    assert bars.ravel() == pytest.approx(np.full(6, 2.0))
    curve = next(line for line in axes.lines if len(line.get_xdata()) == 100)
    found = fit(table["gflops"][:6], table["accuracy"][:6], "logarithm")
    assert curve.get_ydata() == pytest.approx(found(curve.get_xdata()))


def test_a_characteristic_with_an_error_has_bars_to_both_sides():
    table = networks().assign(mean_standard_error=0.05)
    axes = drawn(table, explained_accuracy(table, ["mean"])).axes[0]
    bars = np.concatenate([np.diff([part[:, 0] for part in b.lines[2][0].get_segments()]) for b in axes.containers])
    assert bars.ravel() == pytest.approx(np.full(6, 0.1))


def test_groups_of_one_panel_stand_three_side_by_side():
    table = pd.concat([networks().assign(group=group) for group in "ABCD"])
    figure = drawn(table, explained_accuracy(table, ["mean"]))
    grid = figure.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (2, 3)
    assert [axes.get_title()[:1] for axes in figure.axes if axes.get_visible()] == list("ABCD")


def test_a_network_without_accuracy_is_no_point():
    table = networks()
    table.loc[0, "accuracy"] = np.nan
    figure = drawn(table, explained_accuracy(table, ["gflops"]))
    assert sum(len(bars.lines[0].get_xdata()) for bars in figure.axes[0].containers) == 5
