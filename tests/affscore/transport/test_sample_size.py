"""The bias that a score is expected to have, read off the score itself."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore import affinity_score
from affscore.errors import AffscoreError
from affscore.transport import effective_width, expected_bias, first_order_bias, points_needed

LIMIT = 1 - np.sqrt(1 - np.sqrt(np.pi / (2 * (np.pi - 1))))
"""The score of ReLU of many independent normal coordinates."""


@pytest.mark.parametrize(("ratio", "tolerance"), [(0.5, 0.25), (1, 0.25), (2, 0.2), (4, 0.2)])
def test_the_bias_of_relu_at_any_number_of_points(ratio, tolerance):
    width, rng = 100, np.random.default_rng(0)
    raw = []
    for _ in range(4):
        x = rng.standard_normal((int(ratio * width), width))
        raw.append(affinity_score(x, np.maximum(x, 0), "empirical").raw)
    assert expected_bias(np.mean(raw), ratio) == pytest.approx(np.mean(raw) - LIMIT, rel=tolerance)


@given(score=st.floats(0, 1), ratio=st.floats(2, 1e6))
def test_it_undoes_the_bias(score, ratio):
    bias = first_order_bias(1 - (1 - score) ** 2, ratio)
    assert expected_bias(min(score + bias, 1.0), ratio) == pytest.approx(bias, abs=1e-6)


@pytest.mark.parametrize(("width", "tolerance"), [(0, 0.01), (100, 0.0), (100, -0.5)])
def test_a_width_or_a_tolerance_that_is_not_positive_is_refused(width, tolerance):
    with pytest.raises(AffscoreError, match="expected a width and a tolerance above 0"):
        points_needed(width, tolerance)


def test_the_worst_correlation_needs_the_most_points():
    width = 10**6
    assert points_needed(width) == max(points_needed(width, correlation=c) for c in np.linspace(0, 1, 10001))


@pytest.mark.parametrize("covariance", ["empirical", "ledoit-wolf"])
@pytest.mark.parametrize("points", [64, 128])
@pytest.mark.slow
def test_the_bias_of_a_wide_layer_that_varies_in_few_directions(covariance, points):
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((10, 512))
    scores = {}
    for n in (points, 2048):
        x = rng.standard_normal((n, 10)) @ weights
        scores[n] = affinity_score(x, np.maximum(x, 0), covariance)
    few, bias = scores[points], scores[points].raw - scores[2048].raw
    assert 1 / 3 < expected_bias(few.raw, points / few.effective_width) / bias < 3
    assert expected_bias(few.raw, points / few.width) / bias > 4


@given(width=st.integers(1, 400), directions=st.integers(1, 400), samples=st.integers(100, 10**6))
def test_the_effective_width_of_equal_directions(width, directions, samples):
    scatter = torch.zeros(width, dtype=torch.float64)
    scatter[:directions] = 2.0
    found = effective_width(scatter.diag(), samples, width)
    k = min(width, directions)
    true = 4 / (1 / k - 1 / samples) if k < samples else width
    assert found == pytest.approx(min(true, width))
    assert 1 <= found <= width
