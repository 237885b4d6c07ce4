"""Blocks: which modules are some, and what their scores are where a formula says it."""

import copy

import pytest
import torch
import torchvision
from torch import nn
from torchvision.models.swin_transformer import ShiftedWindowAttention

from affscore import AffscoreError, affinity_score, load_model, signature, track
from affscore.network.criteria import affine_fit
from affscore.options import Options, checked
from tests.affscore.recorder.hard_networks import Net


def data(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def blocks_of(network, samples, **options):
    """The summary by layer."""
    torch.manual_seed(0)
    options = {"n": len(samples) if torch.is_tensor(samples) else 64, "units": "blocks"} | options
    return signature(network, samples, progress=False, **options).summary.set_index("layer")


def declared(module, samples, **options):
    """The row of a module that was declared, behind a linear layer."""
    options = {"n": len(samples), "activations": [type(module)]} | options
    return signature(nn.Sequential(nn.Identity(), module), samples, progress=False, **options).summary.iloc[0]


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Twice(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(self.inner(x))


class TokenPool(nn.Module):
    """Images go in, and tokens come out: the channels are elsewhere."""

    def forward(self, x):
        return nn.functional.avg_pool2d(x, 2).flatten(2).transpose(1, 2)


def test_the_output_has_its_channels_where_the_output_has_them():
    network = nn.Sequential(nn.Conv2d(3, 5, 1), TokenPool(), nn.ReLU())
    row = blocks_of(network, data(50, 3, 6, 6), reduction="mean").loc["1"]
    assert (row.kind, row.width, row.flag) == ("pooling", 5, "")
    assert row["norm"] == pytest.approx(0, abs=1e-4)


def test_a_residual_block_that_adds_nothing_is_the_identity():
    inner = nn.Linear(7, 7)
    nn.init.zeros_(inner.weight)
    nn.init.zeros_(inner.bias)
    row = blocks_of(nn.Sequential(nn.Identity(), Residual(inner)), data(100, 7)).loc["1"]
    assert (row.kind, row.activation) == ("residual", "residual")
    assert row.score == pytest.approx(1, abs=1e-6)
    assert declared(Residual(inner), data(100, 7)).kind == "hidden"  # elementwise, as an activation is


def test_a_linear_layer_is_affine_though_its_score_is_low():
    """Of a general matrix: the reason for the criterion beside the score."""
    torch.manual_seed(0)
    rows = blocks_of(nn.Sequential(nn.Linear(64, 64), nn.ReLU()), data(512, 64)).loc["0"]
    assert (rows.kind, rows.flag) == ("linear", "")
    assert rows.score < 0.4
    assert rows.affine_fit == pytest.approx(1, abs=1e-5)


# The first block, whose input nothing in front of it has made.


class Padding(nn.Conv1d):
    """A convolution with a forward of its own."""

    def forward(self, x):
        return super().forward(nn.functional.pad(x, (2, 0)))


def adding_in_place():
    return Net(lambda net, x: x.add_(net.conv(x).relu()), conv=nn.Conv1d(6, 6, 3, padding=1))


class Mlp(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 3))


def residual(*before):
    return Residual(nn.Sequential(*before, nn.Conv1d(6, 6, 3, padding=1), nn.ReLU()))


FIRST = {
    "a convolution": (lambda: nn.Conv1d(6, 6, 3, padding=1), (6, 20), 1),
    "one that no shape tells apart": (lambda: nn.Conv1d(6, 6, 3, padding=1), (6, 6), 1),
    "one of a single channel": (lambda: nn.Conv1d(1, 1, 3), (1, 30), 1),
    "a linear layer": (lambda: nn.Linear(3, 3), (8, 8, 3), -1),
    "a batch norm": (lambda: nn.BatchNorm1d(6), (6, 8), 1),
    "a layer norm": (lambda: nn.LayerNorm(6), (8, 8, 6), -1),
    "a pooling": (lambda: nn.AvgPool1d(2), (6, 8), 1),
    "a residual block": (residual, (6, 6), 1),
    "one that adds in place": (adding_in_place, (6, 6), 1),
    "an MLP": (Mlp, (8, 8, 3), -1),
    # by what they return
    "attention": (lambda: ShiftedWindowAttention(6, [2, 2], [0, 0], 2), (6, 6, 6), -1),
    "a convolution of its own": (lambda: Padding(6, 6, 3), (6, 6), 1),
    "a residual block that begins with an activation": (lambda: residual(nn.ReLU()), (6, 6), 1),
    "one that overwrites its input": (lambda: residual(nn.ReLU(inplace=True)), (6, 6), 1),
}  # fmt: skip


@pytest.mark.parametrize(("make", "shape", "axis"), FIRST.values(), ids=FIRST)
def test_the_first_block_knows_where_its_channels_are(make, shape, axis):
    """Against the score and the affine fit of means that are taken here."""
    torch.manual_seed(0)
    network, x = nn.Sequential(make().eval(), nn.ReLU()), data(256, *shape)
    result = signature(network, x, n=256, criteria="affine_fit", progress=False, units="blocks")
    row = result.table[result.table["layer"] == "0"].iloc[0]
    assert not [note for note in result.notes if "guess" in note and "layer '0' " in note]
    with torch.no_grad():
        before, after = (z.movedim(axis, -1).flatten(1, -2).mean(1) for z in (x, network[0](x.clone())))
    assert row["width"] == before.shape[1]
    assert row["score"] == pytest.approx(affinity_score(before, after).value, abs=1e-5)
    assert row["affine_fit"] == pytest.approx(affine_fit(before, after), abs=1e-4)


def test_a_linear_layer_over_tokens_is_affine_in_these():
    """Behind one over channels."""
    torch.manual_seed(0)
    mixing = Net(
        lambda net, x: net.norm(net.tokens(net.channels(x).transpose(1, 2))).relu(),
        channels=nn.Linear(5, 4), tokens=nn.Linear(7, 7), norm=nn.BatchNorm1d(4),
    )  # fmt: skip
    found = blocks_of(mixing, data(100, 7, 5))
    assert found.loc[["channels", "tokens", "norm"], "width"].tolist() == [5, 7, 4]
    assert found.loc[["channels", "tokens"], "affine_fit"].tolist() == pytest.approx([1, 1], abs=1e-5)


@pytest.mark.parametrize(("module", "widths"), [
    (nn.Linear(6, 4), "6 before and 4 after"), (nn.Sequential(nn.Linear(6, 5), nn.ReLU()), "6 before and 5 after"),
])  # fmt: skip
def test_another_width_is_an_error_that_names_block_and_widths(module, widths):
    name = type(module).__name__.lower()
    network = nn.ModuleDict({"head": module})
    network.forward = lambda x: network["head"](x)
    with pytest.raises(AffscoreError, match=rf"{name} of layer 'head' was declared as a block, and has width {widths}"):
        signature(network, data(20, 6), n=20, activations=[module], progress=False)


def test_a_block_has_no_order_but_one():
    with pytest.raises(AffscoreError, match=r"layernorm of layer '1' .* is a block and no elementwise function"):
        declared(nn.LayerNorm(4), data(20, 3, 4), order="reduce-first")
    with pytest.raises(AffscoreError, match="omit the order"):
        signature("mini:digitsnet", "digits", units="blocks", order="reduce-first")
    with pytest.raises(AffscoreError, match=r"a multiverse is of the activations, .*: omit units"):
        checked(Options(units="blocks", multiverse=("mean",)))
    with pytest.raises(AffscoreError, match="activations, blocks, got 'layers'"):
        signature("mini:digitsnet", "digits", units="layers")


def test_nothing_inside_a_declared_block_counts_and_each_of_its_runs_does():
    network = nn.Sequential(Twice(nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.LayerNorm(5))), nn.GELU())
    whole = signature(network, data(40, 5), n=40, activations=[Twice], progress=False)
    assert whole.summary[["layer", "call", "kind"]].values.tolist() == [["0", 0, "block"], ["1", 0, "hidden"]]
    assert whole.summary["depth"].tolist() == [1, 2]
    inner = signature(network, data(40, 5), n=40, activations=[network[0].inner], progress=False)
    assert inner.summary[["layer", "call"]].values.tolist() == [["0.inner", 0], ["0.inner", 1], ["1", 0]]


def test_blocks_within_blocks_are_all_found_in_the_order_in_which_they_begin():
    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6))
    network = nn.Sequential(nn.Linear(6, 6), Residual(nn.Sequential(nn.LayerNorm(6), mlp)))
    table = blocks_of(network, data(40, 6)).reset_index()
    assert table[["layer", "kind"]].values.tolist() == [
        ["(root)", "network"], ["0", "linear"], ["1", "residual"], ["1.inner.0", "normalisation"], ["1.inner.1", "mlp"],
        ["1.inner.1.0", "linear"], ["1.inner.1.1", "activation"], ["1.inner.1.2", "linear"],
    ]  # fmt: skip
    assert table["depth"].tolist() == [1, 1, 1, 1, 1, 1, 1, 1]


def test_what_a_residual_block_is():
    """The sum may be in a module of its own, which is handed both; but it is of tensors of the output's shape.

    Attention with rotary positions adds others inside.
    """
    adding = Net(
        lambda net, x: net.add(net.dense(x), x), dense=nn.Linear(4, 4), add=Net(lambda net, x, shortcut: x + shortcut)
    )
    rotating = Net(lambda net, x: ((z := net.dense(x)).sin() + z.cos())[:, :4], dense=nn.Linear(4, 8))
    found = blocks_of(nn.Sequential(nn.Linear(4, 4), adding, rotating, nn.ReLU()), data(30, 4))["kind"]
    assert found.to_dict() == {
        "(root)": "network", "0": "linear", "1": "residual", "1.dense": "linear", "2.dense": "linear",
        "3": "activation",
    }  # fmt: skip


def kinds(table):
    return table["kind"].value_counts().to_dict()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [
    ("resnet18", {"residual": 8, "normalisation": 20, "linear": 21, "activation": 17, "pooling": 2}),
    ("vgg11", {"linear": 11, "activation": 10, "pooling": 6}),
    ("swin_t", {"residual": 12, "attention": 12, "mlp": 12, "normalisation": 29, "linear": 29, "activation": 12,
                "pooling": 1}),
    ("convnext_tiny", {"residual": 18, "normalisation": 23, "linear": 59, "activation": 18, "pooling": 1}),
    ("mobilenet_v2", {"residual": 10, "normalisation": 52, "linear": 53, "activation": 35}),
])  # fmt: skip
def test_blocks_of_torchvision(name, expected):
    torch.manual_seed(0)
    network = getattr(torchvision.models, name)(weights=None)
    with pytest.warns(match="are few"):
        table = blocks_of(network, data(8, 3, 64, 64), n=8)
    assert kinds(table) == expected


@pytest.mark.parametrize("reduction", ["mean", "sample", "positions", "flatten", "sum", "published"])
def test_every_reduction(reduction):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(4))
    result = signature(network, data(60, 1, 8, 8), n=60, reduction=reduction, positions=8, units="blocks",
                       progress=False)  # fmt: skip
    pool = result.summary.iloc[-1]
    assert pool.kind == "pooling"
    assert pool.flag == ("other width" if reduction == "flatten" else "")
    # the pooling leaves 4 of the 8 positions that are drawn
    points = result.table["n"].tolist()
    assert points == ([60, 480, 480, 480, 240] if reduction == "positions" else [60] * 5)


def test_it_is_tracked_and_leaves_no_trace():
    network = load_model("mini:vit_b_16")
    before = copy.deepcopy(network.state_dict())
    with track(network, "digits", n=64, units="blocks") as tracker:
        tracker.step()
    assert set(tracker.table["kind"]) >= {"residual", "attention", "mlp"}
    assert all(torch.equal(value, network.state_dict()[name]) for name, value in before.items())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())


def test_weights_that_are_nan_are_found_in_the_innermost_layer():
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    inner[2].weight.data[0, 0] = torch.nan
    network = nn.Sequential(nn.Linear(4, 4), Residual(inner), nn.ReLU(), nn.Linear(4, 4))
    with pytest.raises(AffscoreError, match=r"the output of linear of layer '1.inner.2' \(call 0\) holds 64 NaN"):
        signature(network, data(64, 4), n=64, units="blocks", progress=False)


def test_a_layer_norm_of_what_is_normalised_does_nothing():
    x = data(300, 8)
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, correction=0)
    assert declared(nn.LayerNorm(8, eps=0), x).score == pytest.approx(1, abs=1e-5)
    assert declared(nn.LayerNorm(8, eps=0), x * data(300, 1, seed=1).exp()).score < 0.9


def of_transformers(name):
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    sizes |= {"vocab_size": 50}
    if name == "GPT2":
        sizes = {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 2, "bos_token_id": 0, "eos_token_id": 0}
    torch.manual_seed(0)
    return getattr(transformers, f"{name}Model")(getattr(transformers, f"{name}Config")(**sizes))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [
    # attention with its sum and norm is a residual block, and so is the layer, whose MLP is no module of its own
    ("Bert", {"residual": 4, "attention": 2, "normalisation": 5, "activation": 3, "linear": 13}),
    ("GPT2", {"residual": 2, "attention": 2, "mlp": 2, "normalisation": 5, "activation": 2, "linear": 8}),
    ("Llama", {"residual": 2, "attention": 2, "mlp": 2, "normalisation": 5, "activation": 2, "linear": 14}),
])  # fmt: skip
def test_blocks_of_transformers(name, expected):
    tokens = {"input_ids": torch.randint(0, 50, (64, 12), generator=torch.Generator().manual_seed(0))}
    assert kinds(signature(of_transformers(name), tokens, n=64, units="blocks", progress=False).summary) == expected


def test_the_input_of_a_block_is_what_depends_on_the_data():
    shifted = Net(lambda net, shift, x: x + net.inner(x) + shift, inner=nn.Linear(6, 6))
    network, x = Net(
        lambda net, x: net.shifted(torch.full((1, 6), 2.0), torch.relu(net.first(x))),
        first=nn.Linear(4, 6), shifted=shifted,
    ), data(64, 4)  # fmt: skip
    row = blocks_of(network, x).loc["shifted"]
    with torch.no_grad():
        hidden = torch.relu(network.first(x))
        expected = affinity_score(hidden, hidden + network.shifted.inner(hidden)).value
    assert (row["kind"], row["score"]) == ("residual", pytest.approx(expected, abs=1e-5))


def test_a_prelu_is_no_weight_of_an_mlp():
    class Mlp(nn.Sequential):
        pass

    network = nn.Sequential(nn.Identity(), Mlp(nn.Linear(6, 12), nn.PReLU(12), nn.Linear(12, 6)))
    assert "mlp" in blocks_of(network, data(64, 6))["kind"].tolist()
