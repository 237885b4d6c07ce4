import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from sklearn.metrics import adjusted_rand_score

from affscore.comparison import distance_matrix
from companion.clustering import family_agreement, leaf_order, linkage, nearest_neighbour_accuracy


def away(places, names=None):
    """Distances between places on a line, or in a plane."""
    points = np.asarray(places, dtype=float).reshape(len(places), -1)
    names = [f"n{k}" for k in range(len(points))] if names is None else names
    return pd.DataFrame(np.linalg.norm(points[:, None] - points, axis=2), index=names, columns=names)


TWO_GROUPS = away([0, 1, 2, 20, 21, 23])
FAMILIES = list("aaabbb")


def joined_by_hand(distances, distance_of_clusters):
    """Heights of an agglomerative clustering, straight from its definition."""
    groups, heights = [[k] for k in range(len(distances))], []
    while len(groups) > 1:
        pairs = [(i, j) for i in range(len(groups)) for j in range(i)]
        apart = [distance_of_clusters(distances[np.ix_(groups[i], groups[j])]) for i, j in pairs]
        i, j = pairs[int(np.argmin(apart))]
        heights.append(min(apart))
        groups[j] += groups.pop(i)
    return heights


@pytest.mark.parametrize(("method", "of_clusters"), [("average", np.mean), ("single", np.min), ("complete", np.max)])
def test_linkage_joins_the_nearest_clusters(method, of_clusters):
    distances = away(np.random.default_rng(1).random((9, 2)))
    expected = joined_by_hand(distances.to_numpy(), of_clusters)
    assert linkage(distances, method)[:, 2] == pytest.approx(expected)


def test_the_leaves_of_a_line_are_in_its_order():
    names = list("fbdaec")
    distances = away([ord(name) for name in names], names)
    assert leaf_order(distances, linkage(distances)) == sorted(names)


@given(st.lists(st.sampled_from("abc"), min_size=9, max_size=9).filter(lambda labels: len(set(labels)) > 1))
def test_the_measure_is_the_adjusted_rand_index_of_the_cut(families):
    distances = away(np.random.default_rng(2).random((9, 2)))
    found = hierarchy.fcluster(linkage(distances), len(set(families)), "maxclust")
    value = family_agreement(distances, families, permutations=9).value
    assert value == pytest.approx(adjusted_rand_score(families, found))


@pytest.mark.parametrize("method", ["average", "single", "complete"])
def test_families_are_held_against_the_clustering_asked_for(method):
    distances = away(np.random.default_rng(20).random((9, 2)))  # each method cuts it in another way
    families = list("aaabbcccc")
    found = hierarchy.fcluster(linkage(distances, method), 3, "maxclust")
    value = family_agreement(distances, families, method, permutations=9).value
    assert value == pytest.approx(adjusted_rand_score(families, found))


def test_the_families_themselves_count_among_the_shuffled_ones():
    distances = away([0, 0, 0, 0, 50, 50, 50, 50, 100, 100, 100, 100])
    for measure in (family_agreement, nearest_neighbour_accuracy):  # none of a few shuffles is as good
        assert measure(distances, list("aaaabbbbcccc"), permutations=9).p_value == 0.1


def test_families_that_are_there_are_found_and_shuffled_ones_are_not():
    for measure in (family_agreement, nearest_neighbour_accuracy):
        found = measure(TWO_GROUPS, FAMILIES)
        assert found.value == 1
        # 2 of the 20 partitions into threes are the families themselves
        assert found.p_value == pytest.approx(0.1, abs=0.02)
        assert measure(TWO_GROUPS, list("ababab")).p_value > 0.5


def test_chance_of_the_adjusted_rand_index_is_zero():
    distances = away(np.random.default_rng(3).random((12, 2)))
    assert family_agreement(distances, list("aaabbbcccddd")).permuted == pytest.approx(0, abs=0.02)


def test_p_values_of_unrelated_families_are_spread_evenly():
    p_values = []
    for k in range(60):
        generator = np.random.default_rng(k)
        distances = away(generator.random((12, 2)))
        p_values.append(family_agreement(distances, list("aaabbbcccddd"), permutations=99, seed=k).p_value)
    assert 0.35 < np.mean(p_values) < 0.7
    assert np.mean(np.array(p_values) <= 0.1) < 0.25


def test_relatives_leave_out_those_without_one_and_keep_them_as_neighbours():
    distances = away([0, 1, 3, 3.5])
    # the second's nearest is the first, the third's is the fourth, which has no relative
    assert nearest_neighbour_accuracy(distances, list("aaab"), permutations=9).value == pytest.approx(2 / 3)


def test_equally_near_neighbours_count_in_equal_parts():
    """The one in the middle is as near to a relative as to a stranger, whichever stands first."""
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        places, families = np.array([0.0, 1.0, 2.0])[order], np.array(list("aab"))[order]
        assert nearest_neighbour_accuracy(away(list(places)), list(families), permutations=9).value == pytest.approx(
            (1 + 0.5) / 2
        )


@pytest.mark.parametrize("families", ["abcdef", "aaaaaa"])
def test_families_of_one_member_and_a_single_family_have_nothing_to_find(families):
    for measure in (family_agreement, nearest_neighbour_accuracy):
        assert np.isnan(measure(TWO_GROUPS, list(families), permutations=9).value)


def test_the_seed_fixes_the_test():
    distances = away(np.random.default_rng(4).random((9, 2)))
    one, again, other = (
        family_agreement(distances, list("aaabbbccc"), permutations=99, seed=seed) for seed in (5, 5, 6)
    )
    assert one == again
    assert one.permuted != other.permuted


def test_signatures_of_two_kinds_are_told_apart():
    generator = np.random.default_rng(6)
    signatures = {f"low{k}": generator.uniform(0.2, 0.4, 10 + k) for k in range(4)}
    signatures |= {f"high{k}": generator.uniform(0.7, 0.9, 10 + k) for k in range(4)}
    assert family_agreement(distance_matrix(signatures), ["low"] * 4 + ["high"] * 4).value == 1
