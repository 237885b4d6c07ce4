"""Estimating the score: bias, spread and sizes against the limit, printed values and simulation; and their figures."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import legend_entries, titles, words

from affscore import AffscoreError
from affscore.options import Specification
from affscore.transport import first_order_bias
from companion.activations import ACTIVATIONS, paired_limit, points_needed
from companion.chapter_03.figures import bias_against_points
from companion.chapter_03.measurements import effects_of_size, estimation_sweep, power_law_correlation, reduction_scores
from companion.printed import printed_table
from companion.studies import under

COVARIANCES = ("empirical", "ledoit-wolf")


class TestSweep:
    def test_figure_7_with_shrinkage(self):
        table = estimation_sweep(list(ACTIVATIONS), [100], [1000], ["ledoit-wolf"]).set_index("activation")
        printed = printed_table("figure7_activation_scores")["shrinkage"]
        assert (table["score"] - printed).abs().max() < 0.02

    def test_samples_are_shared_and_repeats_are_not(self):
        table = estimation_sweep(["relu", "leaky_relu"], [20], [40], exponents=[1.0], repeats=5)
        alone = estimation_sweep(["relu"], [20], [40], exponents=[1.0], repeats=5)
        pd.testing.assert_frame_equal(table[table["activation"] == "relu"].reset_index(drop=True), alone)
        empirical = alone[alone["covariance"] == "empirical"]
        assert empirical["raw"].nunique() == 5
        assert (empirical["ratio"] == 2).all()
        assert empirical["limit"].tolist() == pytest.approx(
            [paired_limit(torch.relu, power_law_correlation(20, 1.0))] * 5
        )


class TestPointsNeeded:
    def test_the_worst_case_an_affine_function_and_the_promise(self):
        worst = max(first_order_bias(c, 1.0) for c in np.linspace(0, 1, 2001))
        assert points_needed(1000, 0.01) == math.ceil(1000 * worst / 0.01)
        assert worst < 0.083
        assert points_needed(500, 0.01, lambda x: 2 * x) <= 3
        table = estimation_sweep(["relu"], [60], [points_needed(60, 0.02, torch.relu)], ["empirical"], repeats=6)
        assert table["error"].mean() == pytest.approx(0.02, rel=0.3)


class TestReductions:
    def test_figure_7_top_left(self):
        scores = reduction_scores(points=500, channels=100, positions=4)
        printed = printed_table("figure7_activation_scores")["reduced_mean"]
        for reduction in ("mean", "sum", "flatten"):
            assert (scores[reduction] - printed).abs().max() < 0.02
        np.testing.assert_allclose(scores["mean"], scores["sum"], atol=1e-9)


def study(bias=0.0, sizes=(64, 256), bias_free=True, batches=4):
    """Scores of known limits that are too high by bias / n, and by none where they are extrapolated."""
    limits = {("a", 0): 0.5, ("a", 1): 0.7, ("b", 0): 0.4}
    choices = [Specification(), *([Specification(bias="extrapolated")] if bias_free else [])]
    return pd.DataFrame([
        {"model": model, "index": index, "n": n, "batches": batches, **choice._asdict(),
         "score": limit + bias / n * (choice.bias == "none"), "score_std": 0.08 / n**0.5, "mean_std": 0.01}
        for (model, index), limit in limits.items() for n in sizes for choice in choices
    ])  # fmt: skip


def test_effects_of_the_size_and_of_the_images():
    rows = [under(study(bias=1.28, sizes=(256, 64, 128))), under(study(bias=100, sizes=(1024,), batches=1))]
    found = effects_of_size(pd.concat(rows))  # a size of one batch does not count
    assert found.index.tolist() == ["a", "b"]
    np.testing.assert_allclose(found["chance_of_few"], 0.01)
    np.testing.assert_allclose(found["chance_of_many"], 0.005)
    np.testing.assert_allclose(found["change"], 1.28 / 64 - 1.28 / 256)
    np.testing.assert_allclose(found["within"], [0.2 / 2**0.5, np.nan])
    with pytest.raises(AffscoreError, match="two batch sizes"):
        effects_of_size(study(sizes=(64,), bias_free=False))


def test_the_figure_of_the_bias_has_curves_bars_and_theory():
    rows = [
        ("relu", exponent, 64, covariance, ratio, 0.1 / ratio, 0.01 / ratio)
        for exponent in (0.0, 1.5) for covariance in COVARIANCES for ratio in (0.25, 1.0, 4.0)
    ]  # fmt: skip
    columns = ["activation", "exponent", "width", "covariance", "ratio", "bias", "spread"]
    biases = pd.DataFrame(rows, columns=columns)
    figure = bias_against_points(biases, pd.Series({0.25: 0.2, 4.0: 0.01}), tolerance=0.02)
    assert titles(figure) == ["independent channels", "steep spectrum, $k^{-1.5}$"]
    for axes in figure.axes:
        assert len(axes.containers) == 2
        for container in axes.containers:
            line, _, (bars,) = container.lines
            np.testing.assert_allclose(line.get_xydata(), [[0.25, 0.4], [1, 0.1], [4, 0.025]])
            lengths = [float(np.ptp(segment[:, 1].astype(float))) for segment in bars.get_segments()]
            np.testing.assert_allclose(lengths, [0.08, 0.02, 0.005])
        theory = next(line for line in axes.lines if "first order" in str(line.get_label()))
        np.testing.assert_allclose(theory.get_xydata(), [[0.25, 0.2], [4, 0.01]])
        assert words(axes.get_xticklabels()) == ["1/4", "1", "4"]
    bare = bias_against_points(biases, tolerance=None)
    assert legend_entries(bare) == ["empirical covariance", "Ledoit-Wolf shrinkage"]
