import numpy as np
import pandas as pd
import pytest

from affscore import signature
from affscore.comparison import signature_distance
from companion.chapter_12.measurements import data_deviations, deviations
from companion.studies import study_of


def study(scores, n=512, batches=1, stds=None, model="net"):
    """Rows of a network: scores by data set, and the standard deviations of those of the first."""
    rows = [
        (model, data, n, batches, index, score, stds[index] if stds else np.nan)
        for data, some in scores.items()
        for index, score in enumerate(some)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "n", "batches", "index", "score", "score_std"])


def test_distances_are_those_of_the_signatures():
    measured = [signature("mini:alexnet", data, n=64, images=64, criteria=False) for data in ("digits", "random")]
    (found,) = data_deviations(study_of(measured)).itertuples()
    here, there = (one.scores for one in measured)
    assert found.euclidean == pytest.approx(deviations({"a": here}, {"a": there})["a"])
    assert found.dtw == pytest.approx(signature_distance(here, there))
    assert found.mean_change == pytest.approx(there.mean() - here.mean())
    assert (found.dataset, found.activations, found.lost) == ("random", 7, 0)
    assert found.dtw <= found.euclidean * (1 + 1e-9)
    assert np.isnan(found.chance)


def test_the_first_data_set_is_that_of_reference():
    scores = {"a": [0.5, 0.5], "b": [0.5, 0.8], "c": [0.9, 0.5]}
    found = data_deviations(study(scores)).set_index("dataset")["euclidean"]
    assert found.to_dict() == pytest.approx({"b": 0.3, "c": 0.4})
    turned = data_deviations(study({"b": scores["b"], "a": scores["a"]}))
    assert turned["dataset"].tolist() == ["a"]
    assert turned["mean_change"].tolist() == pytest.approx([-0.15])


def test_chance_is_the_distance_of_two_means_of_independent_batches():
    """Against a simulation: scores that vary by a known deviation, measured in four batches each."""
    generator = np.random.default_rng(0)
    spread, batches = np.array([0.02, 0.05, 0.01]), 4
    drawn = generator.normal(0.5, spread, (2000, 2, batches, 3))
    distances = np.linalg.norm(np.subtract(*drawn.mean(axis=2).swapaxes(0, 1)), axis=1)
    rows = study({"a": [0.5] * 3}, batches=batches, stds=list(spread))
    chance = data_deviations(pd.concat([rows, study({"b": [0.6] * 3})]))["chance"].item()
    assert chance == pytest.approx(np.sqrt((distances**2).mean()), rel=0.05)


def test_batches_of_half_the_size_say_what_chance_makes_of_the_whole():
    whole = study({"a": [0.5, 0.5], "b": [0.7, 0.5]})
    halves = study({"a": [0.9, 0.9]}, n=256, batches=2, stds=[0.03, 0.04])
    (found,) = data_deviations(pd.concat([whole, halves])).itertuples()
    assert found.euclidean == pytest.approx(0.2)  # of the largest n
    assert found.chance == pytest.approx(0.05)


def test_of_several_sizes_the_largest_says_what_chance_makes():
    whole = study({"a": [0.5], "b": [0.7]}, n=1024)
    sizes = [study({"a": [0.9]}, n=n, batches=batches, stds=[0.03]) for n, batches in ((512, 2), (256, 4))]
    (found,) = data_deviations(pd.concat([whole, *sizes])).itertuples()
    assert found.chance == pytest.approx(0.03)


def test_activations_without_a_score_are_left_out_and_counted():
    (found,) = data_deviations(study({"a": [0.5, np.nan, 0.5], "b": [0.8, 0.1, np.nan]})).itertuples()
    assert (found.activations, found.lost, found.euclidean) == (1, 2, pytest.approx(0.3))
    (found,) = data_deviations(study({"a": [np.nan], "b": [0.8]})).itertuples()
    assert found.lost == 1
    assert np.isnan([found.euclidean, found.dtw, found.mean_change]).all()


def test_each_network_is_compared_with_itself_and_one_without_the_reference_left_out():
    rows = [study({"a": [0.5], "b": [0.6]}), study({"a": [0.1] * 9, "b": [0.3] * 9}, model="deep")]
    found = data_deviations(pd.concat([*rows, study({"b": [0.6]}, model="other")])).set_index("model")["euclidean"]
    assert found.to_dict() == pytest.approx({"net": 0.1, "deep": 0.6})
