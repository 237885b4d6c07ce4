"""The limits of scores against closed forms and against large samples."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm

from affscore import AffscoreError, affinity_score
from companion.activations import (
    ACTIVATIONS,
    correlation_with_input,
    limit_score,
    normal_quadrature,
    paired_limit,
    run_all,
)
from companion.chapter_03.measurements import power_law_correlation


def score_of(correlation):
    return 1 - math.sqrt(1 - max(correlation, 0))


class TestLimitScore:
    @pytest.mark.parametrize(("mean", "std"), [(0, 1), (1.5, 0.5), (-1, 3)])
    def test_relu(self, mean, std):
        u = mean / std
        first = u * norm.cdf(u) + norm.pdf(u)
        second = (u**2 + 1) * norm.cdf(u) + u * norm.pdf(u)
        expected = score_of(norm.cdf(u) / math.sqrt(second - first**2))
        assert limit_score(torch.relu, mean, std) == pytest.approx(expected, abs=1e-5)

    @pytest.mark.parametrize("std", [0.01, 1.0])
    @pytest.mark.parametrize("mean", [-3.0, 7.0])
    def test_exponential(self, mean, std):
        expected = score_of(std / math.sqrt(math.expm1(std**2)))
        assert limit_score(torch.exp, mean, std) == pytest.approx(expected, abs=1e-6)

    def test_powers(self):
        assert limit_score(lambda x: x**3) == pytest.approx(score_of(3 / math.sqrt(15)), abs=1e-9)
        assert limit_score(torch.square) == pytest.approx(0, abs=1e-4)

    def test_a_falling_function_scores_zero_and_a_constant_one(self):
        assert limit_score(torch.nn.functional.silu, -10, 0.1) == 0
        assert correlation_with_input(torch.nn.functional.silu, -10, 0.1) < -0.99
        assert limit_score(torch.tanh, 25, 0.1) == 1
        assert correlation_with_input(torch.tanh, 25, 0.1) is None

    def test_not_entrywise(self):
        with pytest.raises(AffscoreError, match="entry by entry"):
            limit_score(torch.sum)


class TestPairedLimit:
    @pytest.mark.parametrize("name", ["relu", "silu"])
    def test_identity_is_the_closed_form(self, name):
        assert paired_limit(ACTIVATIONS[name], np.eye(3)) == pytest.approx(limit_score(ACTIVATIONS[name]), abs=1e-6)

    def test_independent_coordinates_of_unequal_variance_add_up(self):
        stds = np.array([0.1, 1.0, 3.0])
        z, weights = normal_quadrature()
        outputs = np.tanh(stds[:, None] * z)
        explained = (outputs @ (weights * z)) @ (outputs**2 @ weights) ** 0.5
        expected = score_of(explained / np.sum(outputs**2 @ weights))
        assert paired_limit(torch.tanh, np.diag(stds**2)) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.slow
    def test_large_samples_of_unequal_correlated_coordinates_tend_to_it(self):
        stds = np.geomspace(0.2, 4.0, 16)
        covariance = power_law_correlation(16, 1.0) * stds * stds[:, None]
        x = np.random.default_rng(3).standard_normal((4000, 16)) @ np.linalg.cholesky(covariance).T
        score = affinity_score(x, np.tanh(x), "empirical")
        assert score.paired == pytest.approx(paired_limit(torch.tanh, covariance), abs=0.01)

    def test_an_affine_function_scores_one_and_a_constant_has_no_limit(self):
        assert paired_limit(lambda x: 3 * x - 1, power_law_correlation(5, 1.0)) == pytest.approx(1, abs=1e-5)
        with pytest.raises(AffscoreError, match="constant"):
            paired_limit(torch.zeros_like, np.eye(2))


def test_tables_of_several_jobs_are_in_the_order_of_the_tasks():
    table = run_all(lambda *pair: [{"quotient": pair[0] // pair[1]}] * 2, [(9, 2), (5, 3), (1, 1)], 1)
    assert table["quotient"].tolist() == [4, 4, 1, 1, 1, 1]
