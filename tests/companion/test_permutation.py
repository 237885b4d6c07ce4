"""The engine of all permutation tests, and trends over years: against SciPy, within strata, and by counting."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from companion.permutation import permutation_test, trend


@pytest.mark.parametrize("count", [6, 12])
def test_p_values_are_those_of_scipy(count):
    x, y = np.random.default_rng(count).normal(size=(2, count))
    found = permutation_test(y, lambda rows: rows @ x, permutations=999, seed=4)
    for alternative, p_value in {"greater": found.p_value, "two-sided": found.two_sided}.items():
        expected = stats.permutation_test(
            (y,),
            lambda rows, axis: rows @ x,
            permutation_type="pairings",
            vectorized=True,
            n_resamples=999,
            alternative=alternative,
            random_state=np.random.default_rng(4),
        )
        assert p_value == pytest.approx(expected.pvalue)
    assert found.exact == (count == 6)


def test_batches_change_nothing():
    x, y = np.random.default_rng(0).normal(size=(2, 12))
    many, few = (permutation_test(y, lambda rows: rows @ x, permutations=count).permuted for count in (12_000, 3000))
    assert (many[:3000] == few).all()


@pytest.mark.parametrize("permutations", [12, 11])
def test_values_stay_in_their_stratum(permutations):
    values, strata, weights = [1, 2, 10, 3, 20], np.array([0, 0, 1, 0, 1]), np.array([1, 5, 125, 25, 725])
    found = permutation_test(
        values, lambda rows: rows[..., strata == 0].max(axis=-1), strata=strata, permutations=permutations
    )
    assert (found.observed, set(found.permuted)) == (3, {3})
    assert (found.exact, len(found.permuted)) == (permutations == 12, permutations)
    every = permutation_test(values, lambda rows: rows @ weights, strata=strata).permuted
    assert len(set(every)) == len(every) == 12  # each order within strata once


@pytest.mark.parametrize("values", [[3, 1, 4, 15, 9, 2], [1, 1, 3, 2, 4, 4]])
def test_the_p_value_of_a_trend_counts_all_assignments_of_years(values):
    years = [2012, 2014, 2014, 2015, 2016, 2019]
    found = trend(years, values)
    expected = stats.spearmanr(years, values).statistic
    assert found.correlation == pytest.approx(expected, abs=1e-9)
    by_chance = np.corrcoef(stats.rankdata(years), list(permutations(stats.rankdata(values))))[0, 1:]
    above, below = np.mean(by_chance >= expected - 1e-9), np.mean(by_chance <= expected + 1e-9)
    assert found.p_value == pytest.approx(min(1, 2 * min(above, below)))


def test_the_slope_of_a_trend_is_the_median_of_the_slopes_of_pairs():
    x, y = np.array([2012.0, 2014, 2014, 2015, 2018]), np.array([0.1, 0.2, 0.5, 0.3, 0.35])
    slopes = [(y[j] - y[i]) / (x[j] - x[i]) for i, j in combinations(range(5), 2) if x[i] != x[j]]
    found = trend(x, y)
    assert found.slope == pytest.approx(np.median(slopes))
    assert found.low <= found.slope <= found.high


@pytest.mark.parametrize("values", [[0.1, 0.2, 0.3], [0.5, 0.5, 0.5, 0.5]])
def test_too_little_for_a_trend_is_no_trend(values):
    found = trend(range(2012, 2012 + len(values)), values)
    assert found.points == len(values)
    assert np.isnan([found.correlation, found.p_value, found.slope]).all()
