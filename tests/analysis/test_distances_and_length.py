import numpy as np
import pandas as pd
import pytest
from dtaidistance import dtw
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from affscore.analysis import distance_matrix, family_agreement, family_lead, length_distances, mantel_test, per_step
from affscore.errors import AffscoreError

scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def between(values):
    names = [f"n{k}" for k in range(len(values))]
    values = np.asarray(values, dtype=float)
    return pd.DataFrame(np.abs(values[:, None] - values), index=names, columns=names)


@given(scores, scores)
def test_the_distance_per_step_is_at_least_the_root_mean_square_of_the_alignment(one, other):
    signatures = {"a": one, "b": other}
    found = per_step(distance_matrix(signatures), signatures).loc["a", "b"]
    path = dtw.warping_path(np.array(one), np.array(other))
    mean_square = np.mean([(one[i] - other[j]) ** 2 for i, j in path])
    assert found >= np.sqrt(mean_square) - 1e-9
    assert found <= 1 + 1e-9


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_distance_of_constant_signatures_is_a_matter_of_length_and_per_step_it_is_not(k, m):
    signatures = {"a": [0.5] * k, "b": [0.75] * m}
    distances = distance_matrix(signatures)
    assert distances.loc["a", "b"] == pytest.approx(0.25 * max(k, m) ** 0.5)
    assert per_step(distances, signatures).loc["a", "b"] == pytest.approx(0.25)


def test_distances_by_length_know_nothing_else():
    assert length_distances({"a": [0.1] * 4, "b": [0.9] * 4, "c": [0.1]}).to_numpy().tolist() == [
        [0, 0, 3],
        [0, 0, 3],
        [3, 3, 0],
    ]


def test_the_correlation_is_that_of_the_pairs():
    generator = np.random.default_rng(0)
    one, other = between(generator.random(9)), between(generator.random(9))
    pairs = np.triu_indices(9, 1)
    expected = spearmanr(one.to_numpy()[pairs], other.to_numpy()[pairs]).statistic
    assert mantel_test(one, other, permutations=9).correlation == pytest.approx(expected)


def test_a_matrix_goes_with_itself_and_not_with_another():
    generator = np.random.default_rng(1)
    one = between(generator.random(9))
    assert mantel_test(one, one, permutations=199).p_value == pytest.approx(1 / 200)
    p_values = [mantel_test(one, between(generator.random(9)), permutations=99, seed=k).p_value for k in range(60)]
    assert 0.35 < np.mean(p_values) < 0.65


def test_orders_that_change_nothing_count_as_large():
    pairs = between([0, 1, 10, 11])
    # 2 of the 24 orders keep all distances
    assert mantel_test(pairs, pairs, permutations=1999).p_value == pytest.approx(1 / 12, abs=0.02)


def test_another_seed_shuffles_in_another_way():
    generator = np.random.default_rng(2)
    one, other = between(generator.random(9)), between(generator.random(9))
    found = {mantel_test(one, other, permutations=199, seed=seed).p_value for seed in (0, 0, 1, 2)}
    assert len(found) > 1
    assert mantel_test(one, other, 199, seed=1) == mantel_test(one, other, 199, seed=1)


def test_too_little_to_compare_is_missing():
    assert np.isnan(mantel_test(between([0, 1]), between([0, 1])).correlation)
    for pair in ([1, 1, 1], [0, 1, 2]), ([0, 1, 2], [1, 1, 1]):
        assert np.isnan(mantel_test(*map(between, pair)).p_value)


def test_other_names_are_refused():
    one = between([0, 1, 2])
    with pytest.raises(AffscoreError, match="same names"):
        mantel_test(one, one.rename(index={"n0": "x"}, columns={"n0": "x"}))
    with pytest.raises(AffscoreError, match="in the same order"):
        mantel_test(one, one.loc[::-1, ::-1])
    with pytest.raises(AffscoreError, match="names of the signatures"):
        per_step(one, {"n0": [0.5], "n1": [0.5]})


def test_the_lead_over_another_clustering_has_an_error_over_networks():
    generator = np.random.default_rng(0)
    names = [f"n{place}" for place in range(24)]
    families = [name for name in "abcdef" for _ in range(4)]

    def clouds(apart):
        places = np.repeat(np.arange(6), 4) * apart + generator.normal(size=24)
        return pd.DataFrame(np.abs(places[:, None] - places), names, names)

    told, hardly, not_at_all = clouds(100.0), clouds(2.0), clouds(0.0)
    sure = family_lead(told, not_at_all, families)
    agreements = [family_agreement(one, families, permutations=1).value for one in (told, not_at_all)]
    assert sure.value == pytest.approx(agreements[0] - agreements[1])
    assert sure.value > 3 * sure.error > 0
    one, other = family_lead(hardly, not_at_all, families), family_lead(not_at_all, hardly, families)
    assert (one.value, one.error) == pytest.approx((-other.value, other.error))
    assert family_lead(hardly, hardly, families).error == 0
    assert np.isnan(family_lead(told, hardly, ["a"] * 24).value)
    with pytest.raises(AffscoreError, match="the same networks"):
        family_lead(told, hardly.iloc[::-1, ::-1], families)
