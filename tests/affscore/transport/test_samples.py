import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import affscore
from affscore.errors import AffscoreError
from affscore.transport.samples import as_samples, centre
from tests.affscore.transport.clouds import clouds

POINTS = np.array([[0.5, -1.0, 2.0], [1.5, 3.0, -4.0], [2.0, 2.0, 0.25], [-1.0, 0.0, 8.0]])


@pytest.mark.parametrize(
    ("given_points", "rounding"),
    [
        (POINTS, 2.0**-52),
        (POINTS.tolist(), 2.0**-52),
        (POINTS[::-1][::-1], 2.0**-52),
        (np.asfortranarray(POINTS), 2.0**-52),
        (POINTS.astype(">f8"), 2.0**-52),
        (POINTS.astype(np.longdouble), 2.0**-52),
        (POINTS.astype(np.float32), 2.0**-23),
        (POINTS.astype(np.float16), 2.0**-23),
        (torch.tensor(POINTS), 2.0**-52),
        (torch.tensor(POINTS, requires_grad=True), 2.0**-52),
        (torch.tensor(POINTS.T).T, 2.0**-52),
        (torch.tensor(POINTS).float(), 2.0**-23),
        (torch.tensor(POINTS).half(), 2.0**-23),
        (torch.tensor(POINTS).bfloat16(), 2.0**-23),
        ([torch.tensor(row) for row in POINTS], 2.0**-52),
    ],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}",
)
def test_every_kind_of_array_of_the_same_numbers_is_the_same_cloud(given_points, rounding):
    points, unit = as_samples(given_points)
    assert points.dtype == torch.float64
    assert not points.requires_grad
    assert points.tolist() == POINTS.tolist()
    assert unit == rounding


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int64, np.uint16, np.uint64, torch.int32, torch.uint8, torch.int64]
)
def test_integers_are_exact_numbers(dtype):
    numbers = [[1, 2], [3, 250 if "8" not in str(dtype) else 7]]
    kind = torch.tensor if isinstance(dtype, torch.dtype) else np.array
    points, unit = as_samples(kind(numbers, dtype=dtype))
    assert points.tolist() == numbers
    assert unit == 2.0**-52


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (POINTS[:, 0], r"x must have shape \(n samples, d coordinates\) .*, got \(4,\); reduce or flatten"),
        (3.0, r"got \(\)"),
        (POINTS[:1], r"shape .* with n >= 2 and d >= 1, got \(1, 3\)"),
        (np.empty((5, 0)), r"n >= 2 and d >= 1, got \(5, 0\)"),
        (np.where(POINTS > 2, np.nan, POINTS), "x must be finite, got 2 NaN or infinite of 12 values"),
        (np.where(POINTS > 7, -np.inf, POINTS), "got 1 NaN or infinite of 12 values"),
        (torch.tensor(POINTS).half() * 60000, "NaN or infinite of 12"),
        (POINTS + 1j, "x must hold real numbers, got torch.complex128"),
        (POINTS > 0, "x must hold real numbers, got torch.bool"),
        ([["a", "b"], ["c", "d"]], "real numbers, got a list that does not make one: TypeError: .*numpy.str_"),
        ([[1.0, 2.0], [3.0]], "got a list that does not make one: ValueError: .*inhomogeneous"),
        (None, "got a NoneType that does not make one"),
        (POINTS.astype(object), "TypeError: .*numpy.object_"),
    ],
)
def test_what_is_no_cloud_is_refused_with_a_sentence(bad, message):
    with pytest.raises(AffscoreError, match=message):
        as_samples(bad)


@given(clouds(), st.integers(-1000, 1000), st.floats(-100, 100))
def test_centring_takes_a_cloud_apart_and_nothing_is_lost(x, exponent, offset):
    x = torch.tensor((x + offset) * 2.0**exponent)
    sample = centre(x)
    largest = float(sample.points.abs().max())
    assert 0.5 <= largest < 1.0
    assert math.frexp(sample.scale)[0] == 0.5, "a power of two, so that dividing by it rounds nothing"
    # the mean of n numbers of size up to 100 is rounded, in units of the offset
    assert float(sample.points.mean(dim=0).abs().max()) < 1e-12
    again = sample.mean + sample.scale * sample.points
    assert float((again - x).abs().max()) <= 1e-12 * float(x.abs().max())


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-20, 1.0, 1e20, 1e200, 8e307])
def test_no_size_over_or_underflows(size):
    sample = centre(torch.tensor([[size], [-size]], dtype=torch.float64))
    assert (sample.points * sample.scale).tolist() == [[size], [-size]]
    assert sample.mean.tolist() == [0.0]


@pytest.mark.parametrize("rounding", [2.0**-52, 2.0**-23])
def test_what_varies_by_rounding_only_is_constant(rounding):
    noise = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]], dtype=torch.float64)
    # standard deviations of about 7 and of 9 units of rounding of the largest magnitude
    assert centre(3.0 + 3 * 7 * rounding * noise, rounding).constant
    assert not centre(3.0 + 3 * 9 * rounding * noise, rounding).constant


@pytest.mark.parametrize("make", [lambda a: a[:, ::-1], lambda a: a[::-1], lambda a: np.broadcast_to(a, (20, 1))])
def test_arrays_of_every_stride_are_taken_and_not_written_to(make):
    array = make(np.arange(20.0).reshape(20, 1))
    before = array.copy()
    points, _ = as_samples(array)
    assert points.tolist() == before.tolist()
    affscore.affinity_score(array, array**2)
    np.testing.assert_array_equal(array, before)


def test_a_part_of_rounding_is_constant_if_the_whole_is():
    x = torch.tensor([[1.0], [1.0], [-64.0], [1.0 + 2.0**-50]], dtype=torch.float64)
    assert not centre(x[[0, 3]], 2.0**-56).constant
    part = centre(x, 2.0**-56).part(torch.tensor([0, 3]))
    assert part.constant
    assert part.scale == 1.0
    assert not centre(x).part(torch.tensor([0, 2])).constant


@pytest.mark.parametrize("unit", [1.0, 1e-80, 1e80])
def test_what_varies_by_the_rounding_of_its_terms_is_constant(unit):
    points = torch.randn(50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    points[:, 1] = 0.5 + 1e-7 * points[:, 1]
    size = unit * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    assert bool(centre(unit * points, 2.0**-23).points.any(dim=0).all()) is False  # of 0.5 itself that is rounding
    points[:, 1] -= 0.5
    assert centre(unit * points, 2.0**-23).points.any(dim=0).tolist() == [True, True, True]
    assert centre(unit * points, 2.0**-23, size).points.any(dim=0).tolist() == [True, False, True]
