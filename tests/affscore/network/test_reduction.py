import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore.errors import AffscoreError
from affscore.network import reduce

NAMES = ("mean", "sum", "flatten", "sample", "published")


def positions_of(image, axis):
    """Every position of one image (C somewhere): index tuples without the channel axis, row by row."""
    return list(itertools.product(*[range(size) for i, size in enumerate(image.shape) if i != axis]))


def channels_at(image, axis, position):
    return np.array([image[(*position[:axis], c, *position[axis:])] for c in range(image.shape[axis])])


def naive(features, images, channel_axis, name, chosen=None):
    """The definition, one image and one number after the other."""
    parts = len(features) // images
    result = []
    for i in range(images):
        windows = [features[i * parts + k] for k in range(parts)]
        axis = channel_axis - 1
        if name == "flatten" or (parts == 1 and windows[0].ndim == 1):
            result.append(np.concatenate([window.reshape(-1) for window in windows]))
        elif name == "published":
            stack = windows[0] if parts == 1 else np.stack(windows)
            result.append(np.array([stack[j].mean() for j in range(len(stack))]))
        else:
            vectors = [channels_at(w, axis, position) for w in windows for position in positions_of(w, axis)]
            result.append(
                {"mean": np.mean, "sum": np.sum}[name](vectors, axis=0) if name != "sample" else vectors[chosen[i]]
            )
    return np.array(result)


@st.composite
def feature_maps(draw):
    """Features of several images, the channel axis, and how many positions an image has."""
    images, parts = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 3]))
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = draw(st.integers(1, len(shape)))
    values = np.random.default_rng(draw(st.integers(0, 999))).standard_normal((images * parts, *shape))
    features = torch.from_numpy(values)
    if draw(st.booleans()) and features.ndim == 4:
        features = features.to(memory_format=torch.channels_last)
    return features, images, axis, parts * int(np.prod(shape)) // shape[axis - 1]


@given(feature_maps(), st.sampled_from(NAMES), st.integers(0, 999))
def test_reductions_are_their_definitions(made, name, seed):
    features, images, axis, count = made
    chosen = np.random.default_rng(seed).integers(0, count, images)
    asked = []

    def choose(positions):
        asked.append(positions)
        return torch.from_numpy(chosen)[:, None]

    reduced = reduce(features, images, axis, name, choose)
    np.testing.assert_allclose(reduced, naive(features.numpy(), images, axis, name, chosen), rtol=1e-12, atol=1e-12)
    assert asked in ([], [count])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 1), (4, 3, 1, 1), (4, 1, 1, 3), (4, 3, 5), (4, 3, 2, 2), (8, 3, 2)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_the_result_does_not_change_when_the_features_are_overwritten(name, shape, dtype):
    features = torch.randn(shape).to(dtype)
    reduced = reduce(features, 4, 1, name, lambda count: torch.zeros(4, dtype=torch.long))
    kept = reduced.clone()
    features.zero_()
    assert torch.equal(reduced, kept)
    assert kept.any()
    assert reduced.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


def test_published_averages_over_all_but_the_first_two_axes_wherever_the_channels_are():
    tokens = torch.randn(2, 5, 7)
    torch.testing.assert_close(reduce(tokens, 2, 2, "published"), tokens.mean(dim=2))
    maps = torch.randn(2, 5, 6, 7)
    torch.testing.assert_close(reduce(maps, 2, 3, "published"), maps.mean(dim=(2, 3)))
    torch.testing.assert_close(reduce(maps, 2, 1, "published"), reduce(maps, 2, 1, "mean"))


@pytest.mark.parametrize("shape", [(5, 3), (3, 2, 2), (0, 3), ()])
def test_features_that_are_not_parts_of_the_images(shape):
    with pytest.raises(AffscoreError, match="must count the 4 samples, or parts of them"):
        reduce(torch.zeros(shape), 4, 1, "mean")


def test_unknown_reduction():
    with pytest.raises(
        AffscoreError, match="must be one of mean, sum, flatten, sample, positions, published, got 'median'"
    ):
        reduce(torch.zeros(2, 3), 2, 1, "median")
