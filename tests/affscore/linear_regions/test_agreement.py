"""Line, walk and brute force find the same: on networks of seven kinds, and where everything coincides."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore.linear_regions import along_segments
from tests.affscore.linear_regions.architectures import ARCHITECTURES, network, segments
from tests.affscore.linear_regions.brute_force import look


def assert_all_agree(model, starts, ends, place=1e-9):
    """Counts, places and areas of both methods are those of brute force; returns how much there was."""
    found = {method: along_segments(model, starts, ends, method, progress=False) for method in ("line", "walk")}
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        expected = look(model, start, end)
        for method, segments_found in found.items():
            segment = segments_found[number]
            for ours, theirs in (
                (segment.unit_changes, expected.units),
                (segment.switch_changes, expected.switches),
                (segment.breakpoints, expected.breakpoints),
            ):
                assert len(ours) == len(theirs), (method, number, ours, theirs)
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=place, err_msg=f"{method} {number}")
            np.testing.assert_allclose(segment.absolute_deviation, expected.areas, rtol=1e-6, atol=1e-6)
    return {name: sum(getattr(one, name) for one in found["line"]) for name in ("crossings", "switches", "count")}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_segment_of_each_kind(name):
    model, shape = network(name, seed=5)
    starts, ends = segments(shape, 1, seed=7, way=2.0 if len(shape) == 1 else 0.4)
    found = assert_all_agree(model, starts, ends)
    assert found["crossings"] + found["switches"] > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_two_hundred_segments(name):
    model, shape = network(name)
    starts, ends = segments(shape, 25, way=3.0 if len(shape) == 1 else 0.5)
    found = assert_all_agree(model, starts, ends)
    assert found["crossings"] > 50
    assert (found["switches"] > 100) == (name in ("pooled", "overlapping", "dense", "mixed"))
    if name == "pooled":  # many units feed no entry that is the largest
        assert found["count"] < 0.7 * (found["crossings"] + found["switches"])


class Whole(nn.Module):
    """Whole numbers as weights: units meet zero together, touch it, and stay there."""

    def __init__(self, seed):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        sizes = [(4, 2), (4,), (4, 4), (4,), (4, 4), (4,), (2, 2 if seed % 4 == 3 else 4)]
        drawn = [torch.randint(-2, 3, size, generator=generator).double() for size in sizes]
        self.weights, self.kind = nn.ParameterList(map(nn.Parameter, drawn)), seed % 4
        self.start, self.end = (torch.randint(-2, 3, (3, 2), generator=generator).double() for _ in range(2))

    def forward(self, x):
        a, b, c, d, e, f, g = self.weights
        bias = float(self.kind != 1)
        first = torch.relu(x @ a.T + bias * b)
        if self.kind == 2:
            first = first - 0.5 * torch.relu(-(x @ a.T + bias * b))
        second = torch.relu(first @ c.T + bias * d)
        if self.kind:
            second = second + first
        third = F.leaky_relu(second @ e.T + bias * f, 0.5)
        if self.kind == 3:
            third = F.max_pool1d(third[:, None], 2)[:, 0]
        return third @ g.T


class WholePooled(nn.Module):
    """Max pooling of whole numbers: many entries of a window are equal."""

    def __init__(self, seed):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        sizes = [(2, 1, 3, 3), (2,), (2, 2, 3, 3), (2,), (2, 8 if seed % 2 else 2)]
        drawn = [torch.randint(-1, 2, size, generator=generator).double() for size in sizes]
        self.weights, self.seed = nn.ParameterList(map(nn.Parameter, drawn)), seed
        self.start, self.end = (torch.randint(-1, 2, (2, 1, 4, 4), generator=generator).double() for _ in range(2))

    def forward(self, x):
        a, b, c, d, e = self.weights
        x = F.conv2d(x, a, b, padding=1)
        x = x.relu() if self.seed % 3 else x
        x = F.max_pool2d(x, 2) if self.seed % 2 else F.max_pool2d(x, 3, 2, 1)
        x = x + torch.relu(F.conv2d(x, c, d, padding=1))
        x = x if self.seed % 2 else F.max_pool2d(x, 2)
        return x.flatten(1) @ e.T


SEEDS = [(Whole, range(8)), (WholePooled, range(4)), (Whole, range(8, 300)), (WholePooled, range(4, 60))]


@pytest.mark.parametrize(
    ("kind", "seeds"), [*SEEDS[:2], *(pytest.param(*s, marks=pytest.mark.slow) for s in SEEDS[2:])]
)
def test_where_units_meet_zero_together_and_entries_of_windows_are_equal(kind, seeds):
    compared = 0
    for model in map(kind, seeds):
        apart = (model.start != model.end).flatten(1).any(1)
        if apart.any():
            assert_all_agree(model, model.start[apart], model.end[apart])
            compared += int(apart.sum())
    assert compared > 1.9 * len(seeds)
