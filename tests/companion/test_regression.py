"""Fits, correlations and errors over seeds: against scikit-learn, SciPy and the printed tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, sem
from sklearn.linear_model import LinearRegression

from affscore import AffscoreError
from companion.printed import printed_correlations, printed_table
from companion.regression import (
    CRITERIA_OF_TABLE_1,
    ERROR,
    FITS,
    LEAST_POINTS,
    criterion_correlations,
    fisher_interval,
    fit,
    over_seeds,
    plain_r2,
)


class TestFit:
    @pytest.mark.parametrize("kind", FITS)
    @given(st.integers(0, 10_000), st.integers(LEAST_POINTS, 12))
    def test_r2_is_that_of_scikit_learn(self, kind, seed, points):
        rng = np.random.default_rng(seed)
        x, y = rng.uniform(0.5, 9, points), rng.standard_normal(points)
        found = fit(x, y, kind)
        variable = (np.log(x) if kind == "logarithm" else x)[:, None]
        assert found.r2 == pytest.approx(LinearRegression().fit(variable, y).score(variable, y), abs=1e-8)
        rest, total = np.square(y - found(x)).sum(), np.square(y - y.mean()).sum()
        assert found.r2 == pytest.approx(1 - rest / total, abs=1e-8)
        assert found.adjusted_r2 == pytest.approx(1 - (rest / (points - 2)) / (total / (points - 1)), abs=1e-8)
        assert plain_r2(found.adjusted_r2, points) == pytest.approx(found.r2, abs=1e-8)

    def test_r2_of_what_is_not_related_is_not_below_zero(self):
        x = np.arange(-5.0, 6.0)
        for seed in range(30):  # rounding alone decides on which side of zero these lie
            half = np.random.default_rng(seed).standard_normal(6)
            assert 0 <= fit(x, np.concatenate([half[:0:-1], half])).r2 < 1e-12

    @pytest.mark.parametrize(
        ("x", "y", "kind", "complaint"),
        [
            ([1, 2, 3, 4], [1, 2, 3, 4], "linear", "on 4 points would say nothing"),
            ([1, 2, 3, 4, 5], [1, 2, 3, np.inf, 5], "linear", "finite"),
            ([0, 2, 3, 4, 5], [1, 2, 3, 4, 5], "logarithm", "positive numbers, got 0"),
            ([1, 2, 3, 4, 5], [7, 7, 7, 7, 7], "linear", "nothing to explain"),
        ],
    )
    def test_what_cannot_be_fitted_is_refused(self, x, y, kind, complaint):
        with pytest.raises(AffscoreError, match=complaint):
            fit(x, y, kind)


def test_standard_errors_over_seeds_are_those_of_scipy():
    rows = [(f"{group}{k}", group, seed) for group in "AB" for k in range(6) for seed in range(5)]
    table = pd.DataFrame(rows, columns=["name", "group", "seed"])
    table["accuracy"] = np.random.default_rng(0).uniform(size=len(table))
    table.loc[(table["name"] == "B3") & (table["seed"] == 2), "accuracy"] = np.nan
    values = table.loc[table["name"] == "B3", "accuracy"].dropna()
    found = over_seeds(table)
    assert found.loc["B3", ["accuracy", "accuracy" + ERROR]].tolist() == pytest.approx([values.mean(), sem(values)])
    assert (found["seeds"] == 5).all()
    assert "group" not in found
    assert over_seeds(table.query("seed == 0"))["accuracy" + ERROR].isna().all()


def summary(activations=12, seed=0):
    rng = np.random.default_rng(seed)
    names = ("score", "cka", "norm", "sparsity_before", "sparsity_after", "entropy_before", "entropy_after", "r2")
    return pd.DataFrame(rng.uniform(size=(activations, len(names))), columns=names)


class TestCorrelations:
    def test_correlations_and_intervals_are_those_of_scipy(self):
        table, level = summary(9), 0.8
        rows = criterion_correlations({"a": table}, level=level).set_index("criterion")
        changes = {name: table[f"{name}_after"] - table[f"{name}_before"] for name in ("sparsity", "entropy")}
        for name in CRITERIA_OF_TABLE_1:
            expected = pearsonr(table["score"], changes.get(name, table.get(name)))
            interval = expected.confidence_interval(level)
            assert rows.loc[name, ["correlation", "low", "high"]].tolist() == pytest.approx(
                [expected.statistic, interval.low, interval.high]
            )
        assert (rows["activations"] == 9).all()

    def test_what_has_no_correlation(self):
        table = summary(10).assign(cka=0.5, r2=1.0 - 1e-9 * np.arange(10), norm=np.nan)
        table.loc[[0, 3], "sparsity_after"] = np.nan
        tables = {"a": table, "short": summary(3), "steady": summary(6).assign(score=0.7)}
        rows = criterion_correlations(tables, [*CRITERIA_OF_TABLE_1, "nlc"])
        assert (rows["correlation"].isna() == rows["low"].isna()).all()
        known = rows.dropna(subset="correlation").set_index(["model", "criterion"])["activations"]
        assert known.to_dict() == {("a", "sparsity"): 8, ("a", "entropy"): 10}

    def test_a_perfect_correlation_is_its_own_interval(self):
        table = summary(6)
        table["cka"] = -2 * table["score"]
        row = criterion_correlations({"a": table}, ["cka"]).iloc[0]
        assert row[["correlation", "low", "high"]].tolist() == pytest.approx([-1, -1, -1])
        assert fisher_interval(1.0, 9) == (1.0, 1.0)

    def test_printed_correlations_have_intervals_of_their_networks(self):
        printed = printed_table("table2_correlations")
        assert (printed.loc["densenet161"] == printed.loc["densenet169"]).all()
        assert printed.duplicated().sum() == 1
        table = printed_correlations(0.9).set_index(["model", "criterion"])
        assert len(table) == 5 * len(printed)
        row = table.loc[("alexnet", "entropy")]
        assert row["activations"] == 7
        assert (row["low"], row["high"]) == fisher_interval(-0.80, 7, 0.9)
