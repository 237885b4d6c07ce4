"""Directions in which a cloud varies by rounding only: with the empirical covariance no type of numbers matters."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from affscore import affinity_score
from affscore.transport import affine_map, extrapolated_affinity_scores
from affscore.transport.differentiable import differentiable_affinity

UNITS = {torch.float64: 2.0**-52, torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
FUNCTIONS = [torch.relu, torch.nn.functional.gelu, torch.tanh, lambda x: 2 * x + 1]


def layer(rank, n, d, offset=1.0, seed=0, scale=1.0, dtype=torch.float64):
    """What a linear layer makes of ``rank`` channels, in the arithmetic of a type."""
    generator = torch.Generator().manual_seed(seed)
    z, weights = (torch.randn(*s, generator=generator, dtype=torch.float64) for s in ((n, rank), (rank, d)))
    bias = offset * torch.randn(d, generator=generator, dtype=torch.float64)
    weights, bias = weights * scale / rank**0.5, bias * scale
    if dtype in (torch.float64, torch.float32):
        return z.to(dtype) @ weights.to(dtype) + bias.to(dtype)
    return (z @ weights + bias).to(dtype)  # sums in half precision are kept in float32


@st.composite
def layers(draw, offsets=(0.0, 1.0, 3.0), highest=24, least=2, fewest=4):
    """Ranks, sizes, widths, offsets and scales of a layer, and how many samples there are."""
    return {
        "rank": draw(st.integers(1, highest)),
        "n": draw(st.integers(fewest, 150)),
        "d": draw(st.integers(least, 120)),
        "offset": draw(st.sampled_from(offsets)),
        "seed": draw(st.integers(0, 10**6)),
    }


@settings(deadline=None, max_examples=60)
@given(layers(offsets=(0.0, 1.0, 10.0)), st.integers(-60, 60), st.sampled_from(FUNCTIONS))
def test_float32_and_float64_agree(shape, exponent, function):
    exact, rounded = (layer(**shape, scale=2.0**exponent, dtype=dtype) for dtype in (torch.float64, torch.float32))
    outputs = [function(x / 2.0**exponent) for x in (exact, rounded)]
    expected, score = (affinity_score(*pair, "empirical") for pair in zip((exact, rounded), outputs, strict=True))
    assert score.value == pytest.approx(expected.value, abs=1e-3)
    # next to the threshold of "reached" the two may fall on either side
    assert score.degenerate_input == expected.degenerate_input or expected.value > 1 - 1e-3


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    layers(least=48, fewest=48),
    st.sampled_from([torch.float16, torch.bfloat16]),
    st.sampled_from(FUNCTIONS[:3]),
    st.booleans(),
)
def test_half_precision_and_float64_agree(shape, dtype, function, averaged):
    """Sums are rounded once; averages of half precision numbers are float32, and their unit of rounding is given."""
    exact, rounded = layer(**shape), layer(**shape, dtype=dtype)
    output = function(rounded)
    expected = affinity_score(exact, function(exact), "empirical").value
    score = affinity_score(rounded, output, "empirical").value
    given_unit = affinity_score(rounded.float(), output.float(), "empirical", rounding=UNITS[dtype]).value
    tolerance = 1e-3 if expected < 0.99 else 5e-3  # of a score next to 1 the root of what rounding perturbs
    assert (given_unit if averaged and shape["offset"] < 3 else score) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(("rank", "n", "d"), [(16, 512, 96), (5, 256, 12), (16, 40, 96), (64, 128, 600), (7, 30, 60)])
def test_all_routes_see_what_they_see_in_float64(rank, n, d):
    found = []
    for dtype in (torch.float64, torch.float32):
        x = layer(rank, n, d, dtype=dtype).requires_grad_()
        y = x.detach().relu()
        score = affinity_score(x, y, "empirical")
        value = differentiable_affinity(x, y, "empirical")
        value.backward()
        moved = affine_map(x, y, "empirical")(x) - y
        spread = (y.double() - y.double().mean(dim=0)).square().sum()
        assert score.degenerate_input
        paired = (value.item(), 1 - math.sqrt(moved.square().sum() / spread / 2))
        assert paired == pytest.approx([score.paired] * 2, abs=1e-6)
        found.append(
            [score.value, *extrapolated_affinity_scores(x, y, score), *(1e3 * x.grad.double()).flatten().tolist()]
        )
    np.testing.assert_allclose(found[1], found[0], rtol=1e-3, atol=1e-3)


def test_the_gradient_is_that_of_what_keeps_the_rank():
    """Through the two factors of a layer, in each of the shapes, and of coordinates of different sizes."""
    for rank, n, d in ((2, 9, 4), (2, 5, 14), (3, 6, 5)):
        generator = torch.Generator().manual_seed(d)
        z, weights = (
            torch.randn(*s, generator=generator, dtype=torch.float64, requires_grad=True)
            for s in ((n, rank), (rank, d))
        )
        sizes = 10.0 ** torch.linspace(-2, 2, d, dtype=torch.float64)
        y = torch.randn(n, d, generator=generator, dtype=torch.float64) * sizes
        assert torch.autograd.gradcheck(
            lambda z, w, s=sizes, y=y: differentiable_affinity(z @ (w * s), y, "empirical", clip=False), (z, weights)
        )


@settings(deadline=None, max_examples=60)
@given(layers(), st.sampled_from(sorted(UNITS, key=str)))
def test_shrinkage_does_not_ask(shape, dtype):
    x = layer(**shape, dtype=dtype)
    score, of_exact = (affinity_score(one, one.tanh()).raw for one in (x, x.double()))
    y = x.tanh().double()
    assert score == pytest.approx(affinity_score(x.double(), y).raw, abs=1e-12)
    assert of_exact == pytest.approx(score, abs=0.1)


def test_a_cloud_of_rounding_alone_is_as_it_is():
    """Whether it is constant is another question: bfloat16 knows three numbers between 99.5 and 100.5."""
    x = torch.tensor([[100.0], [100.0], [100.5], [100.0]]).bfloat16()
    assert affinity_score(x, x, "empirical").value == pytest.approx(1.0)
    assert affinity_score(x, 2 * x.float() + 1, "empirical", rounding=0.0).value == pytest.approx(1.0)
