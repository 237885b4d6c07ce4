"""The numbers of verdicts against the textbook."""

import numpy as np
import pytest
from scipy import stats

from companion.chapter_13.claims import _beyond
from companion.claims import near
from companion.statistics import Estimate, mean_of


@pytest.mark.parametrize("others", [2, 3, 8])
def test_one_number_beside_others_is_a_t_test_with_a_sample_of_one(others):
    sample = np.random.default_rng(others).normal(size=others)
    textbook = stats.ttest_ind([1.3], sample, equal_var=True)
    found = _beyond(1.3, sample)
    assert found.chance_of(0) == pytest.approx(textbook.pvalue)
    assert found.value / found.error == pytest.approx(textbook.statistic)


@pytest.mark.parametrize("value", [0.0, 0.03, -0.04, 0.08])
def test_the_interval_that_would_have_decided_decides(value):
    """One a little narrower than that around the number reaches no end of the margin, a wider one does."""
    said = float(near(mean_of([value - 1, value + 1]), 0.0, 0.05, ".4f").seen.split()[3])
    half = stats.t.ppf(0.975, 9)
    for factor, decided in ((0.99, True), (1.01, False)):
        number = Estimate(value, factor * said / 2 / half, 9, n=10)
        assert (near(number, 0.0, 0.05).at() is not None) == decided
