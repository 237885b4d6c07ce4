"""Fits of accuracy on one number: against scikit-learn and statsmodels' formula, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from affscore.errors import AffscoreError
from companion.chapter_07.measurements import best_explained, explained_accuracy
from companion.regression import FITS, LEAST_POINTS, fit

RNG = np.random.default_rng(0)


def textbook(x, y, kind):
    variable = np.log(x) if kind == "logarithm" else np.asarray(x)
    return LinearRegression().fit(variable[:, None], y).score(variable[:, None], y)


@pytest.mark.parametrize("kind", FITS)
@given(st.integers(0, 10_000), st.integers(LEAST_POINTS, 12))
def test_r2_is_that_of_scikit_learn(kind, seed, points):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0.5, 9, points), rng.standard_normal(points)
    found = fit(x, y, kind)
    assert found.r2 == pytest.approx(textbook(x, y, kind), abs=1e-8)
    rest, total = np.square(y - found(x)).sum(), np.square(y - y.mean()).sum()
    assert found.r2 == pytest.approx(1 - rest / total, abs=1e-8)
    free = points - 2
    assert found.adjusted_r2 == pytest.approx(1 - (rest / free) / (total / (points - 1)), abs=1e-8)


def test_r2_of_what_is_not_related_is_not_below_zero():
    x = np.arange(-5.0, 6.0)
    for seed in range(30):  # rounding alone decides on which side of zero these lie
        half = np.random.default_rng(seed).standard_normal(6)
        assert 0 <= fit(x, np.concatenate([half[:0:-1], half])).r2 < 1e-12


def test_numbers_of_any_size_are_fitted():
    x = np.array([2.2e6, 3.1e6, 4.4e6, 6.3e6, 7.8e6, 9.1e6])
    assert fit(x, 3 + 2 * (x / 1e6), "linear").r2 == pytest.approx(1)
    assert fit(x * 1e-15, np.log(x), "logarithm").r2 == pytest.approx(1)


@pytest.mark.parametrize(
    ("x", "y", "kind", "complaint"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], "linear", "on 4 points would say nothing"),
        ([], [], "linear", "on 0 points"),
        ([1, 2, 3, 4, np.nan], [1, 2, 3, 4, 5], "linear", "finite"),
        ([1, 2, 3, 4, 5], [1, 2, 3, np.inf, 5], "linear", "finite"),
        ([0, 2, 3, 4, 5], [1, 2, 3, 4, 5], "logarithm", "positive numbers, got 0"),
        ([3, 3, 3, 3, 3], [1, 2, 3, 4, 5], "linear", "at least 2 different"),
        ([1, 2, 3, 4, 5], [7, 7, 7, 7, 7], "linear", "nothing to explain"),
    ],
)
def test_what_cannot_be_fitted_is_refused(x, y, kind, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        fit(x, y, kind)


def networks():
    table = pd.DataFrame(
        {
            "group": ["A"] * 6 + ["B"] * 4 + [None] * 3,
            "accuracy": RNG.uniform(60, 90, 13),
            "mean": RNG.uniform(0.2, 0.9, 13),
            "depth": 5.0,
        }
    )
    table["max"] = -table["accuracy"]
    return table


def test_groups_are_told_apart_and_missing_numbers_left_out():
    table = networks()
    table.loc[0, "mean"] = np.nan
    rows = explained_accuracy(table, ["mean", "max", "depth"]).set_index(["group", "characteristic"])
    assert len(rows) == 6
    known = table.iloc[1:6]
    assert rows.loc[("A", "mean"), "r2"] == pytest.approx(np.corrcoef(known["mean"], known["accuracy"])[0, 1] ** 2)
    assert rows.loc["A", "points"].tolist() == [5, 6, 6]
    assert rows.loc[("A", "max"), ["r2", "correlation"]].tolist() == pytest.approx([1, -1])
    assert np.isnan(rows.loc[("A", "depth"), "r2"])
    small = rows.loc["B"]
    assert small[["r2", "adjusted_r2", "correlation"]].isna().all(axis=None)
    assert (small["points"] == 4).all()


@pytest.mark.parametrize("kind", FITS)
def test_every_group_is_fitted_as_asked(kind):
    members = networks()[:6]
    row = explained_accuracy(members, ["mean"], kind=kind).iloc[0]
    expected = fit(members["mean"], members["accuracy"], kind)
    assert row[["fit", "r2", "adjusted_r2"]].tolist() == [kind, expected.r2, expected.adjusted_r2]


def test_the_best_is_the_largest_and_a_group_without_any_is_there():
    best = best_explained(explained_accuracy(networks(), ["mean", "max"])).set_index("group")
    assert best.loc["A", "characteristic"] == "max"
    assert np.isnan(best.loc["B", "r2"])


def test_of_a_group_without_any_r2_the_first_row_stays():
    rows = pd.DataFrame({"group": "B", "characteristic": ["mean", "max"], "r2": np.nan})
    assert best_explained(rows)["characteristic"].tolist() == ["mean"]
