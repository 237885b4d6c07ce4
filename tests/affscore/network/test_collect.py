import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from affscore.errors import AffscoreError
from affscore.network.collect import Collector
from affscore.network.reduction import reduce
from affscore.network.scoring import joined
from affscore.options import Options
from affscore.recorder import recording
from tests.affscore.recorder import hard_networks as hard
from tests.affscore.recorder.seen import seen_in

REDUCTIONS = ("mean", "sum", "flatten", "sample", "published")


def collected(model, images, reduction="mean", order="activate-first", batch_size=8, sparsity=True, seed=0):
    collector = Collector(
        Options(reduction=reduction, order=order, criteria=["sparsity"] if sparsity else [], seed=seed)
    )
    model.eval()
    with torch.no_grad(), recording(model, collector) as recorder:
        for chunk in images.split(batch_size):
            collector.start(len(chunk))
            recorder.start(chunk)
            model(chunk)
    return collector.collected()


def apply(name, x):
    return getattr(torch, name)(x) if hasattr(torch, name) else getattr(F, name)(x)


NETWORKS = [hard.ReusedReLU, hard.InPlaceSum, hard.InPlaceOnAView, hard.ChannelsLastMLP, hard.SqueezeAndExcite]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "flatten", "published"])
def test_pairs_are_the_reduced_copies(network, reduction, images):
    model = network()
    listener, _ = seen_in(model, images)
    pairs = collected(model, images, reduction)
    assert len(pairs) == len(listener.calls)
    for pair, call, x, y in zip(pairs, listener.calls, listener.inputs, listener.outputs, strict=True):
        assert pair.call == call
        # the sums of a view and of its copy may run in another order
        torch.testing.assert_close(pair.x, reduce(x, len(images), call.channel_axis, reduction), rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(pair.y, reduce(y, len(images), call.channel_axis, reduction), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reduce_first_applies_the_activation_to_the_reduced_input(network, reduction, images):
    pairs = collected(network(), images, reduction, "reduce-first")
    for pair in pairs:
        assert torch.equal(pair.y, apply(pair.call.activation, pair.x))
    assert not all(torch.equal(pair.y, pair.x) for pair in pairs)


def test_sample_gives_the_channels_of_one_position(images):
    model = hard.ChannelsLastMLP()
    listener, _ = seen_in(model, images)
    pair = collected(model, images, "sample")[0]
    for image, vector in zip(listener.inputs[0], pair.x, strict=True):
        assert (image.reshape(-1, image.shape[-1]) == vector).all(dim=1).any()


@pytest.mark.parametrize("batch_size", [1, 3, 7])
def test_the_positions_of_sample_do_not_depend_on_the_batch_size(batch_size, images):
    class PixelNumbers(nn.Module):
        """Every pixel knows where it is, exactly: 1, 2, 3, ..."""

        def forward(self, x):
            return torch.relu(torch.arange(1.0, 65.0).view(1, 1, 8, 8) + 0 * x)

    whole = collected(PixelNumbers(), images, "sample")[0].x
    assert torch.equal(collected(PixelNumbers(), images, "sample", batch_size=batch_size)[0].x, whole)
    assert len(set(whole[:, 0].tolist())) > 1
    assert not torch.equal(collected(PixelNumbers(), images, "sample", seed=1)[0].x, whole)


def test_sample_reaches_every_position():
    class PixelNumbers(nn.Module):
        def forward(self, x):
            return torch.relu(torch.arange(4.0).view(1, 1, 2, 2) + 0 * x)

    drawn = collected(PixelNumbers(), torch.zeros(2000, 1, 2, 2), "sample", batch_size=500)[0].x
    shares = np.bincount(drawn[:, 0].int().numpy(), minlength=4) / 2000
    np.testing.assert_allclose(shares, 0.25, atol=0.04)  # four standard errors


@pytest.mark.parametrize("batch_size", [3, 8])
def test_entries_next_to_zero_are_counted_over_the_full_feature_maps(batch_size, images):
    model = hard.InPlaceSum()
    listener, _ = seen_in(model, images)
    for pair, x, y in zip(
        collected(model, images, "sum", batch_size=batch_size), listener.inputs, listener.outputs, strict=True
    ):
        assert pair.entries == x.numel() == 8 * 3 * 8 * 8
        assert pair.sparse == (int((x.abs() <= 1e-3).sum()), int((y.abs() <= 1e-3).sum()))
        assert pair.sparse[1] > pair.entries / 10
    assert collected(model, images, sparsity=False)[0].sparse == (0, 0)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_a_network_whose_activations_depend_on_the_image_is_refused(first, second, images):
    with pytest.raises(AffscoreError, match="must run the same activations for every sample"):
        collected(hard.Counting(first, second), images, batch_size=4)


def test_another_order_of_layers_is_refused(images):
    def swapping(net, x):
        net.passes += 1
        y = net.first(x)
        return net.relu(y) if net.passes % 2 else net.other(y)

    network = hard.Net(swapping, first=hard.conv(), relu=nn.ReLU(), other=nn.ReLU(), passes=0)
    with pytest.raises(
        AffscoreError, match="activation 1 was relu of layer 'relu', and is relu of layer 'other' for these samples"
    ):
        collected(network, images, batch_size=4)


class TokensFirst(nn.Module):
    def forward(self, x):
        return torch.relu(x.flatten(2).permute(2, 0, 1)[:7])  # (tokens, N, C)


class TokensLater(nn.Module):
    def forward(self, x):
        return torch.relu(x.flatten(2).permute(0, 2, 1)[:, :7])  # (N, tokens, C)


@pytest.mark.parametrize("batch_size", [2, 4, 8])
def test_the_axis_of_the_images_may_come_second(images, batch_size):
    (second,), (first,) = (collected(model, images, batch_size=batch_size) for model in (TokensFirst(), TokensLater()))
    torch.testing.assert_close(second.x, first.x)
    torch.testing.assert_close(second.y, first.y)


def test_pytorchs_encoder_layer_scores_the_same_with_tokens_first():
    def encoder(batch_first):
        torch.manual_seed(0)
        return nn.TransformerEncoderLayer(12, 2, 20, batch_first=batch_first).eval()

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = encoder(batch_first=False)

        def forward(self, x):
            return self.layer(x.transpose(0, 1)).transpose(0, 1)

    tokens = torch.randn(8, 8, 12, generator=torch.Generator().manual_seed(0))  # as many tokens as sequences
    (ours,), (expected,) = collected(Wrapped(), tokens), collected(encoder(batch_first=True), tokens)
    torch.testing.assert_close(ours.x, expected.x)
    torch.testing.assert_close(ours.y, expected.y)


def test_features_that_have_lost_their_images_are_named(images):
    class Shorter(nn.Module):
        def forward(self, x):
            return torch.relu(x.flatten(2).permute(2, 0, 1).flatten(0, 1)[1:])  # (tokens N - 1, C)

    with pytest.raises(AffscoreError, match=r"relu of layer '\(root\)': the first axis of a feature map must count"):
        collected(Shorter(), images)


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(0, 40))
def test_rows_are_those_that_came_in_their_order(sizes, room):
    parts, rows = [torch.rand(size, 3) for size in sizes], torch.empty(0)
    for part in parts:
        rows = joined(rows, part, room)
    assert len(rows) == sum(sizes)
    if parts:
        assert torch.equal(rows, torch.cat(parts))


@pytest.mark.parametrize("width", [1, 4])
def test_rows_of_another_length_are_refused(width):
    with pytest.raises(AffscoreError, match="all samples must have the same size"):
        joined(joined(torch.empty(0), torch.zeros(2, 3)), torch.zeros(2, width))
