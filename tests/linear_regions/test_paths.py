"""Paths around images, at random, and within a class."""

import numpy as np
import pytest
import torch

from affscore import AffscoreError
from affscore.linear_regions import class_paths, closed_paths, open_paths, random_directions


def _smaller_and_smaller():
    widths = iter(range(32, 0, -1))
    return lambda x: x[..., : next(widths)]


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
        ((None,), "images must be a tensor or an array of numbers, got NoneType"),
        ((images() > 0.5,), "images must hold real numbers, got torch.bool"),
        ((images(), 8, float("nan")), "radius must be a finite number from 0 to 32, got nan"),
        ((images(), 8, float("inf")), "radius must be a finite number"),
        ((images(), 8, "a"), "radius must be a finite number from 0 to 32, got 'a'"),
        ((images(), 8, -2), "radius must be a finite number"),
        ((images(), 8, 1e9), "radius must be a finite number from 0 to 32"),
        ((images(), 8, 4, 3), "prepare must be a function of a tensor of images: TypeError"),
        ((images(), 8, 4, lambda x: None), "prepare must return a tensor of 2 prepared images, got type NoneType"),
        ((images(), 8, 4, lambda x: x[:1]), r"prepare must return a tensor of 2 .* got shape \(1, 3, 32, 32\)"),
        ((images(), 8, 4, lambda x: 1 / 0), "prepare must be a function .* ZeroDivisionError"),
        ((images(), 8, 4, _smaller_and_smaller()), "prepare must make one shape of all images"),
    ],
)
def test_what_makes_no_path_around_images(arguments, message):
    with pytest.raises(AffscoreError, match=message):
        closed_paths(*arguments)


@pytest.mark.parametrize(("anchors", "radius"), [(6, 5), (12, 5), (6, 7), (8, 4), (24, 4)])
def test_anchors_are_as_symmetric_as_the_circle(anchors, radius):
    pixel = torch.zeros(1, 1, 33, 33)
    pixel[0, 0, 16, 16] = 1
    where = [tuple(one.nonzero()[0].tolist()) for one in open_paths(pixel, anchors, radius)[0, :, 0]]
    moves = [(x - 16, y - 16) for y, x in where]
    assert set(moves) == {(-x, y) for x, y in moves} == {(x, -y) for x, y in moves}
    assert moves[1][1] > 0  # down


def test_arrays_and_lists_are_taken_as_tensors_are():
    x = images(8)
    for kind in (torch.Tensor.numpy, torch.Tensor.tolist):
        torch.testing.assert_close(closed_paths(kind(x)), closed_paths(x), check_dtype=False)
        assert torch.equal(random_directions(kind(x), 1.0), random_directions(x, 1.0))
        expected = class_paths(x, [0, 0], 3)
        torch.testing.assert_close(class_paths(kind(x), [0, 0], 3), expected, check_dtype=False)


def test_random_directions_have_their_length_and_are_uniform():
    starts = torch.randn(4000, 3, dtype=torch.float64)
    paths = random_directions(starts, length=2.0, seed=3)
    assert torch.equal(paths[:, 0], starts)
    ways = paths[:, 1] - paths[:, 0]
    torch.testing.assert_close(ways.norm(dim=1), torch.full((4000,), 2.0, dtype=torch.float64))
    np.testing.assert_allclose(ways.T @ ways / 4000, 4 / 3 * np.eye(3), atol=0.12)  # five standard errors
    assert torch.equal(random_directions(starts, 2.0, seed=3), paths)
    assert not torch.equal(random_directions(starts, 2.0, seed=4), paths)


@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16, torch.float32])
def test_random_directions_are_in_double_precision(dtype):
    starts = torch.full((3, 4), 1e4, dtype=dtype)
    paths = random_directions(starts, 1e5)
    assert torch.equal(paths[:, 0], starts.double())
    np.testing.assert_allclose((paths[:, 1] - paths[:, 0]).norm(dim=1), 1e5)


@pytest.mark.parametrize("length", [0, -1.0, float("nan"), float("inf"), "a", None, True, torch.ones(2)])
def test_a_direction_needs_a_length(length):
    with pytest.raises(AffscoreError, match="length must be a finite number from 1e-140"):
        random_directions(torch.zeros(2, 3), length)


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        (torch.zeros(2, 3, dtype=torch.long), "of finite numbers of floating point, got torch.int64"),
        (torch.zeros(2, 3, dtype=torch.uint8), "of finite numbers of floating point, got torch.uint8"),
        (torch.zeros(2, 3) > 1, "starts must hold real numbers, got torch.bool"),
        (torch.full((2, 3), torch.nan), "of finite numbers of floating point"),
        (torch.zeros(3), r"got torch.float32 of shape \(3,\)"),
        (None, "starts must be a tensor or an array of numbers, got NoneType"),
        (torch.full((2, 3), 1e20), "length 5 is lost to rounding"),
    ],
)
def test_starts_from_which_no_direction_leads(starts, message):
    with pytest.raises(AffscoreError, match=message):
        random_directions(starts, 5)


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
    with pytest.raises(AffscoreError, match=r"got the shape \(3, 2\) and 2 labels"):
        class_paths(torch.zeros(3, 2), [0, 0], 1)
    with pytest.raises(AffscoreError, match="all inputs of class 7 are equal"):
        class_paths(torch.zeros(3, 2), [7, 7, 7], 1)


def test_equal_inputs_of_a_class_are_no_pair():
    inputs = torch.tensor([0.0, 0.0, 0.0, 1.0])[:, None]
    paths = class_paths(inputs, [0, 0, 0, 0], count=50)
    assert (paths[:, 0] != paths[:, 1]).all()


def test_labels_of_many_kinds():
    inputs, labels = torch.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]
    expected = class_paths(inputs, labels, 9)
    for same in (torch.tensor(labels), list(torch.tensor(labels)), np.array(labels), "aabbcc", tuple(labels)):
        assert torch.equal(class_paths(inputs, same, 9), expected)


@pytest.mark.parametrize("labels", [None, torch.zeros(3, 1), torch.eye(3), np.ones((3, 1)), torch.tensor(1), [[0]] * 3])
def test_what_is_no_label(labels):
    with pytest.raises(AffscoreError, match="labels must be one for each input"):
        class_paths(torch.zeros(3, 2), labels, 1)
