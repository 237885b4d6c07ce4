import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy
from sklearn.metrics import adjusted_rand_score

from companion.clustering import family_agreement, linkage, nearest_neighbour_accuracy


def away(places, names=None):
    """Distances between places on a line, or in a plane."""
    points = np.asarray(places, dtype=float).reshape(len(places), -1)
    names = [f"n{k}" for k in range(len(points))] if names is None else names
    return pd.DataFrame(np.linalg.norm(points[:, None] - points, axis=2), index=names, columns=names)


TWO_GROUPS = away([0, 1, 2, 20, 21, 23])
FAMILIES = list("aaabbb")


@pytest.mark.parametrize("method", ["average", "single", "complete"])
def test_families_are_held_against_the_clustering_asked_for(method):
    distances = away(np.random.default_rng(20).random((9, 2)))  # each method cuts it in another way
    families = list("aaabbcccc")
    tree = hierarchy.linkage(distances.to_numpy()[np.triu_indices(9, 1)], method)
    np.testing.assert_allclose(linkage(distances, method)[:, 2], tree[:, 2])
    found = hierarchy.fcluster(tree, 3, "maxclust")
    value = family_agreement(distances, families, method, permutations=9).value
    assert value == pytest.approx(adjusted_rand_score(families, found))


def test_families_that_are_there_are_found_and_shuffled_ones_are_not():
    for measure in (family_agreement, nearest_neighbour_accuracy):
        found = measure(TWO_GROUPS, FAMILIES)
        assert found.value == 1
        # 2 of the 20 partitions into threes are the families themselves
        assert found.p_value == pytest.approx(0.1, abs=0.02)
        assert measure(TWO_GROUPS, list("ababab")).p_value > 0.5
        three = away([0, 0, 0, 0, 50, 50, 50, 50, 100, 100, 100, 100])
        assert measure(three, list("aaaabbbbcccc"), permutations=9).p_value == 0.1  # the families themselves count


def test_relatives_leave_out_those_without_one_and_count_equally_near_neighbours_in_equal_parts():
    # the second's nearest is the first, the third's is the fourth, which has no relative
    assert nearest_neighbour_accuracy(away([0, 1, 3, 3.5]), list("aaab"), permutations=9).value == pytest.approx(2 / 3)
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):  # the one in the middle is as near to a relative as to a stranger
        places, families = np.array([0.0, 1.0, 2.0])[order], np.array(list("aab"))[order]
        found = nearest_neighbour_accuracy(away(list(places)), list(families), permutations=9)
        assert found.value == pytest.approx((1 + 0.5) / 2)


@pytest.mark.parametrize("families", ["abcdef", "aaaaaa"])
def test_families_of_one_member_and_a_single_family_have_nothing_to_find(families):
    for measure in (family_agreement, nearest_neighbour_accuracy):
        assert np.isnan(measure(TWO_GROUPS, list(families), permutations=9).value)
