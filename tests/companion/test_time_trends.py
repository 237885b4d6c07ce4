from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from affscore.errors import AffscoreError
from companion.chapter_06 import history
from companion.permutation import trend, trends
from companion.statistics import mean_step, rarefied_range

scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(scores, st.data())
def test_the_spread_of_few_is_the_mean_over_all_subsets(values, data):
    size = data.draw(st.integers(1, len(values)))
    expected = np.mean([max(subset) - min(subset) for subset in combinations(values, size)])
    assert rarefied_range(values, size) == pytest.approx(expected, abs=1e-12)


def test_the_spread_of_few_holds_for_hundreds_of_scores():
    values = np.linspace(0, 1, 1001)
    assert rarefied_range(values, 7) == pytest.approx(6 / 8, abs=2e-3)  # (m - 1) / (m + 1) of uniform numbers


def test_history_is_in_the_order_of_years_and_draws_as_many_from_each():
    table = history({"swin_t": [0.2, 0.9, 0.4, 0.5], "mine": [0.5, 0.5, 0.5], "alexnet": [0.6, 0.7, 0.65]})
    assert table.index.tolist() == ["alexnet", "swin_t", "mine"]
    assert table.attrs["few"] == 3
    assert table.loc["alexnet", "spread"] == pytest.approx(table.loc["alexnet", "rarefied range"])
    assert table.loc["swin_t", "rarefied range"] < table.loc["swin_t", "spread"]
    assert np.isnan(table.loc["mine", "skewness"])
    assert table.loc["swin_t", "skewness"] == pytest.approx(stats.skew([0.2, 0.9, 0.4, 0.5]))


def test_networks_of_one_year_keep_their_order():
    names = [f"{name}@{number}.pth" for number in range(20) for name in ("resnet18", "vgg11")]
    expected = [*(name for name in names if "vgg" in name), *(name for name in names if "resnet" in name)]
    assert history({name: [0.5, 0.6] for name in names}).index.tolist() == expected


@pytest.mark.parametrize("values", [[3, 1, 4, 15, 9, 2], [1, 2, 3, 4, 9, 15], [9, 15, 4, 3, 2, 1], [1, 1, 3, 2, 4, 4]])
def test_the_p_value_counts_all_assignments_of_years(values):
    years = [2012, 2014, 2014, 2015, 2016, 2019]
    found = trend(years, values)
    expected = stats.spearmanr(years, values).statistic
    assert found.correlation == pytest.approx(expected, abs=1e-9)
    orders = np.array(list(permutations(stats.rankdata(values))))
    by_chance = np.corrcoef(stats.rankdata(years), orders)[0, 1:]
    above, below = np.mean(by_chance >= expected - 1e-9), np.mean(by_chance <= expected + 1e-9)
    assert found.p_value == pytest.approx(min(1, 2 * min(above, below)))


def test_another_seed_tries_other_assignments():
    values = [3, 1, 4, 15, 9, 2, 6, 5, 8]
    one, again, other = (trend(range(9), values, resamples=99, seed=seed) for seed in (0, 0, 1))
    assert one == again
    assert one.p_value != other.p_value


def test_the_slope_is_the_median_of_the_slopes_of_pairs():
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


def test_variants_of_one_design_are_one_point():
    signatures = {
        "alexnet": [0.5, 0.6],
        **{name: [0.5, 0.7] for name in ("vgg11", "vgg13", "vgg16", "vgg19")},
        "resnet18": [0.4, 0.8],
        "densenet121": [0.3, 0.8],
        "vit_b_16": [0.1, 0.2],
        "mine": [0.0, 1.0],
    }
    table = history(signatures)
    until = trends(table, ["spread"], until=2019).loc["spread"]
    assert until["points"] == 4
    assert until["correlation"] == 1
    assert trends(table, ["spread"], until=2016).loc["spread", "points"] == 4  # the last year counts
    assert trends(table, ["spread"], until=2015).loc["spread", "points"] == 3
    assert trends(table, ["spread"]).loc["spread", "points"] == 5


def test_noise_has_no_trend():
    generator = np.random.default_rng(0)
    p_values = [trend(range(8), generator.random(8), resamples=199, seed=k).p_value for k in range(100)]
    assert np.mean(np.array(p_values) <= 0.1) < 0.2


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=2, max_size=9))
def test_a_step_is_the_mean_over_the_pairs_at_neighbouring_depths(pairs):
    values, depth = np.array(pairs).T
    levels = np.unique(depth)
    if len(levels) < 2:
        with pytest.raises(AffscoreError, match="two depths"):
            mean_step(values, depth)
        return
    own = [values[depth == level] for level in levels]
    steps = [np.mean([abs(a - b) for a in one for b in other]) for one, other in pairwise(own)]
    assert mean_step(values, depth) == pytest.approx(np.mean(steps), abs=1e-12)


def test_a_zigzag_has_larger_steps_than_a_smooth_course_of_the_same_scores():
    values = np.linspace(0.5, 0.9, 20)
    zigzag = np.ravel(np.column_stack([values[:10], values[10:]]))
    assert mean_step(values) < 0.03 < 0.1 < mean_step(zigzag)
    assert mean_step([0.5, 0.5, 0.5]) == 0
