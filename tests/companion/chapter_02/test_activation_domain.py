"""Activation functions over their domain: the sweep against the limit."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from affscore import affinity_score
from companion.activations import ACTIVATIONS, limit_score
from companion.chapter_02.measurements import MEANS, STDS, baseline_scores, domain_summary, domain_sweep


def score_of(correlation):
    return 1 - math.sqrt(1 - max(correlation, 0))


class TestDomainSweep:
    def test_the_setting_of_figure_6(self):
        assert len(ACTIVATIONS) * len(MEANS) * len(STDS) == 1080
        assert (MEANS[0], MEANS[-1]) == (-20, 20)
        assert np.ptp(np.diff(MEANS)) < 1e-12

    def test_scores_are_near_their_limit(self):
        table = domain_sweep(means=[-0.3, 2.0], stds=[1.0, 0.25], points=150, width=400)
        rising = table[table["limit"] > 0.1]
        assert len(rising) > 30
        assert (rising["score"] - rising["limit"]).abs().max() < 0.03

    def test_a_row_is_the_score_of_the_library(self):
        row = domain_sweep(["tanh"], [1.0], [0.5], points=40, width=7, seed=3).iloc[0]
        x = torch.from_numpy(1.0 + 0.5 * np.random.default_rng((3, 0, 0)).standard_normal((40, 7)))
        score = affinity_score(x, torch.tanh(x))
        assert (row["score"], row["raw"]) == (score.value, score.raw)
        assert row["limit"] == limit_score(torch.tanh, 1.0, 0.5)

    def test_order_and_columns(self):
        table = domain_sweep(["tanh", "relu"], [0.0, 2.0], [1.0, 0.5], points=20, width=5)
        assert table["activation"].tolist() == ["tanh"] * 4 + ["relu"] * 4
        assert table["mean"].tolist()[:4] == [0.0, 0.0, 2.0, 2.0]
        assert table["std"].tolist()[:4] == [1.0, 0.5, 1.0, 0.5]
        expected = {
            "activation",
            "mean",
            "std",
            "score",
            "raw",
            "pairing_optimal",
            "bound_exceeded",
            "constant",
            "limit",
        }
        assert set(table.columns) == expected

    @pytest.mark.slow
    def test_the_number_of_jobs_changes_nothing(self):
        options = {"means": [-2.0, 1.0], "stds": [1.0], "points": 30, "width": 10}
        one, two = (domain_sweep(["relu", "silu"], n_jobs=jobs, **options) for jobs in (1, 2))
        pd.testing.assert_frame_equal(one, two, rtol=1e-9, atol=1e-9)

    def test_constant_outputs_are_flagged(self):
        table = domain_sweep(["relu", "tanh"], [-20.0], [0.1], points=30, width=10)
        assert table["constant"].all()
        assert table["score"].eq(1).all()

    def test_own_functions(self):
        table = domain_sweep({"cube": lambda x: x**3}, [0.0], [1.0], points=200, width=200)
        assert table["score"].item() == pytest.approx(score_of(3 / math.sqrt(15)), abs=0.05)


class TestBaselineAndSummary:
    def test_baselines_have_a_closed_form(self):
        baseline = baseline_scores(points=300)
        assert list(baseline.index) == list(ACTIVATIONS)
        assert baseline["relu"] == pytest.approx(score_of(math.sqrt(4 / 5)), abs=0.01)  # a hinge
        assert baseline["tanh"] == pytest.approx(score_of(math.sqrt(3 / 4)), abs=0.04)  # almost a step

    def test_summary(self):
        table = pd.DataFrame(
            {
                "activation": ["a"] * 4 + ["b"] * 4,
                "mean": [0, 0, 1, 1] * 2,
                "std": [1, 2] * 4,
                "score": [0.2, 0.4, 0.9, 1.0, 1.0, 1.0, 1.0, 0.94],
                "constant": [False] * 3 + [True] + [True] * 2 + [False] * 2,
            }
        )
        summary = domain_summary(table, threshold=0.95)
        assert summary.loc["a"].tolist() == pytest.approx([0.2, 0, 1, 1, 2, 0.625, 0.25])
        assert summary.loc["b"].tolist() == pytest.approx([0.94, 1, 2, 0, 1, 0.985, 0.5])
