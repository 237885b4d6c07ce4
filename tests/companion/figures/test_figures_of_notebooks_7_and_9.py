"""What the figures of notebooks 7 and 9 draw."""

import numpy as np
import pandas as pd
import pytest

from affscore.errors import AffscoreError
from companion.analysis import criterion_correlations, explained_accuracy, fit, panel_fits
from companion.figures import accuracy_fits, criterion_dots

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


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(AffscoreError, match="at least one panel"):
        accuracy_fits(networks(), pd.DataFrame(), [])
    panels = pd.DataFrame({"group": ["A"], "characteristic": ["height"], "fit": ["linear"]})
    with pytest.raises(AffscoreError, match="no column 'height'"):
        accuracy_fits(networks(), panels, [None])
    with pytest.raises(AffscoreError, match="at least one correlation"):
        criterion_dots(pd.DataFrame(), {})


def test_all_correlations_are_dots_with_intervals():
    names = ("score", "cka", "norm", "r2")
    tables = {name: pd.DataFrame(RNG.uniform(size=(9, 4)), columns=names) for name in ("a", "b", "c")}
    tables["c"]["r2"] = 1.0
    rows = criterion_correlations(tables, ["cka", "norm", "r2"])
    printed = pd.DataFrame({"cka": {"a": 0.3, "z": 0.1}})
    figure = criterion_dots(rows, {"a": "F", "b": "F", "c": "ViTs"}, printed)
    assert [axes.get_title() for axes in figure.axes] == ["linear CKA", "norm", "$R^2$"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a", "b", "c"]
    for axes, criterion in zip(figure.axes, ["cka", "norm", "r2"], strict=True):
        of_criterion = rows[rows["criterion"] == criterion]
        dots = np.concatenate([line.get_xdata() for line in axes.lines if line.get_label() in ("F", "ViTs")])
        assert np.sort(dots[~np.isnan(dots)]) == pytest.approx(np.sort(of_criterion["correlation"].dropna()))
        parts = [np.asarray(part) for lines in axes.collections for part in lines.get_segments()]
        ends = np.concatenate([part[:, 0] for part in parts if part.ndim == 2])  # a missing one has no dimension
        assert np.sort(ends) == pytest.approx(np.sort(of_criterion[["low", "high"]].dropna().to_numpy().ravel()))
        assert axes.get_xlim() == (-1.05, 1.05)
    ticks = next(line for line in figure.axes[0].lines if line.get_label() == "printed (ImageNet)")
    assert ticks.get_xdata()[0] == 0.3
    assert np.isnan(ticks.get_xdata()[1:]).all()
    assert "printed (ImageNet)" in {text.get_text() for text in figure.legends[0].get_texts()}


def test_a_network_keeps_its_line_where_a_criterion_misses_another_one():
    names = ("score", "cka", "norm")
    tables = {name: pd.DataFrame(RNG.uniform(size=(9, 3)), columns=names) for name in ("a", "b", "c")}
    rows = criterion_correlations(tables, ["cka", "norm"])
    rows = rows[(rows["model"] != "a") | (rows["criterion"] != "norm")]
    figure = criterion_dots(rows, dict.fromkeys("abc", "F"))
    (dots,) = [line for line in figure.axes[1].lines if line.get_label() == "F"]
    found = dict(zip(dots.get_ydata(), dots.get_xdata(), strict=True))
    expected = rows[rows["criterion"] == "norm"].set_index("model")["correlation"]
    assert np.isnan(found[0])
    assert (found[1], found[2]) == (expected["b"], expected["c"])
