import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore import affinity_score
from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.criteria import entropy, linear_cka, norm, r2
from affscore.network.recorder.calls import ActivationCall
from affscore.network.rows import Rows
from affscore.network.scoring import CRITERIA, Choices, choose_criteria, score_pair

CALL = ActivationCall(
    index=4, layer="block.act", call=1, activation="relu", depth=3, kind="hidden", channel_axis=1, image_axis=0,
    positions=4, upstream=None,
)  # fmt: skip


def pair(x, y, parts=1, dtype=torch.float32):
    return Pair(CALL, dtype, torch.relu, Rows(x.chunk(parts)), Rows(y.chunk(parts)), entries=100, sparse=(5, 50))


def row_of(given, covariance="ledoit-wolf", criteria=False):
    return score_pair(given, Choices(covariance, choose_criteria(criteria)))


@pytest.fixture
def x():
    return torch.randn(40, 6, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("covariance", ["ledoit-wolf", "empirical"])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_row_is_the_score_and_the_criteria_of_the_pair(x, covariance, parts):
    row = row_of(pair(x, x.relu(), parts), covariance, criteria=True)
    score = affinity_score(x, x.relu(), covariance)
    assert (row["score"], row["raw"]) == (score.value, score.raw)
    assert (row["pairing_optimal"], row["bound_exceeded"]) == (score.pairing_optimal, score.bound_exceeded)
    y = x.relu()
    assert (row["cka"], row["norm"], row["r2"]) == (linear_cka(x, y), norm(x, y), r2(x, y))
    assert (row["entropy_before"], row["entropy_after"]) == (entropy(x), entropy(y))
    assert (row["sparsity_before"], row["sparsity_after"]) == (0.05, 0.5)
    assert {k: row[k] for k in ("layer", "call", "activation", "kind", "depth", "width", "n", "flag")} == {
        "layer": "block.act", "call": 1, "activation": "relu", "kind": "hidden", "depth": 3, "width": 6, "n": 40,
        "flag": "",
    }  # fmt: skip
    assert row["seconds"] > 0


def test_without_criteria(x):
    columns = {column for columns in CRITERIA.values() for column in columns}
    assert not set(row_of(pair(x, x.relu()))) & columns
    assert set(row_of(pair(x, x.relu()), criteria=["nlc", "entropy"])) & columns == {
        "nlc", "entropy_before", "entropy_after",
    }  # fmt: skip


@pytest.mark.parametrize("wrong", ["ckaa", "", "cka,", "cka r2", ["ckaa"], ["cka", "philipp"], None, 1, [["cka"]]])
def test_an_unknown_criterion_is_refused(wrong):
    with pytest.raises(AffscoreError, match=r"criteria must be True, False, all, or names among cka, norm, .* got "):
        choose_criteria(wrong)


@given(st.lists(st.sampled_from([*CRITERIA, "all"]), min_size=1))
def test_criteria_in_a_text_are_those_of_the_list(names):
    expected = [name for name in CRITERIA if name in names or "all" in names]
    assert [*choose_criteria(names)] == [*choose_criteria(",".join(names))] == [*choose_criteria(", ".join(names))]
    assert [*choose_criteria(set(names))] == expected


def test_a_constant_output_is_affine_and_flagged(x):
    for y in (torch.zeros_like(x), torch.sigmoid(1e-7 * x)):  # exactly, and by rounding only
        row = row_of(pair(x, y), criteria=["cka", "r2", "cka_debiased", "norm"])
        assert (row["score"], row["flag"]) == (1.0, "constant output")
        assert all(math.isnan(row[name]) for name in ("cka", "r2", "cka_debiased"))
        assert row["norm"] == norm(x, y)
    assert row_of(pair(torch.ones_like(x), torch.zeros_like(x)))["score"] == 1.0


def test_a_constant_input_has_no_score_and_is_flagged(x):
    row = row_of(pair(torch.ones_like(x), x), criteria=True)
    assert math.isnan(row["score"])
    assert math.isnan(row["raw"])
    assert row["flag"] == "constant input"
    assert row["r2"] == pytest.approx(0.0, abs=1e-12)


def test_an_input_of_fewer_dimensions_than_the_output_is_flagged(x):
    x = x[:, :1] * torch.tensor([1.0, -1.0])
    assert row_of(pair(x, x.relu()), "empirical")["flag"] == "degenerate input"
    assert row_of(pair(x, x.relu()))["flag"] == ""


def test_what_is_not_elementwise_or_has_no_derivative_has_no_coefficient(x):
    class Opaque(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            return z.relu()

    given = pair(x, x.relu())
    assert row_of(given, criteria=["nlc"])["nlc"] > 1
    per_channel = torch.ones(1, 6, 1, 1)
    for function in (Opaque.apply, lambda z: z.softmax(1), lambda z: z * per_channel, torch.nn.BatchNorm2d(6)):
        given.function = function
        assert math.isnan(row_of(given, criteria=["nlc"])["nlc"])


def test_rounding_is_that_of_the_arithmetic_and_not_of_the_type(x):
    """Averages of half-precision numbers that vary by their rounding only."""
    x, y = x.double(), 20.0 + 1e-6 * x.double().clamp(-1, 1)
    assert row_of(pair(x, y, dtype=torch.float64), "empirical")["flag"] == ""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        assert row_of(pair(x, y, dtype=dtype), "empirical")["flag"] == "constant output"


def test_a_heavy_tail_exceeds_the_bound_and_keeps_its_number():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((256, 1024)) * np.where(np.arange(1024) < 100, 1.0, 1e-3)
    x *= np.abs(rng.standard_t(1, size=(256, 1)))
    row = row_of(pair(torch.tensor(x), torch.tensor(x).clamp(0, 6), dtype=torch.float64))
    assert row["raw"] < -0.2
    assert (row["score"], row["bound_exceeded"]) == (0.0, True)


@pytest.mark.parametrize(("side", "bad"), [("input", torch.nan), ("output", torch.inf)])
def test_what_is_not_finite_is_named_and_counted(x, side, bad):
    broken = x.clone()
    broken[:, 2] = bad
    broken[0, 0] = bad
    given = pair(broken, x) if side == "input" else pair(x, broken)
    message = rf"the {side} of relu of layer 'block.act' \(call 1\) holds 41 NaN or infinite of 240 reduced values"
    with pytest.raises(AffscoreError, match=message):
        row_of(given, criteria=True)


def test_a_single_image_has_no_score(x):
    with pytest.raises(AffscoreError, match=r"relu of layer 'block.act' .*at least 2 samples"):
        row_of(pair(x[:1], x[:1].relu()))
