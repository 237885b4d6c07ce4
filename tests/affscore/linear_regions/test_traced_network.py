"""What is found is compared with the network itself: hidden parts, randomness, numbers that are too large or cancel."""

import ctypes

import numpy as np
import pytest
import torch
from torch import nn

from affscore import AffscoreError
from affscore.linear_regions import along_segment, along_segments
from companion.planes import on_plane
from tests.affscore.linear_regions.architectures import Written
from tests.affscore.linear_regions.brute_force import look

METHODS = pytest.mark.parametrize("method", ["line", "walk"])


def hidden(x):
    """A ReLU that runs where functions of PyTorch are not seen."""
    with torch._C.DisableTorchFunction():
        return torch.relu(x + 0)


def blind(x):
    """The same of the numbers in memory, where no kernel is seen either: the trace takes it for a constant."""
    with torch._C.DisableTorchFunction():
        numbers = (ctypes.c_double * x.numel()).from_address(x.data_ptr())
        return torch.from_numpy(np.maximum(np.ctypeslib.as_array(numbers), 0).reshape(tuple(x.shape)))


@METHODS
def test_a_part_that_is_not_seen_is_an_error_at_once(method):
    with pytest.raises(AffscoreError, match="has add in TorchScript or an extension, which hide"):
        along_segment(Written(lambda x: torch.relu(x) + hidden(x - 5)), [0.0], [1.0], method)


@METHODS
def test_a_part_that_is_not_seen_and_comes_to_life_in_the_second_segment(method):
    with pytest.raises(AffscoreError, match=r"other logits .* on segment 1 \(they differ by 5\): .* not seen"):
        along_segments(Written(lambda x: torch.relu(x) + blind(x - 5)), [[0.0], [0.0]], [[1.0], [10.0]], method)


@METHODS
def test_a_part_that_is_not_seen_and_lives_between_the_ends(method):
    def bump(x):
        return torch.relu(x) + blind(torch.relu(x) - 2 * torch.relu(x - 0.5) - 0.25) - blind(x - 1)

    with pytest.raises(AffscoreError, match=r"other logits .* on segment 0"):
        along_segment(Written(bump), [0.0], [1.0], method)


def test_a_part_of_a_plane_that_is_not_seen():
    model = Written(lambda x: torch.relu(x) + blind(x.sum(1, keepdim=True) - 9))
    with pytest.raises(AffscoreError, match=r"other logits .* at point \d+ of the plane"):
        on_plane(model, [0.0, 0.0], [8.0, 0.0], [0.0, 8.0], points=6)


def test_samples_that_act_on_each_other():
    with pytest.raises(AffscoreError, match="samples act on each other"):
        along_segment(Written(lambda x: x.relu() - x.relu().mean(0, keepdim=True)), [-1.0, 1.0], [1.0, 2.0])
    with pytest.raises(AffscoreError, match=r"the network fails on a sample of shape \(2,\), in a batch of 4"):
        along_segment(Written(lambda x: x.relu().view(1, 2)), [-1.0, 1.0], [1.0, 2.0])


@METHODS
def test_logits_that_are_infinite_in_a_later_segment(method):
    huge = Written(lambda x: torch.relu(x * 1e200) * 1e120)
    with pytest.raises(AffscoreError, match=r"NaN or infinite on segment 1"):
        along_segments(huge, [[-1.0], [0.0]], [[0.0], [1.0]], method)


@METHODS
def test_starts_on_a_decision_boundary_are_no_randomness(method):
    for seed in range(12):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Unflatten(1, (1, 3, 3)), nn.Conv2d(1, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(16, 1))
        model = model.double()
        start, end = torch.randn(2, 9, dtype=torch.float64)
        with torch.no_grad():
            model[4].bias -= model(start[None])[0]  # up to rounding
        assert along_segment(model, start, end, method).crossings == len(look(model, start, end, 201).units)


@pytest.mark.parametrize("scale", [1e-14, 1e14])
@METHODS
def test_units_of_one_layer_of_very_different_scales_are_an_error_and_no_other_number(scale, method):
    torch.manual_seed(0)
    first, second, last = nn.Linear(4, 10).double(), nn.Linear(4, 10).double(), nn.Linear(20, 3).double()

    def mixed(x):
        h = torch.relu(torch.cat([first(x), scale * second(x)], 1))
        return last(torch.cat([h[:, :10], h[:, 10:] / scale], 1))

    with pytest.raises(AffscoreError, match="scales of a layer differ by 1e10"):
        along_segment(Written(mixed), torch.randn(4), torch.randn(4), method)


@METHODS
def test_logits_that_cancel_all_along(method):
    torch.manual_seed(0)
    weights, order = torch.randn(50, dtype=torch.float64), torch.randperm(50)
    layer = nn.Linear(4, 50).double()

    def cancelling(x):
        h = layer(x).relu()
        return (h * weights).sum(1, keepdim=True) - (h * weights)[:, order].sum(1, keepdim=True)

    found = along_segment(Written(cancelling), torch.randn(4), torch.randn(4), method)
    assert found.count == 1
    assert found.crossings > 10
    assert np.abs(found.logits).max() < 1e-12


@METHODS
def test_what_changes_within_rounding_of_an_end_is_at_the_end(method):
    for near in (5e-13, 1 - 5e-13):
        relu = nn.Sequential(_layer([[1.0], [1.0]], [-near, -0.5]), nn.ReLU())
        np.testing.assert_allclose(along_segment(relu, [0.0], [1.0], method).unit_changes, [0.5])
        pool = nn.Sequential(
            _layer([[1.0], [0.0], [1.0], [0.0]], [-near, 0.0, -0.25, 0.0]),
            nn.Unflatten(1, (1, 4)),
            nn.MaxPool1d(2),
            nn.Flatten(),
        )
        np.testing.assert_allclose(along_segment(pool, [0.0], [1.0], method).switch_changes, [0.25])


def _layer(weight, bias):
    layer = nn.Linear(1, len(weight)).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        layer.bias.copy_(torch.tensor(bias, dtype=torch.float64))
    return layer
