import numpy as np
import pytest
from scipy.stats import spearmanr, t

from affscore import AffscoreError
from affscore.analysis import SeedInterval, mean_over_seeds, rank_correlation_over_seeds

RNG = np.random.default_rng(3)
X = RNG.standard_normal((20, 4))
Y = X + RNG.standard_normal((20, 4))


@pytest.mark.parametrize(
    ("low", "high", "direction"),
    [(0.1, 0.2, "positive"), (-0.2, -0.1, "negative"), (-0.1, 0.1, "undecided"), (0.0, 0.1, "undecided")],
)
def test_an_interval_with_zero_decides_nothing(low, high, direction):
    assert SeedInterval((low + high) / 2, low, high).direction == direction


def test_the_mean_has_student_s_interval():
    found = mean_over_seeds(X[:, 0], level=0.9)
    low, high = t.interval(0.9, 19, loc=X[:, 0].mean(), scale=X[:, 0].std(ddof=1) / 20**0.5)
    assert (found.value, found.low, found.high) == pytest.approx((X[:, 0].mean(), low, high))


def test_over_all_networks_it_is_spearman_s_correlation():
    found = rank_correlation_over_seeds(X, Y)
    assert found.value == pytest.approx(spearmanr(X.ravel(), Y.ravel()).statistic)
    assert found.low < found.value < found.high


def test_within_cells_it_is_the_mean_of_their_correlations_and_no_difference_of_cells_counts():
    each = [spearmanr(X[:, cell], Y[:, cell]).statistic for cell in range(4)]
    within = rank_correlation_over_seeds(X, Y, within=True)
    assert within.value == pytest.approx(np.mean(each))
    apart = 100.0 * np.arange(4)
    assert rank_correlation_over_seeds(X + apart, Y - apart, within=True) == within
    assert rank_correlation_over_seeds(X + apart, Y - apart).value < -0.8


def test_ranks_do_not_notice_a_rising_function():
    assert rank_correlation_over_seeds(np.exp(X), Y**3) == rank_correlation_over_seeds(X, Y)


@pytest.mark.parametrize("within", [False, True])
def test_copies_of_a_network_add_no_evidence(within):
    """Networks that share a seed are redrawn together: with the same cell five times the interval stays."""
    one = rank_correlation_over_seeds(X[:, :1], Y[:, :1], within=within)
    five = rank_correlation_over_seeds(X[:, [0] * 5], Y[:, [0] * 5], within=within)
    assert (five.value, five.low, five.high) == pytest.approx((one.value, one.low, one.high))


def test_independent_numbers_are_undecided_as_often_as_the_level_says():
    decided = [
        rank_correlation_over_seeds(*RNG.standard_normal((2, 40, 2)), draws=400, level=0.9).direction != "undecided"
        for _ in range(200)
    ]
    assert 0.04 < np.mean(decided) < 0.22


def test_a_higher_level_is_wider():
    usual, wide = (rank_correlation_over_seeds(X, Y, level=level) for level in (0.8, 0.99))
    assert wide.low < usual.low < usual.high < wide.high


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X, Y[:, :3], "same shape"), (X[:, 0], Y[:, 0], "seeds, cells"), (X[:1], Y[:1], "at least two seeds"),
        (X * np.nan, Y, "finite"), (X, np.ones_like(Y), "all values"), (X[:, :0], Y[:, :0], "finite numbers"),
    ],
)  # fmt: skip
def test_what_has_no_correlation(x, y, message):
    with pytest.raises(AffscoreError, match=message):
        rank_correlation_over_seeds(x, y)


@pytest.mark.parametrize("values", [[1.0], [], [1.0, np.inf], [[1.0, 2.0]]])
def test_what_has_no_mean(values):
    with pytest.raises(AffscoreError, match="finite numbers"):
        mean_over_seeds(values)
    with pytest.raises(AffscoreError, match="level"):
        mean_over_seeds([1.0, 2.0], level=1.0)
