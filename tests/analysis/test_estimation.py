"""Estimation: the limit against simulations, the bias against theory, the reductions against each other."""

import math

import numpy as np
import pytest
import torch

from affscore import AffscoreError, affinity_score
from affscore.analysis import (
    bias_and_spread,
    estimation_sweep,
    first_order_bias,
    heavy_tailed_sample,
    limit_score,
    paired_limit,
    points_needed,
    power_law_correlation,
    printed_table,
    reduction_scores,
)
from affscore.analysis.activation_domain import ACTIVATIONS


class TestReductions:
    def test_figure_7_top_left(self):
        scores = reduction_scores(points=500, channels=100, positions=4)
        printed = printed_table("figure7_activation_scores")["reduced_mean"]
        for reduction in ("mean", "sum", "flatten"):
            assert (scores[reduction] - printed).abs().max() < 0.02
        np.testing.assert_allclose(scores["mean"], scores["sum"], atol=1e-9)

    def test_reduce_first_is_the_limit_of_a_narrow_input(self):
        scores = reduction_scores(["tanh", "silu"], points=300, channels=100, positions=9)
        for name in ("tanh", "silu"):
            expected = limit_score(ACTIVATIONS[name], 0.0, 1 / 3)
            assert scores.loc[name, "reduce_first"] == pytest.approx(expected, abs=0.01)

    def test_equal_positions_are_one_position(self):
        scores = reduction_scores(["relu"], points=200, channels=60, positions=3, shared=1.0).loc["relu"]
        assert scores["mean"] == pytest.approx(scores["reduce_first"], abs=1e-9)

    def test_correlated_positions_look_more_affine_on_average(self):
        scores = reduction_scores(["relu"], points=300, channels=60, positions=9, shared=0.3).loc["relu"]
        assert scores["mean"] > scores["reduce_first"] + 0.05

    @pytest.mark.parametrize("shared", [-0.1, 1.1, float("nan")])
    def test_bad_correlation(self, shared):
        with pytest.raises(AffscoreError, match=r"\[0, 1\]"):
            reduction_scores(["relu"], shared=shared)


class TestPairedLimit:
    @pytest.mark.parametrize("name", ["relu", "tanh", "silu", "sigmoid"])
    def test_identity_is_the_closed_form(self, name):
        assert paired_limit(ACTIVATIONS[name], np.eye(3)) == pytest.approx(limit_score(ACTIVATIONS[name]), abs=1e-6)

    @pytest.mark.parametrize("name", ["relu", "gelu", "sigmoid"])
    @pytest.mark.parametrize("exponent", [0.5, 1.5])
    def test_large_samples_tend_to_it(self, name, exponent):
        width, n = 24, 3000
        correlation = power_law_correlation(width, exponent)
        rng = np.random.default_rng(2)
        x = torch.from_numpy(rng.standard_normal((n, width)) @ np.linalg.cholesky(correlation).T)
        score = affinity_score(x, ACTIVATIONS[name](x), "empirical")
        if score.pairing_optimal:
            assert score.raw == pytest.approx(paired_limit(ACTIVATIONS[name], correlation), abs=0.01)
        else:
            assert score.raw > paired_limit(ACTIVATIONS[name], correlation) - 0.01

    def test_an_affine_function_scores_one(self):
        assert paired_limit(lambda x: 3 * x - 1, power_law_correlation(5, 1.0)) == pytest.approx(1, abs=1e-5)

    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            (np.ones((2, 2)), "positive definite"),
            (2 * np.eye(2), "ones on the diagonal"),
            (np.array([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
            (np.ones(3), "symmetric"),
        ],
    )
    def test_bad_matrix(self, matrix, message):
        with pytest.raises(AffscoreError, match=message):
            paired_limit(torch.relu, matrix)

    def test_a_constant_has_no_limit(self):
        with pytest.raises(AffscoreError, match="constant"):
            paired_limit(torch.zeros_like, np.eye(2))


class TestPowerLaw:
    @pytest.mark.parametrize("exponent", [0.0, 0.5, 1.5])
    def test_is_a_correlation_matrix(self, exponent):
        matrix = power_law_correlation(30, exponent)
        np.testing.assert_array_equal(np.diag(matrix), 1)
        np.testing.assert_array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix)[0] > 0

    def test_the_spectrum_decays_as_told(self):
        values = np.linalg.eigvalsh(power_law_correlation(200, 1.0))[::-1]
        slope = np.polyfit(np.log(np.arange(2, 101)), np.log(values[1:100]), 1)[0]
        assert slope == pytest.approx(-1, abs=0.15)

    def test_negative_exponent(self):
        with pytest.raises(AffscoreError, match="at least 0"):
            power_law_correlation(3, -1)


class TestSweep:
    def test_figure_7_with_shrinkage(self):
        table = estimation_sweep(list(ACTIVATIONS), [100], [1000], ["ledoit-wolf"]).set_index("activation")
        printed = printed_table("figure7_activation_scores")["shrinkage"]
        assert (table["score"] - printed).abs().max() < 0.02

    def test_drift_without_shrinkage(self):
        table = estimation_sweep(["relu"], [50, 100, 200, 400], [100])
        empirical, shrunk = (table[table["covariance"] == name]["score"] for name in ("empirical", "ledoit-wolf"))
        assert (np.diff(empirical) > 0.03).all()
        assert np.ptp(shrunk) < 0.03

    def test_samples_are_shared_and_repeats_are_not(self):
        table = estimation_sweep(["relu", "leaky_relu"], [20], [40], repeats=2)
        alone = estimation_sweep(["relu"], [20], [40], repeats=2)
        assert table[table["activation"] == "relu"]["raw"].tolist() == alone["raw"].tolist()
        assert alone[alone["covariance"] == "empirical"]["raw"].nunique() == 2

    def test_columns(self):
        row = estimation_sweep(["relu"], [20], [40], ["empirical"], exponents=[1.0]).iloc[0]
        assert row["ratio"] == 2
        assert row["error"] == pytest.approx(row["raw"] - row["limit"])
        assert row["limit"] == pytest.approx(paired_limit(torch.relu, power_law_correlation(20, 1.0)))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"widths": []}, "at least one of widths"),
            ({"points": []}, "at least one of points"),
            ({"covariances": []}, "at least one of covariances"),
            ({"covariances": ["shrunk"]}, "covariance must be"),
            ({"repeats": 0}, "at least one repeat"),
            ({"activations": ["rely"]}, "no activation"),
        ],
    )
    def test_bad_input(self, change, message):
        with pytest.raises(AffscoreError, match=message):
            estimation_sweep(**{"activations": ["relu"], "widths": [4], "points": [8], **change})


class TestBias:
    def test_bias_and_spread_are_mean_and_deviation(self):
        table = estimation_sweep(["relu"], [30], [60], repeats=5)
        row = bias_and_spread(table).set_index("covariance").loc["empirical"]
        errors = table[table["covariance"] == "empirical"]["error"]
        assert row["bias"] == pytest.approx(errors.mean())
        assert row["spread"] == pytest.approx(errors.std())
        assert row["standard_error"] == pytest.approx(errors.std() / math.sqrt(5))

    @pytest.mark.parametrize("correlation", [0.75, 0.85, 0.95])
    def test_first_order_for_jointly_normal_pairs(self, correlation):
        d, n, rng = 100, 800, np.random.default_rng(7)
        errors = []
        for _ in range(4):
            x, e = rng.standard_normal((2, n, d))
            y = correlation * x + math.sqrt(1 - correlation**2) * e
            errors.append(affinity_score(x, y, "empirical").raw - (1 - math.sqrt(1 - correlation)))
        assert np.mean(errors) == pytest.approx(first_order_bias(correlation, n / d), rel=0.2)

    def test_worst_case(self):
        grid = np.linspace(0, 1, 2001)
        worst = max(first_order_bias(c, 1.0) for c in grid)
        assert points_needed(1000, 0.01) == math.ceil(1000 * worst / 0.01)
        assert worst < 0.083

    def test_points_needed_keeps_its_promise(self):
        n = points_needed(60, 0.02, torch.relu)
        table = estimation_sweep(["relu"], [60], [n], ["empirical"], repeats=6)
        assert bias_and_spread(table)["bias"].item() == pytest.approx(0.02, rel=0.3)

    def test_an_affine_activation_needs_none(self):
        assert points_needed(500, 0.01, lambda x: 2 * x) <= 3

    @pytest.mark.parametrize(("correlation", "ratio"), [(-0.1, 1), (1.1, 1), (0.5, 0)])
    def test_bad_numbers(self, correlation, ratio):
        with pytest.raises(AffscoreError, match="expected a correlation"):
            first_order_bias(correlation, ratio)

    @pytest.mark.parametrize(("width", "tolerance"), [(0, 0.1), (10, 0.0)])
    def test_bad_layer(self, width, tolerance):
        with pytest.raises(AffscoreError, match="above 0"):
            points_needed(width, tolerance)


class TestHeavyTails:
    def test_shrinkage_breaks_the_bound_and_the_empirical_covariance_does_not(self):
        x = heavy_tailed_sample()
        y = torch.nn.functional.relu6(x)
        shrunk = affinity_score(x, y, "ledoit-wolf")
        assert shrunk.raw < -0.2
        assert shrunk.bound_exceeded
        assert shrunk.value == 0

    def test_the_empirical_bound_holds(self):
        x = heavy_tailed_sample(128, 256, large=40)
        assert 0 < affinity_score(x, torch.nn.functional.relu6(x), "empirical").raw < 1

    def test_normal_rows(self):
        x = heavy_tailed_sample(2000, 4, degrees=math.inf, large=2)
        np.testing.assert_allclose(x.std(dim=0), [1, 1, 1e-3, 1e-3], rtol=0.1)
