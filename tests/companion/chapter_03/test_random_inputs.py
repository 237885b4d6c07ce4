"""Random inputs: spectra that decay as told, and tails that break the bound of shrinkage."""

import math

import numpy as np
import pytest
import torch

from affscore import affinity_score
from companion.chapter_03.measurements import heavy_tailed_sample, power_law_correlation


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
