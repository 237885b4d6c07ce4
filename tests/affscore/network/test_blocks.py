"""Blocks: which modules are some, and what their scores are where a formula says it."""

import copy
import math

import numpy as np
import pytest
import torch
import torchvision
from torch import nn
from torchvision.models.swin_transformer import ShiftedWindowAttention

from affscore import AffscoreError, affinity_score, load_model, load_signature, signature, track
from affscore.network.criteria.affine_fit import affine_fit
from affscore.options import Options, checked
from affscore.survey.job import Job, describe, named_options
from tests.affscore.recorder.seen import seen_in


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


class SelfAttention(nn.Module):
    """One that takes three inputs and returns a tuple, as PyTorch's."""

    def __init__(self, width, before=3):
        super().__init__()
        self.project, self.attend = nn.Linear(before, width), nn.MultiheadAttention(width, 2, batch_first=True)

    def forward(self, x):
        z = self.project(x)
        return self.attend(z, z, z)[0].relu()


# Closed forms.


def test_a_batch_norm_that_is_trained_is_a_diagonal_affine_map():
    norm = nn.BatchNorm2d(6)
    norm.running_mean.copy_(data(6))
    norm.running_var.copy_(data(6, seed=1).square() + 0.5)
    norm.weight.data = data(6, seed=2).abs() + 0.5
    row = declared(norm, data(200, 6, 3, 3), criteria="affine_fit", covariance="empirical")
    assert (row.kind, row.activation, row.width) == ("normalisation", "batchnorm2d", 6)
    assert row.score == pytest.approx(1, abs=1e-5)
    assert row.affine_fit == pytest.approx(1, abs=1e-5)


def test_a_layer_norm_of_what_is_normalised_does_nothing():
    x = data(300, 8)
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, correction=0)
    assert declared(nn.LayerNorm(8, eps=0), x).score == pytest.approx(1, abs=1e-5)
    assert declared(nn.LayerNorm(8, eps=0), x * data(300, 1, seed=1).exp()).score < 0.9


def test_average_pooling_is_the_identity_of_the_means():
    row = declared(nn.AvgPool2d(2), data(100, 5, 8, 8))
    assert row.score == pytest.approx(1, abs=1e-5)
    assert row["norm"] == pytest.approx(0, abs=1e-4)
    assert declared(nn.AdaptiveMaxPool2d(1), data(100, 5, 8, 8)).score < 0.95


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


def test_a_network_of_linear_layers_is_affine_as_a_whole():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Flatten(), nn.Linear(48, 20), nn.Linear(20, 5))
    row = blocks_of(network, data(200, 3, 4, 4)).loc["(root)"]
    assert (row.kind, row.width, row.flag) == ("network", 48, "other width")
    assert math.isnan(row.score)
    assert row.affine_fit == pytest.approx(1, abs=1e-5)


def test_the_reduced_input_and_output_are_those_of_the_block():
    """By hand, of attention: it takes its input three times, and returns a tuple."""
    torch.manual_seed(0)
    network, x = SelfAttention(6).eval(), data(80, 5, 3)
    for options in ({"activations": [nn.MultiheadAttention]}, {"units": "blocks"}):
        result = signature(network, x, n=80, criteria="affine_fit", progress=False, **options)
        row = result.table[result.table["kind"] == "attention"].iloc[0]
        with torch.no_grad():
            z = network.project(x)
            before, after = z.mean(1), network.attend(z, z, z)[0].mean(1)
        assert row["score"] == pytest.approx(affinity_score(before, after).value, abs=1e-5)
        assert row["affine_fit"] == pytest.approx(affine_fit(before, after), abs=1e-5)


# The first block, whose input nothing in front of it has made.


class Padding(nn.Conv1d):
    """A convolution with a forward of its own."""

    def forward(self, x):
        return super().forward(nn.functional.pad(x, (2, 0)))


class AddingInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(6, 6, 3, padding=1)

    def forward(self, x):
        return x.add_(self.conv(x).relu())


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
    "one that adds in place": (AddingInPlace, (6, 6), 1),
    "an MLP": (Mlp, (8, 8, 3), -1),
}  # fmt: skip
BY_ITS_OUTPUT = {
    "attention": (lambda: ShiftedWindowAttention(6, [2, 2], [0, 0], 2), (6, 6, 6), -1),
    "a convolution of its own": (lambda: Padding(6, 6, 3), (6, 6), 1),
    "a residual block that begins with an activation": (lambda: residual(nn.ReLU()), (6, 6), 1),
    "one that overwrites its input": (lambda: residual(nn.ReLU(inplace=True)), (6, 6), 1),
}


def check_first(first, **options):
    """Against the score and the affine fit of means that are taken here."""
    make, shape, axis = first
    torch.manual_seed(0)
    network, x = nn.Sequential(make().eval(), nn.ReLU()), data(256, *shape)
    result = signature(network, x, n=256, criteria="affine_fit", progress=False, **options)
    row = result.table[result.table["layer"] == "0"].iloc[0]
    assert not [note for note in result.notes if "guess" in note and "layer '0' " in note]
    with torch.no_grad():
        before, after = (z.movedim(axis, -1).flatten(1, -2).mean(1) for z in (x, network[0](x.clone())))
    assert row["width"] == before.shape[1]
    assert row["score"] == pytest.approx(affinity_score(before, after).value, abs=1e-5)
    assert row["affine_fit"] == pytest.approx(affine_fit(before, after), abs=1e-4)


@pytest.mark.parametrize("first", [*FIRST.values(), *BY_ITS_OUTPUT.values()], ids=[*FIRST, *BY_ITS_OUTPUT])
def test_the_first_block_knows_where_its_channels_are(first):
    check_first(first, units="blocks")


class Columns(nn.Module):
    """A linear layer by its name, which makes vectors of images."""

    def forward(self, x):
        return nn.functional.linear(x.flatten(1), self.weight)


def test_a_first_convolution_of_another_width_and_what_stays_a_guess():
    convolution = nn.Sequential(Padding(6, 4, 3), nn.ReLU())
    result = signature(convolution, data(64, 6, 6), n=64, units="blocks", progress=False)
    assert result.summary["width"].tolist() == [36, 6, 4]
    assert "guess" not in " ".join(result.notes)
    columns = type("LinearColumns", (Columns,), {})()
    columns.weight = nn.Parameter(data(5, 24))
    for network, sizes in ((columns, (2, 3, 4)), (nn.AvgPool2d(2), (8, 6))):
        result = signature(nn.Sequential(network, nn.ReLU()), data(64, *sizes), n=64, units="blocks", progress=False)
        assert "the axis of the channels is a guess for" in " ".join(result.notes)


@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_so_does_a_first_module_that_is_declared(first):
    check_first(first, activations=[type(first[0]())])


def test_images_with_channels_last_that_are_permuted():
    class Permuting(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 3)

        def forward(self, x):
            return self.conv(x.permute(0, 3, 1, 2)).relu()

    assert blocks_of(Permuting(), data(64, 8, 8, 3)).loc["conv"].width == 3


class Mixing(nn.Module):
    """A linear layer over tokens, behind one over channels."""

    def __init__(self):
        super().__init__()
        self.channels, self.tokens, self.norm = nn.Linear(5, 4), nn.Linear(7, 7), nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.tokens(self.channels(x).transpose(1, 2))).relu()


def test_a_linear_layer_over_tokens_is_affine_in_these():
    torch.manual_seed(0)
    found = blocks_of(Mixing(), data(100, 7, 5))
    assert found.loc[["channels", "tokens", "norm"], "width"].tolist() == [5, 7, 4]
    assert found.loc[["channels", "tokens"], "affine_fit"].tolist() == pytest.approx([1, 1], abs=1e-5)


def test_the_activation_behind_has_the_same_numbers_with_and_without_blocks():
    network, x = nn.Sequential(nn.AvgPool1d(2), nn.ReLU(), nn.Conv1d(6, 6, 3)), data(64, 6, 8)
    alone, among = (signature(network, x, n=64, progress=False, units=units) for units in ("activations", "blocks"))
    assert alone.summary["width"].tolist() == [6]
    assert (
        among.summary.iloc[2][["activation", "score"]].tolist()
        == alone.summary.iloc[0][["activation", "score"]].tolist()
    )


# What is declared.


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
    with pytest.raises(AffscoreError, match=r"layernorm of layer '1' is a block and no elementwise function"):
        declared(nn.LayerNorm(4), data(20, 3, 4), order="reduce-first")
    with pytest.raises(AffscoreError, match="omit the order"):
        signature("mini:digitsnet", "digits", units="blocks", order="reduce-first")
    with pytest.raises(AffscoreError, match="a multiverse is of activations: omit units"):
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


def test_what_takes_no_real_numbers_is_no_block():
    class Looking(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(9, 4)

        def forward(self, x):
            return self.table(x.argmax(-1)).relu()

    with pytest.raises(AffscoreError, match="takes no real numbers that depend on the samples"):
        signature(Looking(), data(20, 5, 9), n=20, activations=[nn.Embedding], progress=False)


# Which modules are blocks.


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


def test_activations_have_the_numbers_that_they_have_without_blocks():
    options = {"n": 128, "images": 128, "reduction": "sample", "criteria": "r2", "progress": False}
    alone, among = (signature("mini:resnet18", "digits", **options, **more) for more in ({}, {"units": "blocks"}))
    activations = among.table[among.table["kind"] == "activation"].reset_index(drop=True)
    same = ["layer", "call", "activation", "depth", "width", "n", "score", "raw", "paired", "r2", "effective_width"]
    assert activations[same].equals(alone.table[same])


class Adding(nn.Module):
    """The sum is in a module of its own, which is handed both."""

    def __init__(self):
        super().__init__()

        class Sum(nn.Module):
            def forward(self, x, shortcut):
                return x + shortcut

        self.dense, self.add = nn.Linear(4, 4), Sum()

    def forward(self, x):
        return self.add(self.dense(x), x)


class Rotating(nn.Module):
    """Adds inside, but not tensors of its output's shape, as attention with rotary positions does."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 8)

    def forward(self, x):
        z = self.dense(x)
        return (z.sin() + z.cos())[:, :4]


def test_what_a_residual_block_is():
    found = blocks_of(nn.Sequential(nn.Linear(4, 4), Adding(), Rotating(), nn.ReLU()), data(30, 4))["kind"]
    assert found.to_dict() == {
        "(root)": "network", "0": "linear", "1": "residual", "1.dense": "linear", "2.dense": "linear",
        "3": "activation",
    }  # fmt: skip


class WindowAttentionLayer(nn.Module):
    """As of MaxViT: two residual sums, whose shape is not that of the output, around attention and an MLP."""

    def __init__(self):
        super().__init__()
        self.inner = SelfAttention(4, 4)
        self.mlp = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))

    def forward(self, x):
        tokens = x.flatten(2).transpose(1, 2)
        tokens = tokens + self.inner(tokens)
        tokens = tokens + self.mlp(tokens)
        return tokens.transpose(1, 2).unflatten(2, x.shape[2:])


class RotaryAttention(nn.Module):
    """It adds two products of its queries, and is attention all the same."""

    def __init__(self):
        super().__init__()
        self.project, self.back = nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x):
        z = self.project(x)
        z = z * torch.cos(torch.arange(8.0)) + z.roll(1, -1) * torch.sin(torch.arange(8.0))
        return self.back(nn.functional.scaled_dot_product_attention(z, z, z))


def test_what_adds_in_another_shape_is_no_attention_but_what_is_inside():
    found = blocks_of(nn.Sequential(nn.Conv2d(1, 4, 1), WindowAttentionLayer()), data(30, 1, 3, 3))["kind"]
    found = found[found.isin(["attention", "mlp", "residual"])]
    assert found.to_dict() == {"1.inner": "attention", "1.mlp": "mlp"}


def test_rotary_positions_are_no_residual_sum():
    found = blocks_of(nn.Sequential(nn.Linear(4, 4), RotaryAttention(), nn.ReLU()), data(30, 5, 4))["kind"]
    assert found["1"] == "attention"


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


@pytest.mark.slow
def test_blocks_of_a_vision_transformer_of_torchvision():
    torch.manual_seed(0)
    network = torchvision.models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=5)
    found = kinds(blocks_of(network, data(64, 3, 32, 32)))
    assert found == {
        "network": 1, "residual": 2, "attention": 2, "mlp": 2, "normalisation": 5, "linear": 6, "activation": 2
    }  # fmt: skip


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


def test_blocks_of_the_small_networks():
    found = signature("mini:vit_b_16", "digits", n=64, images=64, units="blocks", progress=False).summary
    assert kinds(found) == {
        "network": 1, "residual": 6, "attention": 6, "mlp": 6, "normalisation": 13, "linear": 14, "activation": 6
    }  # fmt: skip


# Options, files and the rest.


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


@pytest.mark.slow
def test_batch_size_changes_nothing_and_files_keep_everything(tmp_path):
    options = {"n": 64, "images": 128, "units": "blocks", "reduction": "sample", "progress": False}
    one, other = (signature("mini:vit_b_16", "digits", batch_size=size, **options) for size in (64, 13))
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
    assert one == load_signature(one.save(tmp_path / "blocks.parquet"))
    assert one.metadata["units"] == "blocks"
    assert one.metadata["criteria"][-1] == "affine_fit"


def test_a_stored_result_of_blocks_is_another_one():
    usual, blocks = (describe(Job("mini:digitsnet", "digits", named_options({"units": units}))) for units in
                     ("activations", "blocks"))  # fmt: skip
    assert usual.key != blocks.key
    assert "units" not in usual.description["options"]
    assert blocks.description["options"]["units"] == "blocks"
    assert blocks.file_name.endswith("-blocks")


def test_a_large_input_is_no_map_and_few_samples_know_no_affine_fit():
    result = signature(nn.Sequential(nn.Conv2d(3, 40, 5, stride=2), nn.ReLU()), data(30, 3, 40, 40), n=30,
                       units="blocks", progress=False)  # fmt: skip
    assert "network" not in set(result.summary["kind"])
    assert "the network as a whole has no row: its input has 4800 numbers a sample" in " ".join(result.notes)
    assert "the best affine map of 1 of 2 blocks is not known" in " ".join(result.notes)


def test_it_is_tracked_and_leaves_no_trace():
    network = load_model("mini:vit_b_16")
    before = copy.deepcopy(network.state_dict())
    with track(network, "digits", n=64, units="blocks") as tracker:
        tracker.step()
    assert set(tracker.table["kind"]) >= {"residual", "attention", "mlp"}
    assert all(torch.equal(value, network.state_dict()[name]) for name, value in before.items())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())


def test_a_module_that_fails_and_is_caught_leaves_nothing_behind():
    class Trying(nn.Module):
        def __init__(self):
            super().__init__()
            self.broken, self.last = Broken(), nn.Linear(4, 4)

        def forward(self, x):
            try:
                return self.broken(x)
            except ValueError:
                return self.last(x).relu()

    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(4)

        def forward(self, x):
            raise ValueError(str(self.norm(x).shape))

    found = blocks_of(nn.Sequential(nn.Linear(4, 4), Trying()), data(30, 4))
    assert found.index.tolist() == ["(root)", "0", "1.broken.norm", "1.last", "1"]
    assert found["kind"].tolist() == ["network", "linear", "normalisation", "linear", "activation"]


def test_without_units_nobody_hears_of_blocks():
    listener, recorder = seen_in(nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.ReLU()), data(5, 3))
    assert [call.activation for call in listener.calls] == ["relu"]
    assert recorder.blocks is None


def test_weights_that_are_nan_are_found_in_the_innermost_layer():
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    inner[2].weight.data[0, 0] = torch.nan
    network = nn.Sequential(nn.Linear(4, 4), Residual(inner), nn.ReLU(), nn.Linear(4, 4))
    with pytest.raises(AffscoreError, match=r"the output of linear of layer '1.inner.2' \(call 0\) holds 64 NaN"):
        signature(network, data(64, 4), n=64, units="blocks", progress=False)


def test_notes_count_blocks_where_these_are_measured():
    network, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU()), data(12, 8)
    for units, text in (("blocks", "of 3 blocks: their scores"), ("activations", "of 1 activations: their scores")):
        with pytest.warns(match="are few"):
            notes = signature(network, x, n=12, units=units, progress=False).notes
        assert text in " ".join(notes)


def test_the_input_of_a_block_is_what_depends_on_the_data():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(6, 6)

        def forward(self, shift, x):
            return x + torch.relu(self.inner(x)) + shift

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.residual = nn.Linear(4, 6), Residual()

        def forward(self, x):
            return self.residual(torch.full((64, 6), 2.0), self.first(x))

    net, images = Net().eval(), torch.randn(64, 4)
    found = signature(net, images, n=64, units="blocks", criteria=False, progress=False)
    x = net.first(images).detach()
    expected = affinity_score(x, net.residual(torch.zeros(1), x).detach()).value
    (score,) = found.summary.query("kind == 'residual'")["score"]
    assert score == pytest.approx(expected, abs=1e-5)
