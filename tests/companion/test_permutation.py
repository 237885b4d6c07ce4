"""The engine of all permutation tests: against SciPy, and within strata."""

import numpy as np
import pytest
from scipy import stats

from companion.permutation import permutation_test


@pytest.mark.parametrize("count", [6, 12])
def test_p_values_are_those_of_scipy(count):
    x, y = np.random.default_rng(count).normal(size=(2, count))
    found = permutation_test(y, lambda rows: rows @ x, permutations=999, seed=4)
    sides = {"greater": found.p_value, "two-sided": found.two_sided}
    for alternative, p_value in sides.items():
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
    values, strata = np.array([1, 2, 10, 3, 20]), np.array([0, 0, 1, 0, 1])
    found = permutation_test(
        values, lambda rows: rows[..., strata == 0].max(axis=-1), strata=strata, permutations=permutations
    )
    assert (found.observed, set(found.permuted)) == (3, {3})
    assert (found.exact, len(found.permuted)) == (permutations == 12, permutations)


def test_all_permutations_within_strata_are_there_once():
    found = permutation_test(
        [1, 2, 3, 10, 20], lambda rows: rows @ np.array([1, 5, 25, 125, 725]), strata=[0, 0, 0, 1, 1]
    )
    assert len(set(found.permuted)) == len(found.permuted) == 12
