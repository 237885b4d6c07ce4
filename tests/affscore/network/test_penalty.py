"""The penalty sees the scores of a signature, its gradients are right, and training with it moves the scores."""

import copy
import io
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

import affscore
from affscore import AffinityPenalty, AffscoreError
from affscore.network.passes import Watched
from tests.affscore.network.test_padding import net as padded_net
from tests.affscore.network.test_padding import texts
from tests.affscore.network.trainings import samples, small
from tests.affscore.recorder.hard_networks import Net, module_class

Turn = module_class("Turn", lambda x: torch.sin(5 * x))  # its best coupling is not the pairing


def mixed(dtype=torch.float32):
    """In place, functional, from a formula, one module called twice, and channels last."""

    def run(net, x):
        x = net.relu(net.more(net.relu(net.convolution(x))))
        x = F.gelu(net.tokens(x.flatten(2).transpose(1, 2)))
        x = F.relu_(net.tokens.weight.mean() + x)
        return net.last((torch.sigmoid(x) * x).mean(dim=1))

    torch.manual_seed(0)
    parts = {"convolution": nn.Conv2d(1, 6, 3, padding=1), "relu": nn.ReLU(inplace=True), "more": nn.Conv2d(6, 5, 3)}
    return Net(run, **parts, tokens=nn.Linear(5, 7), last=nn.Linear(7, 3)).to(dtype).train()


def images(n=24, dtype=torch.float32):
    return torch.randn(n, 1, 6, 6, generator=torch.Generator().manual_seed(1), dtype=dtype)


def raw_scores(network, x):
    """As a measurement of the network has them."""
    return affscore.track(network, x, n=len(x)).table["raw"].to_numpy()


def gradients(loss, network):
    network.zero_grad()
    loss.backward()
    return [None if weights.grad is None else weights.grad.clone() for weights in network.parameters()]


# The scores ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "x"),
    [
        (mixed, images()),
        pytest.param(lambda: affscore.load_model("mini:resnet18"), torch.randn(16, 1, 32, 32), marks=pytest.mark.slow),
        pytest.param(lambda: affscore.load_model("mini:vit_b_16"), torch.randn(16, 1, 32, 32), marks=pytest.mark.slow),
    ],
    ids=["mixed", "resnet", "vit"],
)
def test_the_scores_are_those_of_a_measurement_of_the_same_batch(build, x):
    network = build()
    network.eval()
    expected = raw_scores(network, x)
    network.training = True  # and not its batch norms, which would see other numbers
    with AffinityPenalty(network, 0.5) as penalty:
        network(x)
        value = penalty().item()
    np.testing.assert_allclose(penalty.scores, expected, atol=1e-10)
    assert value == pytest.approx((expected.mean() - 0.5) ** 2, rel=1e-6)


@pytest.mark.parametrize(
    ("layers", "chosen"), [(["relu"], [0, 1]), ([2], [2]), (["(root)", 0], [2, 3, 4, 0]), (None, [0, 1, 2, 3, 4])]
)
def test_layers(layers, chosen):
    network, x = mixed(), images()
    expected = raw_scores(network, x)
    target = [0.1, 0.2, 0.3, 0.4, 0.5]
    for given in (target, [target[index] for index in chosen]):
        with AffinityPenalty(network, given, weight=3.0, layers=layers) as penalty:
            network(x)
            value = penalty().item()
        np.testing.assert_allclose(penalty.scores, expected[chosen], atol=1e-10)
        assert value == pytest.approx(3 * np.mean((expected - target)[chosen] ** 2), rel=1e-6)


def test_a_signature_of_the_whole_network_is_paired_by_activation():
    network, x = small(), samples()
    with AffinityPenalty(network, affscore.signature(network, x, n=len(x)), layers=["3", "1"]) as penalty:
        network(x)
        assert penalty().item() == pytest.approx(0, abs=1e-12)
        assert penalty.scores[0] != pytest.approx(penalty.scores[1].item(), abs=0.01)


@pytest.mark.parametrize("options", [{"covariance": "empirical"}, {"coupling": "fixed"}])
def test_options(options):
    network, x = small(), samples()
    with AffinityPenalty(network, 0.5, **options) as penalty:
        network(x)
        penalty()
    how = {"coupling": "exact"} if options.get("coupling") == "fixed" else options
    expected = affscore.track(network, x, n=len(x), **how).table["raw"]
    np.testing.assert_allclose(penalty.scores, expected, atol=1e-8)


def test_the_scores_of_a_signature_that_fit_the_coupling_are_taken():
    network, x = nn.Sequential(nn.Linear(5, 6), Turn()).train(), samples()
    signature = affscore.signature(network, x, n=len(x), activations=[Turn])
    assert signature.scores[0] > signature.summary["paired"][0] + 0.01
    found = affscore.multiverse(network, x, n=len(x), reductions="mean", activations=[Turn])
    paired = found.signature(coupling="paired")
    for coupling, targets in (("paired", [signature, paired]), ("fixed", [signature])):
        for target in targets:
            with AffinityPenalty(network, target, coupling=coupling, activations=[Turn]) as penalty:
                network(x)
                assert penalty().item() == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("spoil", [0.0, 1e6])
@pytest.mark.parametrize("how", ["by name", "by position", "in parts"])
def test_padding_does_not_count(spoil, how):
    network, data = padded_net(spoil).train(), texts()
    expected = affscore.signature(network, data, n=24, criteria=False).summary["paired"]
    with AffinityPenalty(network, 0.5) as penalty:
        for part in (slice(10), slice(10, 24)) if how == "in parts" else (slice(24),):
            ids, mask = data["input_ids"][part], data["attention_mask"][part]
            network(ids, mask) if how == "by position" else network(input_ids=ids, attention_mask=mask)
        found = gradients(penalty(), network)
        np.testing.assert_allclose(penalty.scores, expected, atol=1e-6)
        assert all(bool(one.isfinite().all()) for one in found[1:5])
        with pytest.raises(AffscoreError, match="all padding"):
            network(data["input_ids"], torch.zeros_like(data["attention_mask"]))


def test_padding_counts_where_that_is_asked_for():
    network, data = padded_net().train(), texts()
    found = []
    for mask in (None, "attention_mask"):
        with AffinityPenalty(network, 0.5, mask=mask) as penalty, warnings.catch_warnings():
            warnings.simplefilter("error")
            network(**data)
            penalty()
            found.append(penalty.scores[0].item())
    assert found[0] != pytest.approx(found[1], abs=1e-4)


# The gradients ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [0.9, [0.9, 0.2, 0.3, 0.4, 0.9]])
def test_gradients_reach_the_weights_and_are_those_of_finite_differences(target):
    network, x = mixed(torch.float64), images(10, torch.float64)
    penalty = AffinityPenalty(network, target)

    def value(*weights):
        with torch.no_grad():
            for own, given in zip(network.parameters(), weights, strict=True):
                own.copy_(given)
        network(x)
        return penalty().item()

    network(x)
    loss = penalty()
    assert loss.dtype == torch.float64
    found = gradients(loss, network)
    start, generator = [own.detach().clone() for own in network.parameters()], torch.Generator().manual_seed(2)
    for index, gradient in enumerate(found):
        if gradient is None:
            assert index >= 6  # behind the last activation
            continue
        for _ in range(3):
            direction = torch.zeros_like(gradient)
            entry = int(torch.randint(gradient.numel(), (), generator=generator))
            direction.view(-1)[entry] = 1e-5
            ends = [[w + sign * direction if i == index else w for i, w in enumerate(start)] for sign in (1, -1)]
            slope = (value(*ends[0]) - value(*ends[1])) / 2e-5
            assert gradient.view(-1)[entry].item() == pytest.approx(slope, rel=1e-4, abs=1e-7)
    assert sum(gradient is not None and bool(gradient.any()) for gradient in found) >= 5


def test_two_passes_are_one_batch():
    network, x = mixed(), images()
    with AffinityPenalty(network, 0.5) as penalty:
        network(x)
        whole = gradients(penalty(), network)
        scores = penalty.scores
        for part in x.split(10):
            network(part)
        parts = gradients(penalty(), network)
        torch.testing.assert_close(penalty.scores, scores, rtol=0, atol=1e-7)
    for one, other in zip(parts, whole, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("where", ["inside", "around"])
def test_checkpoints_change_nothing(where):
    network, x = small(), samples()
    with AffinityPenalty(network, 0.5) as penalty:
        expected = gradients(network(x).square().mean() + penalty(), network)
        if where == "around":
            with set_checkpoint_early_stop(False):  # the whole forward runs again, and then its pass is complete
                loss = checkpoint(network, x, use_reentrant=False).square().mean() + penalty()
        else:
            hidden, other = network[2].forward, lambda x: checkpoint(hidden, x, use_reentrant=False)
            network[2].forward = other
            loss = network(x).square().mean() + penalty()
        for one, before in zip(gradients(loss, network), expected, strict=True):
            torch.testing.assert_close(one, before)
        with pytest.raises(AffscoreError, match="no forward pass"):
            penalty()  # what ran within backward() is no pass


# The training ------------------------------------------------------------------------------------------


def test_without_weight_the_training_is_the_same_to_the_last_bit():
    trained = []
    for watched in (False, True):
        network, x = small(), samples()
        noise = Net(lambda net, x: x + torch.randn_like(x))  # in evaluation mode, too
        network[2] = nn.Sequential(nn.BatchNorm1d(8), nn.Dropout(), noise, network[2]).train()
        penalty = AffinityPenalty(network, 0.2, weight=0.0) if watched else None
        optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # noise is no mixing of samples
            for _ in range(5):
                optimiser.zero_grad()
                loss = network(x).square().mean()
                (loss + penalty() if penalty else loss).backward()
                optimiser.step()
        trained.append([*network.state_dict().values(), torch.rand(1)])
    for one, other in zip(*trained, strict=True):
        assert torch.equal(one, other)


# What does not count ------------------------------------------------------------------------------------------


def test_evaluations_do_not_count():
    network, x = small(), samples()
    with AffinityPenalty(network, 0.5) as penalty:
        with torch.no_grad():
            network(x)
        network.eval()
        network(x)
        affscore.track(network.train(), x, n=32)
        with pytest.raises(AffscoreError, match="no forward pass since the last call"):
            penalty()
        network(x)
        penalty.reset()
        with pytest.raises(AffscoreError, match="no forward pass since the last call"):
            penalty()


def test_it_leaves_the_network_as_it_was():
    network, x = small(), samples()
    before, expected = dict(vars(network)), network(x)
    with AffinityPenalty(network, 0.5) as penalty:
        assert torch.equal(network(x), expected)
        with pytest.raises(RuntimeError, match="shapes"):
            network(x[:, :2])
        penalty()  # the pass that failed is none
    penalty.remove()
    assert vars(network) == before
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
    own = network.forward
    network.forward = lambda x: own(2 * x)
    patched = network.forward
    AffinityPenalty(network, 0.5).remove()
    assert network.forward is patched


def test_copies_have_no_penalty_and_run_their_own_weights():
    network, x = small(), samples()
    with AffinityPenalty(network, 0.5) as penalty:
        file = io.BytesIO()
        torch.save(network, file)
        file.seek(0)
        copies = [copy.deepcopy(network), torch.load(file, weights_only=False)]
        for one in copies:
            assert not isinstance(one.forward, Watched)
            assert torch.equal(one(x), network(x))
            penalty.reset()
            nn.init.zeros_(one[4].weight)
            nn.init.zeros_(one[4].bias)
            assert not one(x).any()
            with pytest.raises(AffscoreError, match="no forward pass"):
                penalty()


def test_padding_of_an_encoder_with_a_decoder_is_refused():
    network, data = padded_net().train(), texts()
    network.config = SimpleNamespace(is_encoder_decoder=True)
    with AffinityPenalty(network, 0.5) as penalty:
        with pytest.raises(AffscoreError, match="the padding of an encoder from that of its decoder"):
            network(**data)
        network(data["input_ids"], torch.ones_like(data["attention_mask"]))
        assert bool(penalty().isfinite())


# Refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 1.5}, r"target must be a Signature, a number in \[0, 1\]"),
        ({"target": True}, "target must hold real numbers"),
        ({"target": [[0.5], [0.5, 0.5]]}, "target must be an array or tensor of real numbers"),
        ({"weight": -1}, "weight must be a number of at least 0, got -1"),
        ({"layers": "relu"}, "layers must be a list"),
        ({"covariance": "none"}, "covariance must be"),
        ({"coupling": "exact"}, "coupling must be one of paired, fixed"),
        ({"activations": "relu"}, "activations must be a list"),
    ],
)
def test_arguments_that_make_no_sense(options, message):
    network = small()
    with pytest.raises(AffscoreError, match=message):
        AffinityPenalty(network, **{"target": 0.5, **options})
    assert "forward" not in vars(network)


@pytest.mark.parametrize(
    ("options", "x", "message"),
    [
        ({"target": [0.5, 0.5, 0.5]}, samples(), r"the target has 3 scores for 2 activations; .*resampled"),
        ({"target": 0.5, "layers": ["9"]}, samples(), "no activation '9' among the 2 .*, whose layers are '1', '3'"),
        ({"target": 0.5, "layers": [2]}, samples(), "no activation 2 among the 2"),
        ({"target": 0.5, "layers": ["1", 0]}, samples(), "layers chooses relu of layer '1' twice, by 0 too"),
        ({"target": 0.5, "layers": ["1", "3", "1"]}, samples(), "layers chooses relu of layer '1' twice, by '1' too"),
        ({"target": 0.5}, samples(1), "relu of layer '1' .*with n >= 2"),
        ({"target": 0.5}, samples() * math.nan, "relu of layer '1' .*must be finite"),
    ],
)
def test_calls_that_make_no_sense(options, x, message):
    network = small()
    with AffinityPenalty(network, **options) as penalty:
        network(x)
        with pytest.raises(AffscoreError, match=message):
            penalty()


def test_signatures_that_are_no_target():
    network, x = small(), samples()

    def measured(**options):
        return affscore.signature(network, x, n=len(x), criteria=False, **options)

    own = measured()
    paired = affscore.multiverse(network, x, n=len(x), reductions="mean").signature(coupling="paired")
    dead = affscore.Signature(own.table.copy(), own.metadata)
    dead.table.loc[1, ["score", "raw", "paired", "flag"]] = [math.nan, math.nan, math.nan, "constant input"]
    for target, options, message in (
        (own, {"covariance": "empirical"}, "covariance='ledoit-wolf'"),
        (measured(reduction="sum"), {}, "reduction='sum'"),
        (measured(order="reduce-first"), {}, "order='reduce-first'"),
        (measured(units="blocks"), {}, "units='blocks'"),
        (paired, {"coupling": "fixed"}, "coupling='paired'"),
        (dead, {}, r"tanh of layer '3' \(constant input\)"),
        (dead, {"coupling": "fixed"}, r"tanh of layer '3' \(constant input\)"),
    ):
        with pytest.raises(AffscoreError, match=message):
            AffinityPenalty(network, target, **options)
        assert "forward" not in vars(network)
    old = affscore.Signature(own.table.drop(columns="paired"), own.metadata)
    AffinityPenalty(network, old, coupling="fixed").remove()


def test_passes_with_other_activations():
    network = Net(lambda net, x: torch.relu(x) if len(x) > 4 else torch.tanh(torch.relu(x)))
    with AffinityPenalty(network, 0.5) as penalty:
        network(samples(8))
        network(samples(4))
        with pytest.raises(AffscoreError, match="ran different activations"):
            penalty()


def test_a_signature_is_brought_to_a_length_by_straight_lines():
    scores = [0.2, 0.8, 0.5]
    assert affscore.network.resampled(scores, 3).tolist() == scores
    np.testing.assert_allclose(affscore.network.resampled(scores, 5), [0.2, 0.5, 0.8, 0.65, 0.5])
    assert affscore.network.resampled(scores, 2).tolist() == [0.2, 0.5]
    assert affscore.network.resampled([0.4], 3).tolist() == [0.4] * 3
    for wrong, length in (([], 3), (scores, 0), ([scores], 3)):
        with pytest.raises(AffscoreError, match="expected a row of scores and a length"):
            affscore.network.resampled(wrong, length)
