"""Distances of signatures beside their lengths, the lead of a clustering, and what the distributions show."""

import numpy as np
import pandas as pd
import pytest
from drawn import words
from dtaidistance import dtw
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgba

from affscore.comparison import distance_matrix
from companion.chapter_08 import length_distances, per_step, score_distributions
from companion.clustering import family_agreement, family_lead
from companion.style import family_styles

scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(scores, scores)
def test_the_distance_per_step_is_at_least_the_root_mean_square_of_the_alignment(one, other):
    signatures = {"a": one, "b": other}
    found = per_step(distance_matrix(signatures), signatures).loc["a", "b"]
    path = dtw.warping_path(np.array(one), np.array(other))
    mean_square = np.mean([(one[i] - other[j]) ** 2 for i, j in path])
    assert np.sqrt(mean_square) - 1e-9 <= found <= 1 + 1e-9


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_distance_of_constant_signatures_is_a_matter_of_length_and_per_step_it_is_not(k, m):
    signatures = {"a": [0.5] * k, "b": [0.75] * m}
    distances = distance_matrix(signatures)
    assert distances.loc["a", "b"] == pytest.approx(0.25 * max(k, m) ** 0.5)
    assert per_step(distances, signatures).loc["a", "b"] == pytest.approx(0.25)
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


def test_distributions_show_every_score_and_a_density_where_there_are_many():
    generator = np.random.default_rng(0)
    lengths = {"alexnet": 7, "resnet18": 17, "vit_b_16": 12, "swin_t": 3, "mine": 4}
    signatures = {name: generator.uniform(0.3, 1, length) for name, length in lengths.items()} | {"flat": [0.5] * 19}
    families = ["Pure convnets", "ResNets", "ViTs", "Swins", "mine", "mine"]
    axes = score_distributions(signatures, families).axes[0]
    assert words(axes.get_xticklabels()) == list(signatures)
    styles = family_styles(families)
    points = [scatter for scatter in axes.collections if scatter.get_offsets().size and len(scatter.get_sizes())]
    for place, (scatter, values, family) in enumerate(zip(points, signatures.values(), families, strict=True)):
        np.testing.assert_array_equal(scatter.get_offsets()[:, 1], values)
        assert np.abs(scatter.get_offsets()[:, 0] - place).max() < 0.4
        assert tuple(scatter.get_facecolor()[0]) == to_rgba(styles[family][0])
    assert len(axes.collections) == len(points) + 1  # fewer than 15 scores have no density, nor equal ones
    assert axes.get_ylim()[0] > 0.2  # the smallest is 0.3
