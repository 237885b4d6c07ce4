"""The best of several statistics, tested by permutations: against SciPy and against simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import permutation_test

from affscore.errors import AffscoreError
from companion.chapter_07.selection import best_fit_lead, best_fit_test
from companion.regression import fit

STATISTICS, COMMON = list("abcdefg"), list("xyz")


def group(points, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.uniform(0.1, 1, (points, 11)), columns=["accuracy", *STATISTICS, *COMMON])


def best(table, columns, accuracy):
    return max(np.corrcoef(table[column], accuracy)[0, 1] ** 2 for column in columns)


def test_the_exact_p_value_is_that_of_scipy():
    table = group(5)
    chance = best_fit_test(table, STATISTICS)
    assert chance.exact
    assert chance.observed == pytest.approx(best(table, STATISTICS, table["accuracy"]))
    expected = permutation_test(
        (table["accuracy"].to_numpy(),),
        lambda y: best(table, STATISTICS, y),
        permutation_type="pairings",
        n_resamples=np.inf,
        alternative="greater",
    )
    assert chance.p_value == pytest.approx(expected.pvalue)
    assert np.sort(chance.permuted) == pytest.approx(np.sort(expected.null_distribution))


def test_random_shuffles_agree_with_all_of_them():
    table = group(8, seed=3)
    exact = best_fit_test(table, STATISTICS)
    some = best_fit_test(table, STATISTICS, permutations=5000, seed=1)
    assert (exact.exact, some.exact) == (True, False)
    assert (len(exact.permuted), len(some.permuted)) == (40320, 5000)
    assert some.p_value == pytest.approx(exact.p_value, abs=0.03)
    assert np.median(some.permuted) == pytest.approx(np.median(exact.permuted), abs=0.02)
    assert set(some.permuted.round(9)) <= set(exact.permuted.round(9))  # each is an order of the same accuracies
    again = best_fit_test(table, STATISTICS, permutations=5000, seed=1)
    assert (some.permuted == again.permuted).all()


def test_as_many_shuffles_as_there_are_orders_are_all_of_them():
    table = group(5)
    found = best_fit_test(table, STATISTICS, permutations=120)
    assert found.exact
    assert found.p_value == best_fit_test(table, STATISTICS).p_value
    assert not best_fit_test(table, STATISTICS, permutations=119).exact


def test_another_seed_shuffles_in_another_way():
    one, other = (best_fit_test(group(8), STATISTICS, permutations=50, seed=seed).permuted for seed in (0, 1))
    assert (one != other).any()


def test_a_random_p_value_is_never_zero():
    line = pd.DataFrame({"accuracy": np.arange(12.0), "a": np.arange(12.0)})
    assert best_fit_test(line, ["a"], permutations=99).p_value == 0.01


def test_a_strong_statistic_is_no_chance_and_p_values_of_noise_are_even():
    table = group(8)
    table["a"] = table["accuracy"] * 3 + 1
    assert best_fit_test(table, STATISTICS).p_value == pytest.approx(2 / 40320, abs=1e-4)
    p_values = [best_fit_test(group(5, seed), STATISTICS).p_value for seed in range(60)]
    assert np.mean(np.array(p_values) <= 0.2) == pytest.approx(0.2, abs=0.09)
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.1)


def test_the_logarithm_is_fitted():
    table = group(6)
    found = best_fit_test(table, ["a"], kind="logarithm")
    assert found.observed == pytest.approx(fit(table["a"], table["accuracy"], "logarithm").r2)


def test_what_cannot_compete_is_left_out():
    table = group(6).assign(b=0.5, c=np.nan)
    table.loc[0, "d"] = 0.0
    found = best_fit_test(table, ["a", "b", "c", "d"], kind="logarithm")
    assert found.best == "a"
    assert found.observed == pytest.approx(fit(table["a"], table["accuracy"], "logarithm").r2)


def test_networks_with_a_missing_number_are_left_out():
    table = group(7)
    table.loc[2, "a"] = np.nan
    assert len(best_fit_test(table, ["a", "b"]).permuted) == 720  # of the six others


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"table": group(4)}, "4 networks have all numbers"),
        ({"table": group(6).assign(accuracy=1.0)}, "nothing to fit"),
        ({"table": group(6).assign(accuracy=np.nan)}, "0 networks"),
    ],
)
def test_what_cannot_be_shuffled_is_refused(change, complaint):
    options = {"table": group(6), "candidates": STATISTICS, **change}
    with pytest.raises(AffscoreError, match=complaint):
        best_fit_test(**options)


def test_a_group_is_compared_with_its_common_characteristics():
    table = group(6, seed=5)
    row = best_fit_lead(table, STATISTICS, COMMON)
    chance = best_fit_test(table, STATISTICS)
    common = best(table, COMMON, table["accuracy"])
    assert row["common_r2"] == pytest.approx(common)
    assert row["common_p_value"] == pytest.approx(np.mean(chance.permuted >= common - 1e-9))
    assert row["statistic_r2"] == chance.observed
    # seven tickets against three
    wins = [best_fit_lead(group(5, s), STATISTICS, COMMON)["wins_if_nothing_matters"] for s in range(20)]
    assert np.mean(wins) == pytest.approx(0.7, abs=0.05)


def test_both_sides_of_a_group_are_fitted_in_the_logarithm():
    table = group(6, seed=5)
    row = best_fit_lead(table, STATISTICS, COMMON, kind="logarithm")
    for best_r2, columns in ((row["statistic_r2"], STATISTICS), (row["common_r2"], COMMON)):
        assert best_r2 == pytest.approx(best(np.log(table), columns, table["accuracy"]))


def test_a_group_that_is_too_small_has_no_fit():
    assert best_fit_lead(group(4), STATISTICS, COMMON) == {"points": 4}


def test_a_characteristic_that_nobody_has_does_not_empty_the_group():
    row = best_fit_lead(group(6).assign(x=np.nan), STATISTICS, COMMON)
    assert row["points"] == 6
    assert row["best_common"] in "yz"
