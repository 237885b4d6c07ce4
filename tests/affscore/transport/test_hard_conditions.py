"""Whatever the clouds are like: a score in [0, 1] or a sentence, never NaN."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from affscore import AffscoreError, affinity_score
from affscore.network import debiased_cka, entropy, linear_cka, norm, r2
from affscore.transport.samples import centre, rounding_of

FUNCTIONS = {
    "relu": torch.relu,
    "relu6": torch.nn.functional.relu6,
    "gelu": torch.nn.functional.gelu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "hardswish": torch.nn.functional.hardswish,
    "square": torch.square,
    "negative": torch.neg,
    "constant": torch.zeros_like,
    "step": lambda x: (x > 0).to(x.dtype),
}
TYPES = {"float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


@st.composite
def hard_pairs(draw):
    """X with one difficulty or several, and Y = s(X)."""
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.standard_normal((n, d))
    if draw(st.booleans()):
        x *= np.abs(rng.standard_t(1, size=(n, 1)))  # heavy tails
    if draw(st.booleans()):
        x[:, rng.random(d) < 0.5] = draw(st.sampled_from([0.0, 1.0, -7.5, 1e4]))  # constant channels
    if draw(st.booleans()):
        x = x[:, rng.integers(0, d, d)]  # duplicated channels
    if draw(st.booleans()):
        x = x[rng.integers(0, n, n)]  # duplicated samples
    if draw(st.booleans()):
        x = np.outer(x[:, 0], x[0])  # rank 1
    if draw(st.booleans()):
        x *= 10.0 ** rng.uniform(-12, 2, d)  # channels of very different size
    x += draw(st.sampled_from([0.0, 0.0, 1.0, -20.0, 1e3]))
    x *= draw(st.sampled_from([1.0, 1.0, 1e-20, 1e20, 1e-6, 1e6]))
    dtype = TYPES[draw(st.sampled_from(sorted(TYPES)))]
    x = torch.from_numpy(x).clamp(-torch.finfo(dtype).max / 2, torch.finfo(dtype).max / 2).to(dtype)
    return x, FUNCTIONS[draw(st.sampled_from(sorted(FUNCTIONS)))](x)


@pytest.mark.slow
@settings(max_examples=10_000)
@given(hard_pairs(), st.sampled_from(["ledoit-wolf", "empirical"]))
def test_ten_thousand_hard_pairs(pair, covariance):
    x, y = pair
    if not bool(torch.isfinite(y).all()):
        with pytest.raises(AffscoreError, match="must be finite"):
            affinity_score(x, y, covariance)
        return
    if centre(x.double(), rounding_of(x.dtype)).constant and not centre(y.double(), rounding_of(y.dtype)).constant:
        with pytest.raises(AffscoreError, match="x is constant while y varies"):
            affinity_score(x, y, covariance)
        return
    score = affinity_score(x, y, covariance)
    assert 0.0 <= score.value <= 1.0
    assert math.isfinite(score.raw)
    assert score.raw <= 1.0
    assert math.isfinite(score.w2)
    assert score.bound_exceeded == (score.raw < -1e-12)
    if covariance == "empirical":
        assert score.raw >= -1e-7  # Proposition 3.5, part 2


@settings(max_examples=500)
@given(hard_pairs())
@pytest.mark.slow
def test_criteria_of_hard_pairs(pair):
    x, y = pair
    if not bool(torch.isfinite(y).all()):
        return
    assert math.isnan(cka := linear_cka(x, y)) or -1e-9 <= cka <= 1 + 1e-9
    assert math.isnan(unbiased := debiased_cka(x, y)) or math.isfinite(unbiased)
    assert norm(x, y) >= 0
    assert -1e-9 <= r2(x, y) <= 1 + 1e-9
    d = x.shape[1]
    for z in (x, y):
        assert math.log(d) - 1e-9 <= entropy(z) <= 2 * math.log(d) + 1e-9
