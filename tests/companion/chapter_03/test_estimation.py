"""The sweep over widths and numbers of points against the printed values, and what is read off it."""

import math

import numpy as np
import pytest
import torch

from companion.activations import ACTIVATIONS, paired_limit
from companion.chapter_03.measurements import bias_and_spread, estimation_sweep, power_law_correlation
from companion.printed import printed_table


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


class TestBias:
    def test_bias_and_spread_are_mean_and_deviation(self):
        table = estimation_sweep(["relu"], [30], [60], repeats=5)
        row = bias_and_spread(table).set_index("covariance").loc["empirical"]
        errors = table[table["covariance"] == "empirical"]["error"]
        assert row["bias"] == pytest.approx(errors.mean())
        assert row["spread"] == pytest.approx(errors.std())
        assert row["standard_error"] == pytest.approx(errors.std() / math.sqrt(5))
