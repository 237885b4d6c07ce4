"""Distances by length, and the lead of a clustering."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affscore.comparison import distance_matrix
from companion.chapter_08 import length_distances
from companion.clustering import family_agreement, family_lead


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_distance_of_constant_signatures_is_a_matter_of_length(k, m):
    signatures = {"a": [0.5] * k, "b": [0.75] * m}
    assert distance_matrix(signatures).loc["a", "b"] == pytest.approx(0.25 * max(k, m) ** 0.5)
    assert length_distances(signatures).to_numpy().tolist() == [[0, abs(k - m)], [abs(k - m), 0]]


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
