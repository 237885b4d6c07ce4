"""What the figures of notebooks 7 and 9 draw."""

import numpy as np
import pandas as pd
import pytest

from companion.chapter_09.figures import criterion_dots
from companion.regression import criterion_correlations

RNG = np.random.default_rng(0)


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
