"""Samples that do not stand one after the other along the first axis: each goes through the network by itself."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import affscore
from affscore import AffscoreError, signature
from tests.affscore.network import odd_networks as odd

APART = [
    odd.Grouped, odd.Conditional, odd.LastState, odd.TimeFirst, odd.GraphPooling, odd.Experts,
    lambda: odd.Experts(skip=False), odd.SharedActivation, lambda: odd.SharedActivation(stacked=False), odd.Depth,
]  # fmt: skip
MIXING = [
    odd.Forgotten, odd.RunningMean, odd.Shifted, odd.ShiftedBack, odd.BatchMean, odd.Training, odd.MixingExperts,
]  # fmt: skip


def made(network, n=24):
    torch.manual_seed(0)
    pictures = network in (odd.Grouped, odd.Conditional)
    return network().eval(), torch.randn(n, 3, 6, 5) if pictures else torch.randn(n, 7, 4)


def measured(network, x, **options):
    return signature(network, x, **{"n": len(x), "criteria": False, "progress": False, "device": "cpu", **options})


def one_at_a_time(notes):
    return [note for note in notes if "one at a time" in note]


@cache
def usual(network, n, reduction):
    return measured(*made(network), n=n, reduction=reduction, batch_size=24).table


@pytest.mark.slow
@pytest.mark.parametrize("network", APART)
@settings(max_examples=6)
@given(n=st.sampled_from([8, 12]), size=st.integers(1, 13), reduction=st.sampled_from(["mean", "sample"]))
def test_the_batch_size_changes_no_score(network, n, size, reduction):
    found, expected = (
        measured(*made(network), n=n, reduction=reduction, batch_size=size).table,
        usual(network, n, reduction),
    )
    columns = ["batch", "index", "layer", "call", "activation", "depth", "width", "n"]
    assert found[columns].equals(expected[columns])
    np.testing.assert_allclose(found["score"], expected["score"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("network", MIXING)
@settings(max_examples=5)
@given(n=st.sampled_from([8, 10, 24]), size=st.integers(1, 25))
def test_what_mixes_samples_is_refused_whatever_the_batch_size(network, n, size):
    network, x = made(network)
    with pytest.raises(AffscoreError, match=r"mixes samples|the first axis of a feature map must count"):
        measured(network, x, n=n, batch_size=size)


class Hooked:
    """By plain hooks: what each module sees of each sample that goes through the network alone."""

    def __init__(self, network, x, kinds=(nn.ReLU, nn.SiLU, nn.GELU)):
        self.seen, hooks, self.sample = {}, [], 0
        for name, module in network.named_modules():
            if isinstance(module, kinds):
                hooks.append(module.register_forward_hook(lambda m, args, y, name=name: self.keep(name, args[0], y)))
        with torch.no_grad():
            for self.sample in range(len(x)):
                network(x[self.sample : self.sample + 1])
        for hook in hooks:
            hook.remove()

    def keep(self, name, x, y):
        if x.numel():
            points = (one.reshape(-1, one.shape[-1]).mean(0) for one in (x, y))
            self.seen.setdefault(name, {}).setdefault(self.sample, []).append(tuple(points))

    def score(self, name, call=0):
        pairs = [found[call] for found in self.seen[name].values() if len(found) > call]
        x, y = (torch.stack(side) for side in zip(*pairs, strict=True))
        return len(x), affscore.affinity_score(x, y).value


@pytest.mark.parametrize("skip", [True, False])
def test_each_expert_has_a_row_over_the_samples_that_reach_it(skip):
    network, x = made(lambda: odd.Experts(skip), 24)
    found, hooked = measured(network, x), Hooked(network, x)
    assert found.table["layer"].tolist() == ["experts.0.1", "experts.1.1", "experts.2.1", "experts.3.1", "relu"]
    assert found.table["width"].tolist() == [6, 7, 8, 9, 4]
    for row in found.table.itertuples():
        assert (row.n, row.score) == (hooked.score(row.layer)[0], pytest.approx(hooked.score(row.layer)[1], abs=1e-5))
    assert found.table["n"].min() < 24
    assert sum("are reached by" in note for note in found.notes) == 1
    assert len(one_at_a_time(found.notes)) == 1
    assert "24 passes in place of 1 for a batch" in one_at_a_time(found.notes)[0]


@pytest.mark.parametrize("stacked", [True, False])
def test_experts_that_share_an_activation_are_told_apart_by_their_weights(stacked):
    network, x = made(lambda: odd.SharedActivation(stacked), 48)
    found = measured(network, x, batch_size=7)
    up = [weights.detach() for weights in network.up]
    assert found.table[["layer", "call"]].values.tolist() == [["act", 0], ["act", 1], ["act", 2]]
    chosen = network.gate(x).argmax(-1)
    for row in found.table.itertuples():
        of = [(one[c == row.call] @ up[row.call].T) for one, c in zip(x, chosen, strict=True) if (c == row.call).any()]
        x_of, y_of = (torch.stack([f(one).mean(0) for one in of]) for f in (nn.Identity(), nn.GELU()))
        assert row.n == len(of)
        assert row.score == pytest.approx(affscore.affinity_score(x_of, y_of).value, abs=1e-5)


def test_a_layer_that_samples_need_several_times_has_a_row_for_each_time():
    network, x = made(odd.Depth, 40)
    found, hooked = measured(network, x), Hooked(network, x)
    assert found.table["call"].tolist() == [0, 1, 2]
    assert found.table["n"].tolist()[0] == 40 > found.table["n"].min()
    for row in found.table.itertuples():
        assert (row.n, row.score) == pytest.approx(hooked.score("relu", row.call), abs=1e-5)
    low, high = found.mean_interval()  # a sample that does not come somewhere contributes nothing there
    assert low < found.scores.mean() < high


def tokens_of(network, *experts):
    """Samples of seven tokens each, which are random but for the expert that takes them: these in turn."""
    pool = torch.randn(4000, 4, generator=torch.Generator().manual_seed(2))
    chosen = network.gate(pool).argmax(-1)
    kinds = [pool[chosen == expert] for expert in experts]
    return torch.stack([torch.stack([kinds[t * (i + 1) % len(kinds)][7 * i + t] for t in range(7)]) for i in range(18)])


def test_batches_of_which_not_all_reach_an_expert_agree_on_its_number():
    network, _ = made(odd.SharedActivation)
    found = measured(network, torch.cat([tokens_of(network, 0, 2), tokens_of(network, 0, 1, 2)]), n=18)
    places = found.table[["batch", "index", "call"]].values.tolist()
    assert places == [[0, 0, 0], [0, 2, 2], [1, 0, 0], [1, 1, 1], [1, 2, 2]]


def test_an_expert_that_a_single_sample_reaches_has_no_row_and_a_note():
    network, _ = made(odd.SharedActivation)
    x = tokens_of(network, 1)
    x[5] = tokens_of(network, 2)[0]
    found = measured(network, x)
    assert found.table["call"].tolist() == [1]
    assert any("fewer than two samples" in note and "'act'" in note for note in found.notes)


@pytest.mark.parametrize(("network", "width"), [(odd.Grouped, 5), (odd.Conditional, 6), (odd.LastState, 6)])
def test_folded_samples_and_other_axes_are_right(network, width):
    network, x = made(network)
    found = measured(network, x)
    assert found.table["width"].tolist() == [width]
    assert found.table["n"].tolist() == [24]
    assert not any("are reached by" in note for note in found.notes)
    parts = [measured(network, x[i : i + 2], batch_size=1).table for i in (0, 2)]
    assert [part["width"].tolist() for part in parts] == [[width]] * 2


def test_experts_in_training_are_tracked_and_taken_up_again():
    network, x = made(odd.SharedActivation, 24)
    tracker = affscore.track(network, x, every=1, n=24)
    with torch.no_grad():
        network.up.mul_(1.1)
    tracker.step()
    other = affscore.track(network, x, every=1, n=24)
    other.load_state_dict(tracker.state_dict())
    for one in (tracker, other):
        one.step()
    assert len(tracker.table) == 3 * 3
    assert tracker.table.equals(other.table)
    assert tracker.table["call"].tolist() == [0, 1, 2] * 3
    at_once = measured(network, x)
    np.testing.assert_allclose(tracker.table["paired"][-3:], at_once.table["paired"], atol=1e-6)


SMALL = {
    "vocab_size": 64, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 2, "max_position_embeddings": 32, "moe_intermediate_size": 20, "num_experts_per_tok": 2,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more"), [("Mixtral", {"num_local_experts": 4}), ("Qwen3Moe", {"num_experts": 6, "head_dim": 8})]
)
def test_mixtures_of_experts_of_transformers(name, more):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**SMALL | more)
    network = getattr(transformers, f"{name}ForCausalLM")(config).eval()
    before, tokens = config._experts_implementation, torch.randint(0, 64, (24, 5))
    found = [measured(network, {"input_ids": tokens}, n=24, batch_size=size).table for size in (7, 24)]
    assert config._experts_implementation == before
    rounded = ["score", "raw", "paired", "effective_width", "seconds"]
    assert found[0].drop(columns=rounded).equals(found[1].drop(columns=rounded))
    rows = found[0][found[0]["layer"].str.endswith("mlp.experts.act_fn")]
    assert len(rows) == sum(len(module.gate_up_proj) for module in network.modules() if hasattr(module, "gate_up_proj"))
    for layer, of_layer in rows.groupby("layer"):
        experts = network.get_submodule(layer.removesuffix(".act_fn"))
        for row in of_layer.itertuples():
            assert (row.n, row.score) == pytest.approx(by_hand(network, experts, row.call, tokens), abs=1e-5)


def by_hand(network, experts, number, tokens):
    """How many samples reach an expert of transformers, and the score of what its gate sees of them."""
    pairs = []

    def keep(module, args):
        gate = nn.functional.linear(args[0][(args[1] == number).any(1)], module.gate_up_proj[number]).chunk(2, -1)[0]
        if len(gate):
            pairs.append((gate.mean(0), nn.functional.silu(gate).mean(0)))

    hook = experts.register_forward_pre_hook(keep)
    with torch.no_grad():
        for sample in tokens:
            network(input_ids=sample[None])
    hook.remove()
    x, y = (torch.stack(side) for side in zip(*pairs, strict=True))
    return len(pairs), affscore.affinity_score(x, y).value
