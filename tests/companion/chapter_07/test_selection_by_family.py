"""What a statistic explains beyond the family: against brute force and against scikit-learn."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from affscore.errors import AffscoreError
from companion.chapter_07.measurements import between_families
from companion.chapter_07.selection import best_fit_lead, best_fit_test, best_fit_tests


def two_families(seed=0, gap=5.0, sizes=(4, 3)):
    generator = np.random.default_rng(seed)
    family = np.repeat(["u", "v"], sizes)
    level = np.where(family == "u", 0.0, gap)
    return pd.DataFrame(
        {
            "group": "G",
            "family": family,
            "accuracy": 50 + level + generator.normal(size=sum(sizes)),
            "mean": 1 + level + generator.normal(size=sum(sizes)),
            "max": 2 + generator.normal(size=sum(sizes)) ** 2,
        }
    )


def r2(x, y):
    return np.corrcoef(x, y)[0, 1] ** 2


def test_the_exact_p_value_within_families_is_that_of_all_orders():
    table = two_families()
    y, first = table["accuracy"].to_numpy(), range(4)
    observed = max(r2(table[name], y) for name in ("mean", "max"))
    reached = []
    for one, other in itertools.product(itertools.permutations(first), itertools.permutations(range(4, 7))):
        shuffled = y[[*one, *other]]
        reached.append(max(r2(table[name], shuffled) for name in ("mean", "max")) >= observed - 1e-12)
    found = best_fit_test(table, ["mean", "max"], strata="family")
    assert found.exact
    assert len(found.permuted) == len(reached) == 24 * 6
    assert found.p_value == pytest.approx(np.mean(reached))
    assert found.observed == pytest.approx(observed)


def test_rows_may_have_the_same_name():
    table = two_families().assign(depth=range(1, 8))
    alike = table.set_index(pd.Index(["net"] * 7))
    for within in (None, "family"):
        one, other = (best_fit_test(rows, ["mean", "max"], strata=within).p_value for rows in (table, alike))
        assert one == other
    assert best_fit_lead(table, ["mean"], ["depth"], strata="family") == best_fit_lead(
        alike, ["mean"], ["depth"], strata="family"
    )


def test_random_shuffles_stay_within_families():
    table = two_families(sizes=(8, 8), gap=1000.0)
    found = best_fit_test(table, ["mean"], strata="family", permutations=500)
    assert not found.exact
    assert len(found.permuted) == 500
    assert found.permuted.min() > 0.99  # the gap between the families is there in every shuffle
    assert best_fit_test(table, ["mean"], permutations=500).permuted.min() < 0.5
    again = best_fit_test(table, ["mean"], strata="family", permutations=500)
    np.testing.assert_array_equal(found.permuted, again.permuted)
    assert not np.array_equal(
        found.permuted, best_fit_test(table, ["mean"], strata="family", permutations=500, seed=1).permuted
    )


def test_what_only_tells_families_apart_is_evidence_in_the_free_shuffle_alone():
    found = best_fit_tests(two_families(gap=30.0), ["mean", "max"]).loc["G"]
    assert found["best_statistic"] == "mean"
    assert found["between_families"] > 0.95
    assert found["p_value"] < 0.05 < found["p_within"]
    assert found["networks"] == 7
    assert found["families"] == 2


def test_groups_that_have_no_numbers_or_one_family():
    table = pd.concat(
        [two_families(), two_families().assign(group="one", family="u"), two_families().iloc[:3].assign(group="few")]
    ).reset_index(drop=True)
    found = best_fit_tests(table, ["mean", "max"])
    assert list(found.index) == ["G", "one", "few"]
    assert np.isnan(found.loc["one", "p_within"])
    assert found.loc["one", "p_value"] <= 1
    assert np.isnan(found.loc["few", "p_value"])


def test_a_network_without_a_family_is_refused_where_families_matter():
    table = two_families()
    table.loc[0, "family"] = None
    with pytest.raises(AffscoreError, match="nothing in the column 'family'"):
        best_fit_test(table, ["mean"], strata="family")


def test_the_share_between_families_is_the_r2_of_their_names():
    table = two_families()
    dummies = pd.get_dummies(table["family"]).to_numpy(dtype=float)
    expected = LinearRegression().fit(dummies, table["accuracy"]).score(dummies, table["accuracy"])
    assert between_families(table) == pytest.approx(expected)
    assert between_families(table.assign(family=range(7))) == pytest.approx(1.0)
    assert np.isnan(between_families(table.assign(accuracy=1.0)))
    missing = pd.concat([table, table.iloc[:1].assign(accuracy=np.nan)], ignore_index=True)
    assert between_families(missing) == pytest.approx(expected)


def test_a_lead_by_chance():
    table = two_families(seed=4, gap=0.0, sizes=(3, 2)).assign(depth=np.random.default_rng(9).normal(size=5))
    found = best_fit_lead(table, ["mean", "max"], ["depth"])
    y = table["accuracy"].to_numpy()
    lead = max(r2(table["mean"], y), r2(table["max"], y)) - r2(table["depth"], y)
    leads = []
    for order in itertools.permutations(range(5)):
        z = y[list(order)]
        leads.append(max(r2(table["mean"], z), r2(table["max"], z)) - r2(table["depth"], z))
    assert found["lead_p_value"] == pytest.approx(np.mean(np.array(leads) >= lead - 1e-9))
    inside = best_fit_lead(table, ["mean", "max"], ["depth"], strata="family")
    assert inside["p_value"] == best_fit_test(table, ["mean", "max"], strata="family").p_value
