"""The bias that a score is expected to have, read off the score itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affscore import affinity_score
from affscore.transport import expected_bias, first_order_bias

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


@given(raw=st.floats(-5, 1), ratio=st.floats(1e-4, 1e6))
def test_it_is_no_larger_than_the_score(raw, ratio):
    assert 0 <= expected_bias(raw, ratio) <= max(raw, 0)


def test_nothing_to_lose():
    assert expected_bias(0.0, 1.0) == expected_bias(-0.3, 1.0) == expected_bias(1.0, 0.1) == 0.0
