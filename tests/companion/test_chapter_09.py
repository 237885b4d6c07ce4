"""Correlations of criteria by family and by sign, intervals that hold for all networks, and the dots that show them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from affscore import affinity_score
from companion.chapter_09.coverage import coverage
from companion.chapter_09.decomposition import decomposition, rows_of_network
from companion.chapter_09.measurements import simultaneous_intervals, strength_counts
from companion.regression import fisher_interval


def table(activations=100, **columns):
    return pd.DataFrame([
        {"model": f"n{place}", "criterion": name, "activations": activations, "correlation": r}
        for name, values in columns.items()
        for place, r in enumerate(values)
    ])  # fmt: skip


def test_the_level_is_shared_by_the_networks_of_a_criterion():
    found = simultaneous_intervals(table(cka=[0.3, np.nan, 0.5], norm=[0.3]))
    assert len(found) == 3  # what has no correlation has no interval
    ends = found.set_index(["criterion", "model"])[["low", "high"]]
    assert tuple(ends.loc[("cka", "n0")]) == pytest.approx(fisher_interval(0.3, 100, 0.975))
    assert tuple(ends.loc[("norm", "n0")]) == pytest.approx(fisher_interval(0.3, 100, 0.95))


def test_a_criterion_that_is_strong_everywhere_is_not_refuted_by_its_weakest_network():
    """With 0.8 in each of 36 networks the smallest correlation is mostly below 0.5; its interval is not."""
    generator = np.random.default_rng(1)
    z = np.arctanh(0.8) + generator.normal(size=(20, 36)) / (10 - 3) ** 0.5
    below = [np.tanh(row).min() < 0.5 for row in z]
    refuted = [strength_counts(table(activations=10, cka=np.tanh(row))).loc["cka", "weak"] > 0 for row in z]
    assert np.mean(below) > 0.5
    assert np.mean(refuted) < 0.15


def test_a_criterion_that_runs_against_the_score_is_counted_in_its_direction():
    counts = strength_counts(table(norm=[-0.9, -0.9, -0.1], cka=[0.9, 0.9, 0.9]))
    assert counts.loc["norm", ["networks", "strong", "weak", "undecided"]].tolist() == [3, 2, 1, 0]
    assert counts.loc["cka", ["strong", "weak"]].tolist() == [3, 0]


def test_the_interval_covers_less_where_channels_hardly_fire():
    assert coverage(norm(-3), 128, repeats=100) < 0.7 < 0.88 < coverage(norm(), 128, repeats=100) < 1


def test_the_decomposition_of_many_samples_looks_for_no_pairing():
    x = np.random.default_rng(0).standard_normal((2049, 2))
    many, fewer = (decomposition(cloud, np.maximum(cloud, 0)) for cloud in (x, x[:2048]))
    assert np.isnan([many["score"], fewer["score"]]).tolist() == [True, False]
    assert many["paired"] == affinity_score(x, np.maximum(x, 0), coupling="paired").value


def test_the_first_128_samples_are_decomposed_by_themselves_where_there_are_more():
    rows = {images: rows_of_network("mini:digitsnet", "digits", images)["n"] for images in (64, 160)}
    found = {images: numbers.value_counts().to_dict() for images, numbers in rows.items()}
    assert found == {64: {64: 27}, 160: {128: 9, 160: 27}}
