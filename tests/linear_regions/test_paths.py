"""Paths around images, at random, and within a class."""

import numpy as np
import pytest
import torch

from affscore import AffscoreError
from affscore.linear_regions import class_paths, closed_paths, open_paths, random_directions


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
    assert torch.equal(closed_paths(x), closed_paths(x, radius=radius))
    assert torch.equal(closed_paths(x)[:, 0], torch.stack([moved(image, radius, 0) for image in x]))


def test_a_closed_path_ends_where_it_begins_on_the_same_image():
    paths = closed_paths(images(), anchors=5, radius=3)
    assert paths.shape[1] == 6
    assert torch.equal(paths[:, 0], paths[:, -1])
    assert torch.equal(open_paths(images(), anchors=5, radius=3), paths[:, :-1])


def test_each_anchor_is_prepared_once():
    calls = []

    def normalise(x):
        calls.append(len(x))
        return (x - 0.5) / 0.25

    paths = closed_paths(images(), prepare=normalise)
    assert calls == [2] * 8
    torch.testing.assert_close(paths, (closed_paths(images()) - 0.5) / 0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((images()[0],), "images must be a tensor of floating point"),
        ((images().mul(255).byte(),), "got torch.uint8"),
        ((images(), 2), "anchors must be an integer"),
        ((images(), 8, 0.3), "neighbours among 8 anchors are moved by the same"),
        ((images(2),), "neighbours among 8 anchors"),
    ],
)
def test_what_makes_no_path_around_images(arguments, message):
    with pytest.raises(AffscoreError, match=message):
        closed_paths(*arguments)


def test_random_directions_have_their_length_and_are_uniform():
    starts = torch.randn(4000, 3, dtype=torch.float64)
    paths = random_directions(starts, length=2.0, seed=3)
    assert torch.equal(paths[:, 0], starts)
    ways = paths[:, 1] - paths[:, 0]
    torch.testing.assert_close(ways.norm(dim=1), torch.full((4000,), 2.0, dtype=torch.float64))
    np.testing.assert_allclose(ways.T @ ways / 4000, 4 / 3 * np.eye(3), atol=0.12)  # five standard errors
    assert torch.equal(random_directions(starts, 2.0, seed=3), paths)
    assert not torch.equal(random_directions(starts, 2.0, seed=4), paths)


@pytest.mark.parametrize("length", [0, -1.0, float("nan"), float("inf")])
def test_a_direction_needs_a_length(length):
    with pytest.raises(AffscoreError, match="length must be a positive number"):
        random_directions(torch.zeros(2, 3), length)


def test_pairs_of_a_class():
    inputs = torch.arange(10.0)[:, None]
    labels = torch.tensor([0, 1, 0, 1, 2, 0, 1, 3, 3, 0])  # class 2 has one member
    paths = class_paths(inputs, labels, count=300)[..., 0].long()
    assert (paths[:, 0] != paths[:, 1]).all()
    assert torch.equal(labels[paths[:, 0]], labels[paths[:, 1]])
    assert set(paths[:, 0].tolist()) == set(range(10)) - {4}
    assert torch.equal(class_paths(inputs, labels, 300)[..., 0].long(), paths)
    assert torch.equal(class_paths(inputs, [str(label) for label in labels.tolist()], 300)[..., 0].long(), paths)


def test_no_pair_of_a_class():
    with pytest.raises(AffscoreError, match="no class has two inputs"):
        class_paths(torch.zeros(3, 2), [0, 1, 2], 1)
    with pytest.raises(AffscoreError, match="got 3 inputs and 2 labels"):
        class_paths(torch.zeros(3, 2), [0, 0], 1)
