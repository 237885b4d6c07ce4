"""Functions of one variable whose pieces are known."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore.linear_regions import along_segment
from tests.affscore.linear_regions.architectures import Written

METHODS = pytest.mark.parametrize("method", ["line", "walk"])


def on_line(function, start, end, method="line"):
    return along_segment(Written(function), [float(start)], [float(end)], method)


@METHODS
def test_a_relu_has_one_breakpoint(method):
    found = on_line(lambda x: torch.relu(3 * x - 1), 0, 1, method)
    np.testing.assert_allclose(found.breakpoints, [1 / 3], rtol=1e-15)
    assert (found.count, found.patterns, found.crossings, found.switches) == (2, 2, 1, 0)
    assert found.length == 1
    # a triangle over the chord, of height 2/3 at 1/3, on a segment of length 1: half of 2/3
    np.testing.assert_allclose(found.absolute_deviation, [1 / 3], rtol=1e-14)
    half = on_line(lambda x: torch.relu(x - 0.5), 0, 1, method)
    np.testing.assert_allclose(half.absolute_deviation, [0.125])
    # that of the published code: 0 and x - 0.5 on halves, chord slope 0.5: 0.125 * 0.5, and 0.5 * 0.5 + 0.375 * 0.5
    np.testing.assert_allclose(half.deviation_upper_bound, [0.0625 + 0.25 + 0.1875])


@METHODS
def test_an_affine_function_has_one_piece(method):
    found = on_line(lambda x: torch.cat([2 * x - 1, -x], 1), -3, 4, method)
    assert (found.count, found.patterns, found.switches) == (1, 1, 0)
    assert found.breakpoints.shape == (0,)
    np.testing.assert_array_less(found.absolute_deviation, 1e-14)
    np.testing.assert_allclose(found.total_variation, [14, 7])


@METHODS
@pytest.mark.parametrize("depth", [1, 3, 6])
def test_composed_tents_have_a_power_of_two_pieces(method, depth):
    def tents(x):
        for _ in range(depth):
            x = 2 * torch.relu(x) - 4 * torch.relu(x - 0.5)
        return x

    found = on_line(tents, 0, 1, method)
    assert found.count == found.patterns == 2**depth
    np.testing.assert_allclose(found.breakpoints, np.arange(1, 2**depth) / 2**depth, rtol=0, atol=1e-15)
    # between 0 and 1, 2^(depth - 1) times up and down; the chord is zero
    np.testing.assert_allclose(found.absolute_deviation, [0.5])
    np.testing.assert_allclose(found.total_variation, [2**depth])


@METHODS
@pytest.mark.parametrize(
    ("function", "units", "switches"),
    [
        (lambda x: torch.relu(x) + torch.relu(-x), 1, 0),
        (lambda x: F.leaky_relu(x, -1), 1, 0),
        (lambda x: F.max_pool1d(torch.stack([x, -x], 2), 2).flatten(1), 0, 1),
        (lambda x: F.max_pool1d(torch.relu(torch.stack([x, -x], 2)), 2).flatten(1), 1, 1),
    ],
    ids=["relus", "leaky", "pool", "pool of relus"],
)
def test_the_absolute_value_in_four_ways(method, function, units, switches):
    found = on_line(function, -1, 3, method)
    np.testing.assert_allclose(found.breakpoints, [0.25], rtol=1e-15)
    assert (found.crossings, found.switches) == (units, switches)
    # chord from 1 to 3 over a length of 4: 1.5 above zero at the kink, half of 4 times that
    np.testing.assert_allclose(found.absolute_deviation, [3.0])


@METHODS
def test_what_touches_zero_does_not_cross(method):
    found = on_line(lambda x: torch.relu(torch.relu(x) + torch.relu(-x)), -1, 1, method)
    assert found.crossings == 1  # of the two inner units
    np.testing.assert_allclose(found.breakpoints, [0.5])
    below = on_line(lambda x: torch.relu(-torch.relu(x) - torch.relu(-x)), -1, 1, method)
    assert (below.crossings, below.count) == (1, 1)  # never above zero


@METHODS
def test_a_dead_unit_changes_the_pattern_and_not_the_function(method):
    def function(x):
        hidden = torch.relu(torch.cat([x - 0.25, x - 0.5, x - 0.75], 1))
        # the first is multiplied by zero, the second feeds a unit that stays below zero
        return hidden[:, 2:] + 0 * hidden[:, :1] + torch.relu(hidden[:, 1:2] - 9)

    found = on_line(function, 0, 1, method)
    np.testing.assert_allclose(found.unit_changes, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(found.breakpoints, [0.75])


@METHODS
def test_breakpoints_of_several_units_at_one_place_are_one(method):
    scales = torch.tensor([[1.0, 3.0, -7.0, 0.1, 1 / 3]])
    found = on_line(lambda x: torch.relu((x - 0.3) * scales.to(x)), 0, 1, method)
    np.testing.assert_allclose(found.breakpoints, [0.3])
    assert found.patterns == 2


def test_a_unit_is_exactly_zero_where_it_crosses():
    torch.manual_seed(0)
    found = along_segment(nn.Sequential(nn.Linear(3, 200), nn.ReLU()), torch.randn(3), 5 * torch.randn(3))
    assert found.crossings > 50
    assert not ((found.logits > 0) & (found.logits < 1e-12)).any()
    inner = found.logits[np.isin(found.t, found.unit_changes)]
    assert ((inner == 0) & (np.roll(found.logits, 1, axis=0)[1:-1] + found.logits[2:] > 0)).any(1).all()


@METHODS
def test_two_breakpoints_apart_by_little_more_than_the_tolerance_are_two(method):
    near = on_line(lambda x: torch.relu(x - 0.5) + torch.relu(x - 0.5 - 1e-9), 0, 1, method)
    assert near.count == 3
    same = on_line(lambda x: torch.relu(x - 0.5) + torch.relu(x - 0.5 - 1e-13), 0, 1, method)
    assert same.count == 2


@METHODS
def test_breakpoints_at_the_ends_do_not_count(method):
    found = on_line(lambda x: torch.relu(x) + torch.relu(x - 1) + torch.relu(x - 0.5), 0, 1, method)
    np.testing.assert_allclose(found.breakpoints, [0.5])
    assert found.patterns == 2


@METHODS
def test_a_channel_of_slope_one_is_linear(method):
    prelu = nn.PReLU(3)
    with torch.no_grad():
        prelu.weight.copy_(torch.tensor([1.0, 1.0, 0.5]))
    found = on_line(lambda x: prelu.double()(torch.cat([x - 0.25, 0.25 - x, x - 0.5], 1)), 0, 1, method)
    np.testing.assert_allclose(found.unit_changes, [0.5])
    np.testing.assert_allclose(found.breakpoints, [0.5])
    linear = on_line(lambda x: F.leaky_relu(x - 0.5, 1.0), 0, 1, method)
    assert (linear.patterns, linear.count) == (1, 1)


@METHODS
def test_the_upper_envelope_of_several_lines(method):
    slopes, heights = torch.tensor([-2.0, 0.0, 1.0, 0.9]), torch.tensor([1.0, 0.5, 0.0, -5.0])

    def function(x):
        return F.max_pool1d((x * slopes.to(x) + heights.to(x))[:, None], 4).flatten(1)

    found = on_line(function, 0, 1, method)
    np.testing.assert_allclose(found.switch_changes, [0.25, 0.5])
    np.testing.assert_allclose(found.breakpoints, [0.25, 0.5])
    assert found.patterns == 1


@METHODS
def test_length_and_area_are_in_the_metric_of_the_input(method):
    function = Written(lambda x: torch.relu(x.sum(1, keepdim=True)))
    small = along_segment(function, [-1.0, -1.0, -1.0, -1.0], [1.0, 1.0, 1.0, 1.0], method)
    assert small.length == pytest.approx(4)
    np.testing.assert_allclose(small.absolute_deviation, [4.0])  # chord 0 to 4, 2 above the kink: 4 * 2 / 2
