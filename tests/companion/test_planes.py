"""Paths around images; and regions at the points of a plane, against what units are fed and against derivatives."""

import numpy as np
import pytest
import torch
from torch import nn

from affscore import AffscoreError
from companion.planes import closed_paths, on_plane
from tests.affscore.linear_regions.architectures import ARCHITECTURES, network
from tests.affscore.linear_regions.brute_force import Inputs

POINTS = 9


def corners(shape):
    """Three inputs, the way from the first to the last not at a right angle to that to the second."""
    generator = torch.Generator().manual_seed(5)
    origin, right, up = torch.randn(3, *shape, generator=generator, dtype=torch.float64)
    return origin, right, up


def at_points(origin, right, up):
    """The points of the grid, a row of columns after the other."""
    places = (torch.arange(POINTS) + 0.5) / POINTS
    columns = (places.double().view(-1, *[1] * origin.ndim) * (right - origin)).unsqueeze(0)
    rows = (places.double().view(-1, *[1] * origin.ndim) * (up - origin)).unsqueeze(1)
    return (origin + rows + columns).flatten(0, 1)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_regions_are_where_all_units_and_poolings_agree_and_slopes_the_gradients_within_the_plane(name):
    model, shape = network(name)
    model, spanned = model.double().eval(), corners(shape)
    found = on_plane(model, *spanned, points=POINTS)
    with Inputs() as fed, torch.no_grad():
        model(at_points(*spanned))
    chosen = [pool.flatten(2).flatten(1) for pool in fed.pools]
    states = torch.cat([*(units.flatten(1) for units in fed.units), *(one.double() for one in chosen)], 1)
    _, expected = torch.unique(states, dim=0, return_inverse=True)
    numbers = found.regions.ravel()
    pairs = set(zip(numbers.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == found.count == len(expected.unique()) > 3
    assert list(dict.fromkeys(numbers.tolist())) == list(range(found.count))
    points = at_points(*spanned).requires_grad_()
    outputs = model(points)
    sides = torch.stack([spanned[1] - spanned[0], spanned[2] - spanned[0]]).flatten(1)
    orthonormal = torch.linalg.svd(sides, full_matrices=False).Vh
    for logit in range(outputs.shape[1]):
        (gradient,) = torch.autograd.grad(outputs[:, logit].sum(), points, retain_graph=True)
        expected = (gradient.flatten(1) @ orthonormal.T).norm(dim=1).view(POINTS, POINTS)
        np.testing.assert_allclose(found.slopes[:, :, logit], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.sides, sides.norm(dim=1))


def test_an_affine_network_is_one_region_and_the_model_is_left_as_it_was():
    model = nn.Sequential(nn.Linear(3, 2), nn.Dropout()).train()
    state = torch.get_rng_state()
    found = on_plane(model, [0.0, 0, 0], [1.0, 0, 0], [1.0, 1, 0], points=4)
    assert found.count == 1
    expected = model[0].weight[:, :2].double().norm(dim=1).detach()
    np.testing.assert_allclose(found.slopes, np.broadcast_to(expected, (4, 4, 2)))
    assert model.training
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize(
    ("right", "up", "options", "message"),
    [
        ([2.0, 2.0], [1.0, 1.0], {}, "on one line"),
        ([1.0, 0.0, 0.0], [0.0, 1.0], {}, r"one shape, got \[\(2,\), \(3,\), \(2,\)\]"),
        ([1.0, 0.0], [0.0, 1.0], {"points": 0}, "points must be"),
    ],
)
def test_three_inputs_that_span_no_plane(right, up, options, message):
    with pytest.raises(AffscoreError, match=message):
        on_plane(nn.ReLU(), [0.0, 0.0], right, up, **options)


@pytest.mark.parametrize("side", [8, 32])
def test_anchors_are_translations_on_a_circle_of_an_eighth_of_the_side(side):
    radius, aside = side // 8, round(side / 8 / 2**0.5)
    moves = [(radius, 0), (aside, aside), (0, radius), (-aside, aside), (-radius, 0), (-aside, -aside), (0, -radius),
             (aside, -aside), (radius, 0)]  # fmt: skip
    x = torch.rand(2, 3, side, side, generator=torch.Generator().manual_seed(0))
    paths = closed_paths(x)
    assert paths.shape == (2, 9, 3, side, side)
    for (right, down), points in zip(moves, paths.unbind(1), strict=True):
        rows = (torch.arange(side) - down).clamp(0, side - 1)  # the edge is repeated
        columns = (torch.arange(side) - right).clamp(0, side - 1)
        assert torch.equal(points, x[:, :, rows][:, :, :, columns])
    with pytest.raises(AffscoreError, match="images of 2 x 2 pixels are too small"):
        closed_paths(x[..., :2, :2])
