import copy
import math

import pytest
import torch

from affscore import affinity_score, signature
from affscore.errors import AffscoreError
from affscore.network import entropy, linear_cka, norm, r2
from affscore.network.criteria import choose_criteria
from affscore.network.scoring import score_pair
from affscore.options import Options
from tests.affscore.network.activations import pair


def row_of(given, covariance="ledoit-wolf", criteria=False):
    return score_pair(given, Options(covariance=covariance, criteria=choose_criteria(criteria)))


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


def test_rounding_is_that_of_the_arithmetic_and_not_of_the_type(x):
    """Averages of half-precision numbers that vary by their rounding only."""
    x, y = x.double(), 20.0 + 1e-6 * x.double().clamp(-1, 1)
    assert row_of(pair(x, y, dtype=torch.float64), "empirical")["flag"] == ""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        assert row_of(pair(x, y, dtype=dtype), "empirical")["flag"] == "constant output"


@pytest.mark.parametrize(("side", "bad"), [("input", torch.nan), ("output", torch.inf)])
def test_what_is_not_finite_is_named_and_counted(x, side, bad):
    broken = x.clone()
    broken[:, 2] = bad
    broken[0, 0] = bad
    given = pair(broken, x) if side == "input" else pair(x, broken)
    message = rf"the {side} of relu of layer 'block.act' \(call 1\) holds 41 NaN or infinite of 240 reduced values"
    with pytest.raises(AffscoreError, match=message):
        row_of(given, criteria=True)


@pytest.mark.parametrize("order", ["activate-first", "reduce-first"])
def test_channels_that_follow_from_others_count_alike_in_every_precision(order):
    """The errors of half precision cancel in a mean over positions, and so does what counts as their size."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(4, 12, 1), torch.nn.ReLU(), torch.nn.Conv2d(12, 40, 1), torch.nn.GELU()
    )
    images = torch.randn(96, 4, 9, 9, dtype=torch.float64) + 2 * torch.randn(96, 4, 1, 1, dtype=torch.float64)
    found = {}
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        options = {"n": 96, "order": order, "covariance": "empirical", "criteria": False, "progress": False}
        one = signature(copy.deepcopy(network).to(dtype), images.to(dtype), **options)
        found[dtype] = one.scores
        assert one.table["flag"].tolist() == ["degenerate input"] * 2
    for dtype, scores in found.items():
        assert scores == pytest.approx(found[torch.float64], abs=1e-6 if dtype == torch.float32 else 1e-3)
