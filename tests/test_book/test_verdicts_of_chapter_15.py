"""What chapter 15 concludes from random networks, under both covariances and both couplings."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from affscore.experiments import (
    RandomMLP,
    mean_scores,
    mlp_scores,
    networks_of,
    redshift_changes,
    redshift_correlations,
    redshift_networks,
)
from affscore.experiments.redshift import DEPTHS, SIZES

pytestmark = pytest.mark.slow

SPECIFICATIONS = list(itertools.product(("ledoit-wolf", "empirical"), ("exact", "paired")))


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    """The scores of the page's networks, with its default parameters."""
    return mlp_scores(redshift_networks(), n_jobs=2)


@pytest.fixture(scope="module", params=SPECIFICATIONS, ids=", ".join)
def networks(request: pytest.FixtureRequest, scores: pd.DataFrame) -> pd.DataFrame:
    return mean_scores(scores, *request.param)


def test_over_sizes_the_score_follows_the_frequency_and_within_a_size_little_of_it_is_left(
    networks: pd.DataFrame,
) -> None:
    rows = redshift_correlations(networks).set_index(["over", "group"])
    assert (rows.loc["all sizes", "verdict"] == "follows").all()
    assert rows.loc[("all sizes", "Tanh"), "high"] < -0.9
    within = rows.loc["one size"]
    assert within.loc["Tanh", "verdict"] == "undecided"
    assert within["low"].min() > -0.6
    assert within["low"].min() > rows.loc[("all sizes", "Tanh"), "high"]


def test_larger_weights_make_tanh_networks_complex_and_less_affine(networks: pd.DataFrame) -> None:
    cells = [networks_of(networks, cell) for cell in SIZES["Tanh"]]
    frequency, mean = (np.stack([cell[name] for cell in cells], axis=1) for name in ("frequency", "mean"))
    assert (np.diff(mean, axis=1) < 0).all()
    assert (np.diff(np.median(frequency, axis=0)) > 0).all()
    assert redshift_changes(networks).loc["Tanh: weights × 8 instead of × 2", "frequency_low"] > 5


def test_depth_adds_complexity_and_does_not_lower_the_mean_score(networks: pd.DataFrame) -> None:
    changes = redshift_changes(networks)
    relu, tanh = (changes.loc[f"{name}: 12 hidden layers instead of 3"] for name in ("ReLU", "Tanh × 2"))
    assert relu["verdict"] == "contradicts"
    assert relu["score_low"] > 0.05
    assert tanh["frequency_low"] > 2
    assert tanh[["score_low", "score_high"]].abs().max() < 0.01
    for cells in DEPTHS.values():
        totals = np.stack([networks_of(networks, cell)["total"] for cell in cells], axis=1)
        assert (np.diff(totals, axis=1) > 0).all()


def test_a_shift_makes_images_simple_and_their_scores_fall_without_them(networks: pd.DataFrame) -> None:
    changes = redshift_changes(networks)
    shifted = changes.loc["weights × 8: shifted Tanh instead of Tanh"]
    assert shifted["frequency_high"] < 0.3
    assert shifted["verdict"] == "follows"
    halves = changes.loc["shifted Tanh: weights × 8 instead of × 2"]
    assert halves["frequency_high"] < 1.2
    assert halves["score_high"] < -0.03
    deeper = networks_of(networks, SIZES["ReLU, shifted"][0])["mean"]
    assert deeper.min() > networks_of(networks, SIZES["ReLU"][0])["mean"].max()


def test_tanh_networks_score_more_than_relu_networks_at_similar_frequencies(networks: pd.DataFrame) -> None:
    change = redshift_changes(networks).loc["Tanh × 2 instead of ReLU"]
    assert change["score_low"] > 0.03
    assert 0.9 < change["frequency_low"] < change["frequency_high"] < 1.5


def test_biases_make_small_relu_networks_affine_and_vanish_in_large_ones(networks: pd.DataFrame) -> None:
    small, *_, large = (networks_of(networks, cell)[["mean", "frequency"]].mean() for cell in SIZES["ReLU, biases"])
    without = networks_of(networks, SIZES["ReLU"][0])[["mean", "frequency"]].mean()
    assert small["mean"] > large["mean"] + 0.05
    assert small["frequency"] < large["frequency"] - 0.1
    assert (large - without).abs().max() < 0.02


def test_the_coupling_hardly_matters_and_the_covariance_moves_no_verdict_to_its_opposite(scores: pd.DataFrame) -> None:
    paired = scores["score"] - scores["paired"]
    assert paired.min() >= 0
    assert paired.max() < 0.05
    verdicts = pd.DataFrame({
        way: [
            *redshift_correlations(found := mean_scores(scores, *way))["verdict"], *redshift_changes(found)["verdict"]
        ]
        for way in SPECIFICATIONS
    })  # fmt: skip
    assert not any({"follows", "contradicts"} <= set(row) for row in verdicts.to_numpy())
    assert verdicts.ne(verdicts.iloc[:, 0], axis=0).any(axis=1).sum() <= 1


def test_closed_forms_at_both_ends_of_the_depth() -> None:
    deep = {"width": 64, "depth": 10}
    kinds = {
        "small": RandomMLP("tanh", 0.5, **deep),
        "large": RandomMLP("tanh", 64.0, **deep),
        "sign": RandomMLP("sign", **deep),
        "relu": RandomMLP(**deep),
    }
    networks = [mlp._replace(seed=seed) for mlp in kinds.values() for seed in range(4)]
    table = mlp_scores(networks, points=256, covariances=["empirical"])
    table["kind"] = np.repeat(list(kinds), len(table) // len(kinds))
    means = table.pivot_table(index="layer", columns="kind", values="score")
    assert means["small"].iloc[-1] > 0.999
    assert (np.diff(means["large"].iloc[1:]) < 0).all()
    assert means["large"].iloc[-1] == pytest.approx(1 - (1 - (2 / np.pi) ** 0.5) ** 0.5, abs=0.03)
    assert means["sign"].iloc[-1] > means["large"].iloc[-1] + 0.05  # a fan of two sectors a unit, and no more
    assert means["relu"].iloc[0] == pytest.approx(0.666, abs=0.02)
    assert means["relu"].iloc[-1] > 0.9
    assert means["large"].iloc[0] == pytest.approx(0.618, abs=0.03)


def test_the_first_layer_is_degenerate_and_shrinkage_does_not_change_its_score(scores: pd.DataFrame) -> None:
    first = scores[(scores["layer"] == 1) & (scores["bias"] == 0)]
    assert (first["degenerate"] == (first["covariance"] == "empirical")).all()
    both = first.pivot_table(index=list(RandomMLP._fields), columns="covariance", values="score")
    assert (both["empirical"] - both["ledoit-wolf"]).abs().max() < 0.005
