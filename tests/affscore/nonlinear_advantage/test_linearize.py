"""Which channels become linear under each criterion, and the accuracy before and after."""

import numpy as np
import pytest
import torch
from torch import nn

import affscore
from affscore import AffscoreError, AffscoreWarning, affinity_score, linearize
from affscore.nonlinear_advantage import active_channels, average_path_length, slopes, to_prelu
from affscore.nonlinear_advantage.linearize import channel_scores
from tests.affscore.linear_regions.architectures import Written


def network(width=4):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))


def data(n=80):
    x = torch.randn(n, 3, generator=torch.Generator().manual_seed(1))
    return x, (x[:, 0] > 0).long()


@pytest.mark.parametrize("function", [torch.relu, torch.nn.functional.gelu, torch.square, lambda x: -x])
def test_the_score_of_a_channel_is_the_affinity_score_of_its_two_clouds(function):
    x = torch.randn(60, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 3 + torch.arange(5) - 2
    expected = [float(affinity_score(x[:, [c]], function(x)[:, [c]])) for c in range(5)]
    np.testing.assert_allclose(channel_scores(x, function(x)), expected, atol=1e-9)


def test_near_1_no_digits_are_lost():
    x = torch.linspace(-1, 1, 100, dtype=torch.float64)[:, None]
    bent = x + 1e-9 * x.square()
    assert 0 < 1 - channel_scores(x, bent)[0] < 1e-8
    assert channel_scores(x, 2 * x + 1)[0] == pytest.approx(1, abs=1e-14)


def test_affinity_by_hand():
    net = network()
    x, labels = data()
    result = linearize(net, (x, labels), keep=0.5, by="affinity")
    first = net[0](x)
    second = net[2](first.relu())
    expected = np.concatenate([channel_scores(one.detach(), one.detach().relu()) for one in (first, second)])
    np.testing.assert_allclose(result.kept["value"], expected, atol=1e-6)
    order = np.argsort(-np.where(np.isnan(expected), -1, expected), kind="stable")
    assert sorted(np.flatnonzero(~result.kept["kept"])) == sorted(order[:4])
    assert result.kept[["layer", "call", "channel"]].values.tolist() == [[n, 0, c] for n in "13" for c in range(4)]
    right = (net(x).argmax(1) == labels).double().mean().item()
    after = (result.model(x).argmax(1) == labels).double().mean().item()
    assert (result.accuracy_before, result.accuracy_after) == (pytest.approx(right), pytest.approx(after))


def test_images_are_averaged_over_positions():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
    x = torch.randn(40, 1, 6, 6)
    net(x)
    before = net[0](x).detach()
    expected = channel_scores(before.mean((2, 3)), before.relu().mean((2, 3)))
    np.testing.assert_allclose(linearize(net, x).kept["value"], expected, atol=1e-5)


@pytest.mark.parametrize("by", ["affinity", "random"])
@pytest.mark.parametrize(("keep", "kept"), [(0.0, 0), (0.25, 3), (0.5, 5), (1.0, 10)])
def test_the_share_that_is_kept_and_without_any_the_network_is_affine(by, keep, kept):
    result = linearize(network(5), data(), keep=keep, by=by)
    assert result.kept["kept"].sum() == active_channels(result.model)["active"].sum() == kept
    assert result.kept.equals(linearize(network(5), data(), keep=keep, by=by).kept)
    counts = result.kept.groupby("layer")["kept"].sum().tolist()
    assert counts == active_channels(result.model)["active"].tolist()
    assert average_path_length(result.model, torch.zeros(2, 3)) == pytest.approx(kept / 5)
    if not kept:
        torch.testing.assert_close(result.model(data()[0]), nn.Sequential(*network(5)[::2])(data()[0]))


def test_slopes_nearest_to_1_on_both_sides():
    net = to_prelu(network())
    net[1].weight.data = torch.tensor([0.0, 0.9, 1.05, 1.6])
    net[3].weight.data = torch.tensor([-0.5, 0.8, 0.3, 1.0])
    result = linearize(net, data(), keep=0.5, by="slope")
    assert result.kept["kept"].tolist() == [True, False, False, True, True, False, True, False]
    assert result.model[1].weight.tolist() == pytest.approx([0.0, 1.0, 1.0, 1.6])
    assert result.model[1].frozen.tolist() == [False, True, True, False]
    assert net[1].weight.tolist() == pytest.approx([0.0, 0.9, 1.05, 1.6])


@pytest.mark.parametrize("by", ["slope", "affinity", "random"])
def test_channels_that_are_linear_count_first(by):
    net = to_prelu(network())
    net[1].frozen[:] = True
    net[3].weight.data[0] = 0.2
    result = linearize(net, data(), keep=0.5, by=by)
    assert result.kept["kept"].tolist() == [False] * 4 + [True] * 4
    assert result.accuracy_before == result.accuracy_after
    fewer = linearize(net, data(), keep=0.75, by=by)
    assert fewer.kept["kept"].sum() == 4
    assert any("only 4 of 8 channels" in note for note in fewer.notes)


def test_a_channel_that_is_never_positive_is_made_linear_last():
    net = network()
    net[0].bias.data[2] = -100
    for channel in (0, 1, 3):
        net[0].bias.data[channel] = 0
    net[2].bias.data[:] = 0
    result = linearize(net, data(), keep=0.125)
    assert np.flatnonzero(np.isnan(result.kept["value"])).tolist() == [2]
    assert np.flatnonzero(result.kept["kept"]).tolist() == [2]
    assert "1 of 8 channels have no score (constant input or output), 0 of them were made linear" in result.notes
    without = linearize(net, data(), keep=0)
    assert any("1 of them were made linear" in note for note in without.notes)
    assert not any("no score" in note for note in linearize(net, data(), by="random").notes)


@pytest.mark.parametrize("act", [nn.GELU(), Written(nn.functional.gelu)])
def test_gelu_with_slopes(act):
    torch.manual_seed(0)
    net = to_prelu(nn.Sequential(nn.Linear(3, 4), act, nn.Linear(4, 2)), data()[0])
    (unit,) = slopes(net).values()
    unit.weight.data = torch.tensor([0.0, 0.5, 0.9, 1.0])
    x = net[0](data()[0]).detach()
    y = torch.lerp(nn.functional.gelu(x), x, unit.weight.detach())
    np.testing.assert_allclose(linearize(net, data()).kept["value"], channel_scores(x, y), atol=1e-5)


def test_the_network_and_the_random_state_stay_as_they_are():
    net = network().train()
    state, weights = torch.random.get_rng_state(), [one.clone() for one in net.parameters()]
    result = linearize(net, torch.utils.data.TensorDataset(*data()))
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(torch.equal(one, other) for one, other in zip(net.parameters(), weights, strict=True))
    assert net.training
    assert not slopes(net)
    assert result.model.training
    assert 0 <= result.accuracy_after <= 1


@pytest.mark.slow
def test_a_named_network_and_data():
    result = linearize("mini:digitsnet", "digits", keep=0.9, images=256)
    assert result.accuracy_before > 0.95
    assert result.accuracy_before == affscore.signature(
        "mini:digitsnet", "digits", n=256, images=256, criteria=False
    ).metadata["accuracy"]  # fmt: skip
    called_twice = result.kept.loc[result.kept["layer"] == "blocks.0.relu", "call"]
    assert set(called_twice) == {0, 1}


@pytest.mark.parametrize(
    ("net", "options", "message"),
    [
        (network(), {"keep": 1.5}, "keep must be a share"),
        (network(), {"by": "size"}, "by must be one of"),
        (network(), {"by": "slope"}, r"it has none.*to_prelu"),
        (to_prelu(network()), {"by": "slope"}, r"all are 0.*SlopePenalty"),
        (nn.Sequential(nn.Linear(3, 4), nn.SiLU()), {}, "no ReLU or GELU"),
        (Written(lambda x, first: first((x.relu() / 0).relu()), nn.Linear(3, 2)), {}, r"'\(root\)', call 1: the"),
    ],
)
def test_what_is_refused(net, options, message):
    with pytest.raises(AffscoreError, match=message):
        linearize(net, data(), **options)


def test_what_the_surgery_leaves_is_warned_of_once():
    layers = nn.Linear(3, 4), nn.Linear(4, 2), nn.ReLU(), nn.ReLU()
    net = Written(lambda x, first, second, act, other: second(act((y := first(x)) * other(y))), *layers)
    with pytest.warns(AffscoreWarning, match="1 call of ReLU or GELU stayed") as given:
        result = linearize(net, data())
    assert (len(given), given[0].filename) == (1, __file__)
    assert sum("stayed" in note for note in result.notes) == 1


def test_what_was_assumed_of_images_is_said():
    torch.manual_seed(0)
    flat = nn.Sequential(nn.Flatten(), nn.Linear(192, 8), nn.ReLU(), nn.Linear(8, 10))
    found = affscore.linearize(flat, "digits", by="random", images=64)
    assert any("normalised as for ImageNet" in note for note in found.notes)
    grey = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
    with pytest.raises(AffscoreError, match=r"give it an attribute preprocessing = affscore\.models\.Preprocessing"):
        affscore.linearize(grey, "digits", by="random", images=64)


def test_without_labels_there_is_no_accuracy_and_other_activations_are_named():
    mixed = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
    found = linearize(mixed, data()[0], keep=0.0, by="random")
    assert np.isnan([found.accuracy_before, found.accuracy_after]).all()
    assert any("no accuracy" in note for note in found.notes)
    assert any("tanh stay as they are" in note for note in found.notes)
    assert not found.kept["kept"].any()
