"""Spread and steps of scores, estimates, and the error of a number over batches: by brute force, and measured again."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affscore.errors import AffscoreError
from affscore.network.result import Signature
from companion.results import error_over_batches, values_of, without_each_batch
from companion.statistics import Estimate, MissingResultsError, jackknife_error, mean_of, mean_step, rarefied_range
from tests.synthetic_signatures import synthetic


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.data())
def test_the_spread_of_few_is_the_mean_over_all_subsets(values, data):
    size = data.draw(st.integers(1, len(values)))
    expected = np.mean([max(subset) - min(subset) for subset in combinations(values, size)])
    assert rarefied_range(values, size) == pytest.approx(expected, abs=1e-12)


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
    assert mean_step(values) == pytest.approx(np.mean(np.abs(np.diff(values))))  # each at a depth of its own


def shaken(scores, by, batches=6, seed=0):
    """A signature whose scores differ from batch to batch, independently, with this standard deviation."""
    one = synthetic(scores, batches=batches)
    noise = np.random.default_rng(seed).normal(0, by, len(one.table))
    return Signature(one.table.assign(score=one.table["score"] + noise), one.metadata)


def test_means_without_a_batch_are_those_of_the_other_batches():
    one = shaken([0.4, 0.6, 0.8], 0.1)
    one.table.loc[(one.table["index"] == 0) & (one.table["batch"] == 1), "score"] = np.nan
    for batch, (scores, criterion) in without_each_batch(one, "cka").items():
        rest = Signature(one.table[one.table["batch"] != batch], one.metadata)
        np.testing.assert_allclose(scores, rest.scores, atol=1e-12)
        np.testing.assert_allclose(criterion, rest.summary["cka"], atol=1e-12)
    np.testing.assert_allclose(values_of(one)[1], one.scores, atol=1e-12)
    one.table.loc[(one.table["index"] == 0) & (one.table["batch"] != 2), "score"] = np.nan
    assert np.isnan(without_each_batch(one)[2][0]).tolist() == [True, False, False]  # where no value is left


@pytest.mark.slow
def test_the_error_is_how_much_the_number_differs_when_it_is_measured_again():
    again = [{"a": shaken([0.3, 0.6, 0.7, 0.9], 0.02, batches=20, seed=seed)} for seed in range(80)]
    spread = np.std([np.ptp(one["a"].scores) for one in again], ddof=1)
    errors = [error_over_batches(lambda found: float(np.ptp(found["a"][0])), one) for one in again]
    assert np.mean(errors) == pytest.approx(spread, rel=0.25)


def test_networks_on_the_same_images_move_together():
    """What all networks share does not cancel out in a mean over them, and does in a difference."""
    shift = np.random.default_rng(3).normal(0, 0.02, 30)
    both = {}
    for name, score in (("a", 0.5), ("b", 0.6)):
        one = synthetic([score], batches=30)
        both[name] = Signature(one.table.assign(score=score + shift), one.metadata)
    mean = error_over_batches(lambda of: float(of["a"][0, 0] + of["b"][0, 0]) / 2, both)
    assert mean == pytest.approx(np.std(shift, ddof=1) / 30**0.5)
    assert error_over_batches(lambda of: float(of["a"][0, 0] - of["b"][0, 0]), both) == pytest.approx(0, abs=1e-9)


def test_one_batch_has_no_error_and_fewer_batches_are_never_taken_for_surer():
    assert jackknife_error(np.array([0.5])) == jackknife_error(np.array([0.5, np.nan])) == np.inf
    few, many = shaken([0.5], 0.05, batches=2), shaken([0.5], 0.05, batches=10, seed=1)
    once = {"a": synthetic([0.5], batches=1), "b": many}
    assert error_over_batches(lambda of: float(of["b"][0, 0]), once) == np.inf
    alone = error_over_batches(lambda of: float(of["a"][0, 0]), {"a": few})
    beside = error_over_batches(lambda of: float(of["a"][0, 0]), {"a": few, "b": many})
    assert beside == pytest.approx(alone * (9 / 5) ** 0.5)  # two of ten replicates differ from what all batches give


def test_estimates():
    """Student's interval of a mean, Welch's of a difference, and a number of one measurement that decides nothing."""
    one, other = mean_of([1.0, 2.0, 3.0, 4.0]), mean_of([0.0, 0.1, 0.2])
    half = 3.182446 * np.std([1, 2, 3, 4], ddof=1) / 2  # the quantile of three degrees of freedom
    assert one.interval() == pytest.approx((2.5 - half, 2.5 + half), abs=1e-5)
    assert one.interval(together=4)[0] < one.interval()[0]
    lead = one - other
    assert (lead.value, lead.error, lead.n) == (pytest.approx(2.4), pytest.approx(np.hypot(one.error, other.error)), 7)
    assert 3 <= lead.freedom < 5
    assert (lead.above(), lead.above(2.4), lead.above(9), mean_of([5.0]).above()) == (True, None, False, None)
    assert (Estimate(1.0, 0.0, 3) - Estimate(0.5, 0.0, 3)).above(0.4)
    close = mean_of([0.1, 0.3, 0.5, 0.35])
    assert (close.above(), close.above(together=4)) == (True, None)
    with pytest.raises(MissingResultsError):
        mean_of([])
