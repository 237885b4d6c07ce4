"""The score that can be differentiated: its value is that of the score, its gradient that of finite differences."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore import AffscoreError, affinity_score
from affscore.transport import differentiable_affinity
from tests.affscore.transport.clouds import DEGENERATE, REGULAR, orthogonal, pairs, scales

ALL = REGULAR + DEGENERATE
NAMES = ("ledoit-wolf", "empirical")
COUPLINGS = ("paired", "fixed")


def leaf(array):
    return torch.as_tensor(array, dtype=torch.float64).clone().requires_grad_()


def gradients(x, y, *options, clip=False):
    """Of the score with respect to both samples."""
    x, y = leaf(x), leaf(y)
    return torch.autograd.grad(differentiable_affinity(x, y, *options, clip=clip), (x, y))


def orthonormal(n, d, rng):
    """A cloud whose covariance is a multiple of the identity."""
    x = rng.standard_normal((n, d))
    return 3.0 * np.linalg.qr(x - x.mean(axis=0))[0]


def example(number):
    """Clouds of a random shape: generic ones, fewer samples than coordinates, equal eigenvalues."""
    rng = np.random.default_rng(number)
    kind = ("generic", "few", "very few", "orthonormal", "orthonormal output")[number % 5]
    d = int(rng.integers(1, 7))
    n = int(rng.integers(d + 2, 12))
    if kind == "few":
        n = int(rng.integers(3, max(d, 3) + 1))
        d = max(d, n)
    if kind == "very few":
        n, d = int(rng.integers(2, 5)), int(rng.integers(9, 12))
    x = orthonormal(n, d, rng) if kind.startswith("orthonormal") else rng.standard_normal((n, d))
    y = np.tanh(2 * x) + 0.3 * x + 0.1 * rng.standard_normal((n, d))
    return x, orthonormal(n, d, rng) if kind == "orthonormal output" else y


# The value -----------------------------------------------------------------------------------------------------------


@given(pairs(ALL), st.sampled_from(NAMES))
def test_the_value_is_that_of_the_score(pair, name):
    x, y = pair
    exact = affinity_score(x, y, name)
    for coupling, raw in (("paired", affinity_score(x, y, name, coupling="paired").raw), ("fixed", exact.raw)):
        found = differentiable_affinity(leaf(x), leaf(y), name, coupling, clip=False).item()
        # what rounding perturbs by a constant amount is the cost, and not its root
        assert (1 - found) ** 2 == pytest.approx((1 - raw) ** 2, rel=1e-8, abs=1e-9)
        assert differentiable_affinity(leaf(x), leaf(y), name, coupling).item() == max(found, 0.0)


# The gradient --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(20))
def test_the_gradient_is_that_of_finite_differences(number):
    x, y = example(number)
    for place, name in enumerate(NAMES):

        def score(x, y, name=name, coupling=COUPLINGS[(number // 5 + place) % 2]):
            return differentiable_affinity(x, y, name, coupling, clip=False)

        if affinity_score(x, y, name, coupling="paired").raw < 1 - 1e-6:  # it has no derivative at 1
            assert torch.autograd.gradcheck(score, (leaf(x), leaf(y)), rtol=1e-5, atol=1e-6)


@given(pairs(REGULAR, max_n=12, max_d=12), st.sampled_from(NAMES), st.sampled_from(COUPLINGS), scales())
def test_neither_translation_nor_scale_changes_the_score(pair, name, coupling, unit):
    for cloud, gradient in zip(pair, gradients(*pair, name, coupling), strict=True):
        size = gradient.abs().max().item() + 1e-9
        assert gradient.sum(dim=0).abs().max().item() < 1e-9 * size * len(cloud)
        assert abs((torch.from_numpy(cloud) * gradient).sum().item()) < 1e-6 * size * np.abs(cloud).sum()
    scaled = gradients(unit * pair[0] + 3 * unit, pair[1], name, coupling)
    if affinity_score(*pair, name, coupling="paired").raw < 1 - 1e-4:
        before = gradients(*pair, name, coupling)
        for one, other in ((scaled[0] * unit, before[0]), (scaled[1], before[1])):
            assert (one - other).abs().max().item() < 1e-5 * (other.abs().max().item() + 1e-3)


@given(orthogonal(4), st.sampled_from(NAMES))
def test_a_rotation_of_both_clouds_rotates_the_gradients(rotation, name):
    x = np.random.default_rng(9).standard_normal((9, 4))
    y = np.tanh(2 * x)
    for turned, plain in zip(gradients(x @ rotation, y @ rotation, name), gradients(x, y, name), strict=True):
        torch.testing.assert_close(turned, plain @ torch.from_numpy(rotation), rtol=1e-6, atol=1e-8)


def test_a_wide_space_has_the_gradient_of_the_span():
    """Where d >= 2 n it is computed in coordinates of the span: the same as in a space just below that width."""
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((6, 5)), rng.standard_normal((6, 5))
    wide = [np.pad(cloud, ((0, 0), (0, 15))) for cloud in (x, y)]
    turn = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    for of_wide, of_small in zip(
        gradients(*(cloud @ turn for cloud in wide), "empirical"), gradients(x, y, "empirical"), strict=True
    ):
        back = (of_wide @ torch.from_numpy(turn).T).numpy()
        np.testing.assert_allclose(back[:, :5], of_small, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(back[:, 5:], 0, atol=1e-10)


# Where there is no derivative --------------------------------------------------------------------------------------


@given(pairs(ALL), st.sampled_from(NAMES), st.sampled_from(COUPLINGS), st.booleans())
def test_the_gradient_is_finite_wherever_there_is_a_score(pair, name, coupling, clip):
    for gradient in gradients(*pair, name, coupling, clip=clip):
        assert bool(gradient.isfinite().all())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("coupling", COUPLINGS)
def test_a_constant_output_is_affine_and_does_not_pull(name, coupling):
    x, y = leaf(np.arange(6.0).reshape(3, 2) ** 2), leaf(np.full((3, 2), 7.0))
    score = differentiable_affinity(x, y, name, coupling)
    score.backward()
    assert score.item() == 1.0
    assert not x.grad.any()
    assert not y.grad.any()


def test_what_was_cut_does_not_pull_and_the_raw_score_does():
    x = np.random.default_rng(8).standard_normal((12, 3))
    assert differentiable_affinity(x, -x, clip=False).item() == pytest.approx(1 - math.sqrt(2))
    assert differentiable_affinity(x, -x).item() == 0.0
    assert not any(gradient.any() for gradient in gradients(x, -x, clip=True))
    assert all(gradient.abs().max() > 1e-3 for gradient in gradients(x, np.roll(x, 1, axis=0), clip=False))


# Types and errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradients_of_lower_precision_are_rounded_once(dtype):
    x, y = (torch.tensor(cloud, dtype=dtype) for cloud in example(5))
    low = [cloud.clone().requires_grad_() for cloud in (x, y)]
    found = torch.autograd.grad(differentiable_affinity(*low), low)
    for gradient, expected in zip(found, gradients(x.double(), y.double()), strict=True):
        assert gradient.dtype == dtype
        half_a_unit = torch.finfo(dtype).eps / 2
        assert bool(((gradient.double() - expected).abs() <= half_a_unit * expected.abs()).all())


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        ([[1.0], [math.nan]], [[1.0], [2.0]], {}, "x must be finite"),
        ([[1.0], [1.0]], [[1.0], [2.0]], {}, "x is constant while y varies"),
        ([[1.0], [2.0]], [[1.0, 2.0], [2.0, 3.0]], {}, "same shape"),
        ([[1.0], [2.0]], [[1.0], [2.0]], {"coupling": "exact"}, "coupling must be one of paired, fixed, got"),
        ([[1.0], [2.0]], [[1.0], [2.0]], {"covariance": "ridge"}, "covariance must be"),
    ],
)
def test_errors(x, y, options, message):
    with pytest.raises(AffscoreError, match=message):
        differentiable_affinity(leaf(x), leaf(y), **options)


def test_tensors_without_numbers_are_refused():
    x = torch.randn(4, 9, 3, generator=torch.Generator().manual_seed(0))

    def score(x):
        return differentiable_affinity(x, x.clamp(min=0))

    for call in (
        lambda: score(torch.empty(9, 3, device="meta")),
        lambda: torch.vmap(score)(x),
        lambda: torch.func.grad(score)(x[0]),
        lambda: differentiable_affinity(x[0], torch.empty(9, 3, device="meta")),
    ):
        with pytest.raises(AffscoreError, match=r"must be plain numbers in memory, got a (meta|torch.func) tensor"):
            call()


@pytest.mark.parametrize("which", [0, 1])
def test_a_second_derivative_is_refused(which):
    samples = [torch.randn(20, 3, generator=torch.Generator().manual_seed(seed)).double() for seed in (0, 1)]
    wanted = samples[which].requires_grad_()
    score = differentiable_affinity(samples[0], samples[1].clamp(min=0), clip=False)
    torch.autograd.grad(score, wanted, retain_graph=True)
    with pytest.raises(AffscoreError, match="first derivatives only"):
        torch.autograd.grad(score, wanted, create_graph=True)
