"""Correlations with other criteria: against SciPy, against the printed tables, and every missing value explained."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, ttest_1samp
from sklearn.linear_model import LinearRegression

from affscore import AffscoreError
from companion.chapter_09.measurements import family_correlations, sign_counts
from companion.printed import printed_correlations, printed_table
from companion.regression import (
    CRITERIA_OF_TABLE_1,
    criterion_correlations,
    criterion_values,
    explained_by_all,
    fisher_interval,
)
from companion.shipped import shipped_signature


def summary(activations=12, seed=0):
    rng = np.random.default_rng(seed)
    names = ("score", "cka", "norm", "sparsity_before", "sparsity_after", "entropy_before", "entropy_after", "r2")
    return pd.DataFrame(rng.uniform(size=(activations, len(names))), columns=names)


@pytest.mark.parametrize("activations", [4, 9, 120])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_correlations_and_intervals_are_those_of_scipy(activations, level):
    table = summary(activations)
    rows = criterion_correlations({"a": table}, level=level).set_index("criterion")
    changes = {name: table[f"{name}_after"] - table[f"{name}_before"] for name in ("sparsity", "entropy")}
    for name in CRITERIA_OF_TABLE_1:
        expected = pearsonr(table["score"], changes.get(name, table.get(name)))
        interval = expected.confidence_interval(level)
        assert rows.loc[name, "correlation"] == pytest.approx(expected.statistic)
        assert rows.loc[name, ["low", "high"]].tolist() == pytest.approx([interval.low, interval.high])
    assert (rows["activations"] == activations).all()


def test_what_has_no_correlation():
    table = summary(10).assign(cka=0.5, r2=1.0 - 1e-9 * np.arange(10), norm=np.nan)
    table.loc[[0, 3], "sparsity_after"] = np.nan
    rows = criterion_correlations({"a": table, "short": summary(3)}, [*CRITERIA_OF_TABLE_1, "nlc"])
    assert (rows["correlation"].isna() == rows["low"].isna()).all()
    known = rows.dropna(subset="correlation").set_index(["model", "criterion"])["activations"]
    assert known.to_dict() == {("a", "sparsity"): 8, ("a", "entropy"): 10}
    steady = criterion_correlations({"a": summary(6).assign(score=0.7)}, ["cka"])
    assert steady["correlation"].isna().all()


def test_a_perfect_correlation_is_its_own_interval():
    table = summary(6)
    table["cka"] = -2 * table["score"]
    row = criterion_correlations({"a": table}, ["cka"]).iloc[0]
    assert row[["correlation", "low", "high"]].tolist() == pytest.approx([-1, -1, -1])
    assert fisher_interval(1.0, 9) == (1.0, 1.0)


@pytest.mark.parametrize("wrong", [(1.5, 9, 0.95), (0.5, 3, 0.95), (0.5, 9, 1.0)])
def test_an_interval_of_nonsense_is_refused(wrong):
    with pytest.raises(AffscoreError, match="expected a correlation"):
        fisher_interval(*wrong)


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        x, noise = rng.standard_normal((2, 15))
        y = 0.6 * x + 0.8 * noise
        low, high = fisher_interval(np.corrcoef(x, y)[0, 1], 15)
        held += low <= 0.6 <= high
    assert held / 2000 == pytest.approx(0.95, abs=0.015)


def test_two_rows_of_table_2_are_the_same():
    printed = printed_table("table2_correlations")
    assert (printed.loc["densenet161"] == printed.loc["densenet169"]).all()
    assert printed.duplicated().sum() == 1


def test_printed_correlations_have_intervals_of_their_networks():
    table = printed_correlations(0.9).set_index(["model", "criterion"])
    assert len(table) == 5 * len(printed_table("table2_correlations"))
    row = table.loc[("alexnet", "entropy")]
    assert row["activations"] == 7
    assert (row["low"], row["high"]) == fisher_interval(-0.80, 7, 0.9)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_of_a_family_is_students(level):
    values = [0.1, 0.4, 0.35, 0.5]
    rows = pd.DataFrame({"model": list("abcd"), "criterion": "cka", "correlation": values})
    row = family_correlations(rows, dict.fromkeys("abcd", "F"), level).iloc[0]
    interval = ttest_1samp(values, 0).confidence_interval(level)
    assert row[["low", "high"]].tolist() == pytest.approx([interval.low, interval.high])
    assert row["std"] == pytest.approx(np.std(values))


def test_the_interval_of_a_family_ends_where_correlations_do():
    rows = pd.DataFrame({"model": list("ab"), "criterion": "cka", "correlation": [0.9, -0.8]})
    row = family_correlations(rows, dict.fromkeys("ab", "F")).iloc[0]
    assert row[["low", "high"]].tolist() == [-1, 1]


def test_a_family_of_one_has_a_mean_and_no_interval():
    rows = pd.DataFrame({"model": list("abc"), "criterion": "cka", "correlation": [0.5, np.nan, np.nan]})
    table = family_correlations(rows, {"a": "A", "b": "B"}).set_index("family")
    assert table.loc["A", "mean"] == 0.5
    assert table.loc["A", ["std", "low", "high"]].isna().all()
    assert table.loc["B", ["networks", "mean"]].isna().tolist() == [False, True]
    assert table.loc["Average", "networks"] == 1


def test_signs_are_counted_by_their_intervals():
    rng = np.random.default_rng(3)
    scores = rng.uniform(size=30)
    ways = {"for": scores, "against": -scores, "neither": rng.uniform(size=30)}
    tables = {name: pd.DataFrame({"score": scores, "cka": way}) for name, way in ways.items()}
    row = sign_counts(criterion_correlations(tables, ["cka"])).loc["cka"]
    assert row[["networks", "positive", "negative", "undecided"]].tolist() == [3, 1, 1, 1]
    assert (row["smallest"], row["largest"]) == pytest.approx((-1, 1))


def test_the_shipped_results_have_correlations():
    names = ("resnet20", "squeezenet1_0", "squeezenet1_1", "mobilenet_v2")
    tables = {name: shipped_signature(name).summary for name in names}
    rows = criterion_correlations(tables)
    assert len(rows) == 5 * len(tables) >= 20
    known = rows.dropna(subset="correlation")
    assert ((known["low"] <= known["correlation"]) & (known["correlation"] <= known["high"])).all()


def test_within_a_network_the_joint_r2_is_the_adjusted_one():
    table = summary(20)
    found = explained_by_all({"a": table, "b": summary(20, seed=1)}, {}).loc["a"]
    x = criterion_values(table).drop(columns="score")
    r2 = LinearRegression().fit(x, table["score"]).score(x, table["score"])
    assert found["within"] == pytest.approx(1 - (1 - r2) * 19 / (20 - 6))


def test_a_criterion_that_adds_nothing_costs_no_degree_of_freedom():
    table = summary(20)
    four = ["cka", "norm", "sparsity", "entropy"]
    expected = explained_by_all({"a": table, "b": table}, {}, four).loc["a", "within"]
    for idle in (0.5, 2 * table["norm"]):  # constant, or a copy of another
        found = explained_by_all({"a": table.assign(r2=idle), "b": table}, {}).loc["a", "within"]
        assert found == pytest.approx(expected)


def test_within_a_network_two_degrees_of_freedom_must_be_left():
    found = explained_by_all({"a": summary(7), "b": summary(8), "c": summary(20)}, {})
    assert found["within"].isna().tolist() == [True, False, False]


def test_another_family_predicts_only_what_holds_there_too():
    rng = np.random.default_rng(2)

    def network(sign):
        cka, noise = rng.uniform(size=(2, 40))
        return pd.DataFrame({"score": sign * cka + 0.05 * noise, "cka": cka, "norm": noise})

    same = explained_by_all({n: network(1) for n in "abc"}, {"a": "A", "b": "A", "c": "C"}, ["cka", "norm"])
    assert (same["from_others"] > 0.9).all()
    turned = explained_by_all({"a": network(1), "b": network(-1)}, {}, ["cka", "norm"])
    assert (turned["within"] > 0.9).all()
    assert (turned["from_others"] < -1).all()


def test_relatives_do_not_help():
    rng = np.random.default_rng(4)
    cka = rng.uniform(size=20)
    twins = pd.DataFrame({"score": cka, "cka": cka})
    other = pd.DataFrame({"score": -cka, "cka": cka})
    table = explained_by_all({"a": twins, "b": twins, "c": other}, {"a": "A", "b": "A", "c": "C"}, ["cka"])
    assert table.loc["a", "from_others"] == pytest.approx(-3)  # (z - (-z))^2 = 4 z^2


def test_a_network_without_a_number():
    tables = {"a": summary(20), "b": summary(6), "c": summary(20).assign(score=0.5), "d": summary(20).assign(r2=1.0)}
    found = explained_by_all(tables, {})
    assert np.isnan(found.loc["b", "within"])
    assert np.isfinite(found.loc["b", "from_others"])
    assert found.loc["c", ["within", "from_others"]].isna().all()
    assert np.isfinite(found.loc["d", ["within", "from_others"]].astype(float)).all()
    with pytest.raises(AffscoreError, match="two of them"):
        explained_by_all({"a": summary(20)}, {})
