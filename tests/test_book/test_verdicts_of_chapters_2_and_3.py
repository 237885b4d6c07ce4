"""What chapters 2 and 3 conclude from the sweeps that come with the package, where it could have come out otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch.nn.functional as F
from scipy.stats import norm

from affscore import affinity_score, papers, signature, transport
from affscore.experiments import MEANS, bias_and_spread, estimation_sweep, heavy_tailed_sample, limit_score, sweep
from affscore.experiments.sweeps import QUARTER
from affscore.survey.shipped import trained_networks
from affscore.survey.studies import load_study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def domain() -> pd.DataFrame:
    return sweep("domain").query("draw == 0")


# chapter 2


def test_nearly_all_scores_are_the_limit_and_the_others_have_three_reasons(domain: pd.DataFrame) -> None:
    varies = domain[~domain["constant"] & (domain["limit"] > 0)]
    falls = domain[~domain["constant"] & (domain["limit"] == 0)]
    apart = varies["limit"] - varies["score"]
    assert (apart.abs() < 0.01).mean() > 0.9
    assert falls["score"].between(0, 0.1).all()
    assert falls.groupby("activation").size().idxmax() == "silu"
    assert domain.loc[domain["constant"], "score"].eq(1).all()
    assert 0.2 < domain["constant"].mean() < 0.4
    assert not domain["bound_exceeded"].any()
    at_the_edge = varies[apart > 0.5]
    assert set(at_the_edge["activation"]) == {"tanh"}
    assert at_the_edge["mean"].abs().min() > 17


def test_a_relu_that_is_rarely_active(domain: pd.DataFrame) -> None:
    rows = domain[(domain["activation"] == "relu") & (domain["mean"] == MEANS[9])].set_index("std")
    assert rows.loc[0.25, "score"] < 0.005
    assert rows.loc[0.1, "constant"]


def test_without_the_falling_branch_smooth_activations_bend_as_little_as_relu(domain: pd.DataFrame) -> None:
    rising = domain[domain["limit"] > 0].groupby("activation")["score"].mean()
    assert np.ptp(rising[["relu", "gelu", "silu", "hardswish"]]) < 0.06


def test_a_relu_of_a_trained_network_scores_low_where_it_is_rarely_active() -> None:
    found = pd.concat(result.summary for result in trained_networks(reduction="sample").values())
    normal = [limit_score(F.relu, norm.isf(zeros)) for zeros in found["sparsity_after"]]
    above = found["score"] - normal
    assert len(found) == 383
    assert found["score"].corr(found["sparsity_after"], "spearman") < -0.75
    assert (above.abs() < 0.1).mean() > 0.65
    assert above.mean() > 0.03


# chapter 3


def test_in_narrow_layers_the_choices_matter_more_than_the_number_of_images() -> None:
    study = load_study("batch-size-cifar").query("n in (128, 1024, 512) and model.str.endswith('56')")
    way = ["model", "reduction", "order", "covariance", "coupling"]
    means = study.groupby([*way, "n"])["score"].mean().unstack()
    exact = means.xs("ledoit-wolf", level="covariance").xs("exact", level="coupling")
    assert (exact[128] - exact[1024]).abs().max() < 0.02
    assert exact[512].groupby("model").agg(np.ptp).max() > 0.08


def test_figure_7_is_met_but_for_the_curve_whose_place_is_not_printed() -> None:
    printed = papers.printed_table("figure7_activation_scores")
    reduced = sweep("reductions").query("draw == 0").set_index("activation")[["mean", "sum", "flatten"]]
    assert np.ptp(reduced, axis=1).max() < 0.002
    assert reduced.sub(printed["reduced_mean"], axis=0).abs().max(axis=None) < 0.01
    full = sweep("shrinkage").query("repeat == 0").pivot_table(index="activation", columns="width", values="score")
    assert full.sub(printed["shrinkage"], axis=0).abs().max(axis=None) < 0.01
    drift = sweep("drift").query("repeat == 0 and covariance == 'empirical'")
    curves = drift.pivot_table(index="activation", columns="width", values="score")
    for name, curve in curves.iterrows():
        assert 1.5 < np.interp(printed.loc[name, "empirical"], curve, curves.columns / QUARTER) < 2.05
    assert (curves.mean(axis=1) - printed["empirical"]).between(0, 0.01).all()


def test_shrinkage_removes_the_bias_of_independent_coordinates_and_adds_to_that_of_a_steep_spectrum() -> None:
    scores = estimation_sweep(["relu"], [128], [64, 128, 256], exponents=(0.0, 0.5, 1.5), repeats=4)
    summary = bias_and_spread(scores)
    bias = summary.pivot_table(index="ratio", columns=["covariance", "exponent"], values="bias")
    plain, shrunk = bias["empirical"], bias["ledoit-wolf"]
    assert (plain > 0.03).all(axis=None)
    assert plain[1.5].div(plain[0.0]).between(0.65, 1.1).all()
    assert shrunk[0.0].abs().max() < 0.02
    assert (shrunk[1.5] / plain[1.5]).loc[1:].min() > 1.2
    assert 0.3 < shrunk.loc[1, 0.5] / plain.loc[1, 0.5] < 0.6
    assert summary["paired"].eq(1).all()


def test_the_rule_by_the_effective_width_is_nearer_than_by_the_width() -> None:
    few, many = (
        signature("mini:convnext_tiny", "digits", n=n, images=512, covariance="empirical", criteria=False)
        for n in (64, 512)
    )
    observed = (few.summary["raw"] - many.summary["raw"]).mean()
    pairs = zip(few.summary["raw"], few.summary["width"], strict=True)
    assert np.mean([transport.expected_bias(raw, 64 / width) for raw, width in pairs]) > 2.5 * observed
    assert -0.01 < few.expected_bias.mean() - observed < 0.04


def test_where_shrinkage_misleads() -> None:
    x = heavy_tailed_sample(256, 1024, large=100)
    broken = affinity_score(x, F.relu6(x), "ledoit-wolf")
    assert broken.raw < -0.3
    assert broken.bound_exceeded
    assert affinity_score(x, F.relu6(x), "empirical").raw > 0
    rng = np.random.default_rng(0)
    x, stretch = rng.standard_normal((2048, 128)), np.exp(0.1 * rng.standard_normal(128))
    assert affinity_score(x, x * stretch, "ledoit-wolf").value < 0.97
    assert affinity_score(x, x * stretch, "empirical").value > 0.999
