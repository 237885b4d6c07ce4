"""The first-order bias against simulations, and the rule for the number of points."""

import math

import numpy as np
import pytest
import torch

from affscore import AffscoreError, affinity_score
from affscore.transport import first_order_bias
from companion.activations import points_needed
from companion.chapter_03.measurements import bias_and_spread, estimation_sweep


class TestBias:
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
