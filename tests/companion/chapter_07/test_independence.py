"""The yardstick of independent statistics: against simulation and the test of a correlation."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from companion.chapter_07.selection import independent_best, independent_lead, independent_p_value
from companion.regression import fit, plain_r2


@pytest.mark.parametrize(("points", "candidates"), [(5, 1), (5, 7), (9, 7)])
def test_independent_statistics_by_simulation(points, candidates):
    rng = np.random.default_rng(0)
    y = rng.standard_normal((20_000, 1, points))
    x = rng.standard_normal((20_000, candidates, points))
    x, y = (z - z.mean(axis=-1, keepdims=True) for z in (x, y))
    r2 = (x * y).sum(-1) ** 2 / np.square(x).sum(-1) / np.square(y).sum(-1)
    largest = r2.max(axis=1)
    assert independent_best(points, candidates) == pytest.approx(np.median(largest), abs=0.015)
    assert independent_best(points, candidates, 0.95) == pytest.approx(np.quantile(largest, 0.95), abs=0.015)
    assert independent_p_value(0.7, points, candidates) == pytest.approx((largest >= 0.7).mean(), abs=0.01)


def test_one_candidate_is_the_test_of_a_correlation():
    x, y = np.random.default_rng(2).standard_normal((2, 9))
    r, p = pearsonr(x, y)
    assert independent_p_value(r**2, 9, 1) == pytest.approx(p)
    assert independent_p_value(1.0, 9, 7) == 0
    assert independent_p_value(0.0, 9, 7) == 1


def test_the_plain_r2_undoes_the_adjustment():
    x, y = np.random.default_rng(1).standard_normal((2, 7))
    found = fit(x, y)
    assert plain_r2(found.adjusted_r2, 7) == pytest.approx(found.r2)


@pytest.mark.parametrize(("lead", "points", "candidates", "rivals"), [(0.0, 9, 7, 3), (0.2, 7, 7, 3), (-0.3, 5, 1, 2)])
def test_a_lead_by_simulation(lead, points, candidates, rivals):
    rng = np.random.default_rng(1)
    one, other = (rng.beta(0.5, (points - 2) / 2, (100_000, count)).max(axis=1) for count in (candidates, rivals))
    assert independent_lead(lead, points, candidates, rivals) == pytest.approx((one - other >= lead).mean(), abs=0.006)


def test_more_tickets_win_more_often():
    chances = [independent_lead(0.0, 8, candidates, 3) for candidates in (1, 3, 7, 20)]
    assert chances == sorted(chances)
    assert chances[1] == pytest.approx(0.5, abs=1e-3)
