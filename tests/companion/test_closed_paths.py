"""Paths around images."""

import pytest
import torch

from affscore import AffscoreError
from companion.planes import closed_paths


def images(side=32, count=2):
    return torch.rand(count, 3, side, side, generator=torch.Generator().manual_seed(0))


def moved(image, right, down):
    """An image moved by whole pixels, its edge repeated."""
    height, width = image.shape[1:]
    rows = (torch.arange(height) - down).clamp(0, height - 1)
    columns = (torch.arange(width) - right).clamp(0, width - 1)
    return image[:, rows][:, :, columns]


def test_anchors_are_translations_on_a_circle_of_an_eighth_of_the_side():
    x = images()
    paths = closed_paths(x)
    assert paths.shape == (2, 9, 3, 32, 32)
    moves = [(4, 0), (3, 3), (0, 4), (-3, 3), (-4, 0), (-3, -3), (0, -4), (3, -3), (4, 0)]
    for image, path in zip(x, paths, strict=True):
        for (right, down), point in zip(moves, path, strict=True):
            assert torch.equal(point, moved(image, right, down))


@pytest.mark.parametrize(("side", "radius"), [(8, 1), (16, 2), (64, 8)])
def test_the_radius_goes_with_the_side(side, radius):
    x = images(side)
    assert torch.equal(closed_paths(x)[:, 0], torch.stack([moved(image, radius, 0) for image in x]))


def test_a_closed_path_ends_where_it_begins_on_the_same_image():
    paths = closed_paths(images())
    assert torch.equal(paths[:, 0], paths[:, -1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (images()[0], "images must be a tensor of floating point"),
        (images().mul(255).byte(), "got torch.uint8"),
        (images(2), "images of 2 x 2 pixels are too small"),
    ],
)
def test_what_makes_no_path_around_images(given, message):
    with pytest.raises(AffscoreError, match=message):
        closed_paths(given)


def test_anchors_are_as_symmetric_as_the_circle():
    pixel = torch.zeros(1, 1, 33, 33)
    pixel[0, 0, 16, 16] = 1
    where = [tuple(one.nonzero()[0].tolist()) for one in closed_paths(pixel)[0, :, 0]]
    moves = [(x - 16, y - 16) for y, x in where]
    assert set(moves) == {(-x, y) for x, y in moves} == {(x, -y) for x, y in moves}
    assert moves[1][1] > 0  # down
