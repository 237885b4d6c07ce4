import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from affscore import AffscoreError, affinity_score, signature
from affscore.network import reduce
from affscore.network.reduction import chosen_positions

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


@pytest.mark.parametrize("shape", [(5, 3), (3, 2, 2), (0, 3), ()])
def test_features_that_are_not_parts_of_the_images(shape):
    with pytest.raises(AffscoreError, match="must count the 4 samples, or parts of them"):
        reduce(torch.zeros(shape), 4, 1, "mean")


# Several positions of each sample as points of the clouds ----------------------------------------


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_positions_are_drawn_without_replacement(each, count, seed):
    uniform = np.random.default_rng(seed).random((50, each))
    drawn = chosen_positions(uniform, count).numpy()
    assert drawn.shape == (50, min(each, count))
    assert drawn.min() >= 0
    assert drawn.max() < count
    assert all(len(set(row)) == len(row) for row in drawn)


def test_every_position_and_every_pair_is_equally_likely():
    drawn = chosen_positions(np.random.default_rng(0).random((60_000, 2)), 4).numpy()
    pairs = drawn[:, 0] * 4 + drawn[:, 1]
    counts = np.bincount(pairs, minlength=16).reshape(4, 4)
    assert counts.diagonal().sum() == 0
    assert np.abs(counts[~np.eye(4, dtype=bool)] / 60_000 - 1 / 12).max() < 0.006  # five standard deviations


def maps(images=32, channels=3, side=4):
    return torch.randn(images, channels, side, side, generator=torch.Generator().manual_seed(1))


def test_one_position_is_the_reduction_sample():
    network = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU())
    torch.manual_seed(0)
    samples = torch.randn(64, 3, 8, 8)
    one = signature(network, samples, n=64, reduction="positions", positions=1, criteria=False)
    sample = signature(network, samples, n=64, reduction="sample", criteria=False)
    np.testing.assert_array_equal(one.scores, sample.scores)


def test_all_positions_are_the_points_of_the_feature_map():
    x = maps()
    found = signature(nn.ReLU(), x, n=32, reduction="positions", positions=16, criteria=False)
    points = x.movedim(1, -1).reshape(-1, 3)
    assert found.table["n"].tolist() == [512]
    assert found.scores[0] == pytest.approx(affinity_score(points, points.clamp(min=0)).value, abs=1e-9)
    assert found.metadata["images"] == 32
    assert found.metadata["positions"] == 16


def test_an_activation_with_fewer_positions_gives_each_once():
    network = nn.Sequential(
        nn.Conv2d(3, 5, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(5, 4), nn.ReLU()
    )
    found = signature(network, torch.randn(64, 3, 8, 8), n=64, reduction="positions", positions=5, criteria=False)
    assert found.table["n"].tolist() == [320, 64]


def test_what_is_said_of_n_counts_samples_and_the_bias_is_that_of_the_points():
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 40, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(40, 40), nn.ReLU()
    )
    samples, options = torch.randn(60, 3, 8, 8), {"n": 64, "criteria": False}
    found = signature(network, samples, reduction="positions", **options)
    alone = signature(network, samples, reduction="sample", **options)
    for one in (found, alone):
        assert any(note.startswith("n is 60: no more images were used (64 make a batch") for note in one.notes)
        assert any("60 images in a batch are few for " in note for note in one.notes)
    assert found.expected_bias[1] == alone.expected_bias[1]  # one position
    assert found.expected_bias[0] < 0.5 * alone.expected_bias[0]


def test_the_interval_draws_images_and_not_points():
    # all points of an image are the same: sixteen times the points, and no more images
    x = torch.randn(64, 3, 1, 1, generator=torch.Generator().manual_seed(0)).expand(64, 3, 4, 4).contiguous()
    found = signature(nn.ReLU(), x, n=64, reduction="positions", positions=16, criteria=False)
    costs = found.sample_costs[0]
    assert costs.shape == (64, 2)
    alone = signature(nn.ReLU(), x[:, :, :1, :1].contiguous(), n=64, reduction="sample", criteria=False)
    low, high = found.mean_interval()
    expected = alone.mean_interval()
    assert high - low == pytest.approx(expected[1] - expected[0], rel=0.6)
    assert high - low > 0.5 * (expected[1] - expected[0])


@pytest.mark.slow
def test_above_2048_points_the_coupling_is_the_pairing_and_that_is_said():
    x = torch.randn(512, 3, 4, 4)
    few, many = (signature(nn.ReLU(), x, reduction="positions", positions=k, criteria=False) for k in (4, 5))
    assert (few.metadata["coupling"], many.metadata["coupling"]) == ("exact", "paired")
    assert few.table["n"].max() == 2048
    assert any("lower bounds" in note for note in many.notes)
    assert not any("lower bounds" in note for note in few.notes)
    assert any("depend on each other" in note for note in few.notes)
    assert many.table["paired"].equals(many.table["score"])
    assert many.table["pairing_optimal"].isna().all()
