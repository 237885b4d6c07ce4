import functools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore import AffscoreError
from affscore.transport import PairMoments, affinity_score, estimate, paired_affinity_score
from affscore.transport.covariance import estimate_from_moments
from affscore.transport.moments import Moments
from affscore.transport.samples import centre


def cloud(n, d, seed=0, shift=0.0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, dtype=torch.float64, generator=generator) + shift


def direct(x, origin):
    """Every sum as it is written."""
    z = x - origin
    norms = (z**2).sum(1)
    return z.sum(0), z.T @ z, (norms[:, None] * z).sum(0), float((norms**2).sum())


def assert_are(moments, expected, scale=1.0):
    first, second, third, fourth = expected
    torch.testing.assert_close(moments.first, first, rtol=1e-9, atol=1e-9 * scale)
    torch.testing.assert_close(moments.second, second, rtol=1e-9, atol=1e-9 * scale)
    torch.testing.assert_close(moments.third, third, rtol=1e-9, atol=1e-9 * scale)
    assert moments.fourth == pytest.approx(fourth, rel=1e-9)


@pytest.mark.parametrize("shift", [0.0, 3.0, -40.0])
def test_from_another_origin_they_are_the_sums_from_there(shift):
    x, origin = cloud(30, 4), cloud(1, 4, seed=9)[0] + shift
    assert_are(Moments.of(x).seen_from(origin), direct(x, origin), scale=max(1.0, abs(shift)) ** 3)


@given(st.integers(0, 2**16), st.lists(st.integers(1, 20), min_size=1, max_size=6))
def test_parts_add_up_to_the_whole_whatever_the_parts(seed, sizes):
    x = cloud(sum(sizes), 3, seed, shift=5.0)
    y = x.square()
    pieces = [PairMoments.of(a, b) for a, b in zip(x.split(sizes), y.split(sizes), strict=True)]
    merged = pieces[0]
    for piece in pieces[1:]:
        merged = merged.merged(piece)
    merged = merged.centred()
    assert merged.x.count == len(x)
    assert_are(merged.x, direct(x, x.mean(0)), scale=1e3)
    assert_are(merged.y, direct(y, y.mean(0)), scale=1e6)
    cross = (x - x.mean(0)).T @ (y - y.mean(0))
    torch.testing.assert_close(merged.cross, cross, rtol=1e-9, atol=1e-7)
    assert torch.equal(merged.x.largest, x.abs().amax(0))


@pytest.mark.parametrize("n", [10, 500])
def test_the_covariance_is_that_of_the_samples(n):
    x = cloud(n, 20) * torch.linspace(0.1, 3, 20)
    for name in ("ledoit-wolf", "empirical"):
        ours = estimate_from_moments(Moments.of(x), name)
        theirs = estimate(x - x.mean(0), name)
        assert ours.intensity == pytest.approx(theirs.intensity, rel=1e-12)
        assert ours.floor == pytest.approx(theirs.floor, rel=1e-12)
        torch.testing.assert_close(ours.matrix, theirs.matrix, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 2**16), st.sampled_from(["ledoit-wolf", "empirical"]), st.floats(-6, 6))
def test_the_score_is_the_paired_one(seed, name, exponent):
    x = cloud(60, 5, seed) * 10**exponent
    y = torch.relu(x @ cloud(5, 5, seed + 1))
    expected = affinity_score(x, y, name, coupling="paired")
    kept = paired_affinity_score(PairMoments.of(x, y), name)
    assert kept.raw == pytest.approx(expected.raw, abs=1e-7)
    assert kept.w2 == pytest.approx(expected.w2, rel=1e-6)
    assert kept.pairing_optimal is None
    assert kept.raw <= affinity_score(x, y, name).raw + 1e-9


def test_an_affine_pair_has_one_and_a_constant_is_flagged():
    x = cloud(100, 4)
    assert paired_affinity_score(PairMoments.of(x, 3 * x + 1), "empirical").value == pytest.approx(1.0, abs=1e-6)
    flat = paired_affinity_score(PairMoments.of(x, torch.tanh(x + 30)))
    assert (flat.value, flat.constant_output) == (1.0, True)


def test_a_coordinate_of_rounding_does_not_count():
    x = cloud(200, 3)
    y = torch.relu(x)
    noisy = torch.cat([y, 1.0 + 1e-16 * cloud(200, 1, seed=3)], dim=1)
    still = torch.cat([y, torch.ones(200, 1, dtype=torch.float64)], dim=1)
    wide = torch.cat([x, cloud(200, 1, seed=4)], dim=1)
    scores = [paired_affinity_score(PairMoments.of(wide, z)).raw for z in (noisy, still)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)


def test_bad_pairs_are_refused():
    x = cloud(10, 2)
    with pytest.raises(AffscoreError, match="at least 2 samples, got 1"):
        paired_affinity_score(PairMoments.of(x[:1], x[:1]))
    with pytest.raises(AffscoreError, match="x is constant while y varies"):
        paired_affinity_score(PairMoments.of(torch.ones_like(x), x))
    with pytest.raises(AffscoreError, match="must have as many samples, got 10 and 5"):
        PairMoments.of(x, x[:5])
    with pytest.raises(AffscoreError, match="must have as many coordinates, got 2 and 1"):
        paired_affinity_score(PairMoments.of(x, x[:, :1]))
    with pytest.raises(AffscoreError, match='coupling must be "exact" or "paired"'):
        affinity_score(x, x, coupling="optimal")


def test_moments_of_many_batches_keep_their_digits():
    """A mean of a thousand standard deviations, merged a thousand times."""
    x = cloud(20_000, 2, shift=1000.0)
    parts = x.split(20)
    merged = PairMoments.of(parts[0], parts[0])
    for part in parts[1:]:
        merged = merged.merged(PairMoments.of(part, part))
    np.testing.assert_allclose(merged.centred().x.second / len(x), np.cov(x.numpy().T, bias=True), rtol=1e-9, atol=1e-9)


def in_parts(x, y, parts=4):
    pieces = [PairMoments.of(a, b) for a, b in zip(x.chunk(parts), y.chunk(parts), strict=True)]
    merged = pieces[0]
    for piece in pieces[1:]:
        merged = merged.merged(piece)
    return merged


@pytest.mark.parametrize("name", ["ledoit-wolf", "empirical"])
@pytest.mark.parametrize("exponents", [(-300, -300), (-150, 150), (-100, -100), (100, 100), (150, -150), (300, 300)])
def test_no_size_over_or_underflows(name, exponents):
    x = cloud(60, 5) * torch.linspace(0.5, 2, 5) + 1.0
    y = torch.relu(x - 1.0)
    expected = paired_affinity_score(PairMoments.of(x, y), name)
    scale_x, scale_y = (10.0**exponent for exponent in exponents)
    found = paired_affinity_score(in_parts(x * scale_x, y * scale_y), name)
    assert found.raw == pytest.approx(expected.raw, abs=1e-9)
    assert found.intensity == pytest.approx(expected.intensity, rel=1e-9)
    assert found.w2 / scale_y == pytest.approx(expected.w2, rel=1e-9)


def test_parts_of_very_different_size_add_up():
    x = torch.cat([1e-120 * cloud(20, 3), torch.zeros(1, 3, dtype=torch.float64), 1e120 * cloud(40, 3, seed=1)])
    pieces = [PairMoments.of(part, part.relu()) for part in x.split([20, 1, 40])]
    forwards = pieces[0].merged(pieces[1]).merged(pieces[2])
    backwards = pieces[2].merged(pieces[1]).merged(pieces[0])
    expected = affinity_score(x, x.relu(), coupling="paired").raw
    for found in (forwards, backwards):
        assert paired_affinity_score(found).raw == pytest.approx(expected, abs=1e-9)


def test_rounding_of_large_columns_has_no_part_in_the_fourth_moments():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2048, 64, generator=generator)
    constant = 1e7 + torch.randint(-1, 2, (2048, 64), generator=generator)  # up to a unit of rounding of float32
    x, y = torch.cat([x, constant], dim=1), torch.cat([x.relu(), constant], dim=1)
    parts = [PairMoments.of(a.double(), b.double(), 2.0**-23) for a, b in zip(x.split(64), y.split(64), strict=True)]
    kept = paired_affinity_score(functools.reduce(PairMoments.merged, parts), rounding=2.0**-23)
    expected = affinity_score(x, y, coupling="paired")
    assert kept.value == pytest.approx(expected.value, abs=1e-3)
    assert kept.intensity == pytest.approx(expected.intensity, rel=0.1)


@pytest.mark.parametrize("unit", [1.0, 1e-80, 1e80])
def test_what_varies_by_the_rounding_of_its_terms_is_constant(unit):
    points = torch.randn(50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    points[:, 1] = 0.5 + 1e-7 * points[:, 1]
    size = unit * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    assert bool(centre(unit * points, 2.0**-23).points.any(dim=0).all()) is False  # of 0.5 itself that is rounding
    points[:, 1] -= 0.5
    assert centre(unit * points, 2.0**-23).points.any(dim=0).tolist() == [True, True, True]
    assert centre(unit * points, 2.0**-23, size).points.any(dim=0).tolist() == [True, False, True]
    whole = PairMoments.of(unit * points, unit * points, 2.0**-23, (size, size))
    parts = [PairMoments.of(unit * some, unit * some, 2.0**-23, (size, size)) for some in points.split(20)]
    for moments in (whole, functools.reduce(PairMoments.merged, parts)):
        assert moments.centred(2.0**-23).x.varying(2.0**-23).tolist() == [True, False, True]
