import json
import re

import numpy as np
import pytest
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models.convnext import CNBlockConfig, ConvNeXt
from torchvision.models.swin_transformer import SwinTransformer
from torchvision.models.vision_transformer import VisionTransformer

from affscore import AffscoreError, affinity_score, load_data, load_model, signature
from affscore.models import card_of, digits
from affscore.network import entropy, linear_cka, norm, r2, reduce
from affscore.network.criteria import CRITERIA
from tests.affscore.recorder import hard_networks as hard
from tests.affscore.recorder.seen import seen_in
from tests.affscore.recorder.torchvision_networks import MODULES
from tests.affscore.transport import textbook


def pictures(count, channels=3, side=64, dtype=torch.float64):
    return torch.randn(count, channels, side, side, generator=torch.Generator().manual_seed(1), dtype=dtype)


def small_net():
    return nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 5, 3), nn.Tanh())


def scores(model, data, **options):
    return signature(model, data, **{"n": 32, "criteria": False, **options}).scores


class Hooked:
    """The slow way: what goes into and comes out of every activation module, by forward hooks, copied."""

    def __init__(self, model):
        self.pairs, self.model = [], model
        for module in model.modules():
            if type(module) in MODULES:
                module.register_forward_pre_hook(lambda m, args: self.pairs.append([args[0].clone()]))
                module.register_forward_hook(lambda m, args, y: self.pairs[-1].append(y.clone()))

    def scores(self, images, positions, widest):
        """Equation 5 as it is printed, of averages over the axes ``positions``; NaN where it would take minutes."""
        self.pairs.clear()
        with torch.no_grad():
            self.model(images)
        return np.array([self.score(*pair, positions, widest) for pair in self.pairs])

    @staticmethod
    def score(x, y, positions, widest):
        if x.ndim > 2:
            x, y = x.mean(dim=positions), y.mean(dim=positions)
        return max(textbook.affinity(x.double().numpy(), y.double().numpy()), 0.0) if x.shape[1] <= widest else np.nan


def tiny_vit():
    return VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=40)


def tiny_swin():
    return SwinTransformer([4, 4], embed_dim=12, depths=[1, 2], num_heads=[2, 2], window_size=[4, 4])


def tiny_convnext():
    return ConvNeXt([CNBlockConfig(12, 24, 2), CNBlockConfig(24, None, 1)])


TORCHVISION = {
    "resnet18": (torchvision.models.resnet18, (2, 3)),
    "squeezenet1_1": (torchvision.models.squeezenet1_1, (2, 3)),
    "mobilenet_v3_small": (torchvision.models.mobilenet_v3_small, (2, 3)),
    "shufflenet_v2_x0_5": (torchvision.models.shufflenet_v2_x0_5, (2, 3)),
    "vit": (tiny_vit, (1,)),
    "swin": (tiny_swin, (1, 2)),
    "convnext": (tiny_convnext, (1, 2)),
}


def assert_same_scores(found, expected, atol=1e-8):
    """A score is a root of a cost: where the cost is next to zero, the root has half of its digits."""
    known = ~np.isnan(expected)
    assert len(found) == len(expected)
    np.testing.assert_allclose((1 - found[known]) ** 2, (1 - expected[known]) ** 2, rtol=0, atol=atol)
    low = known & (expected < 0.999)
    np.testing.assert_allclose(found[low], expected[low], rtol=0, atol=1e-6)
    assert low.sum() > 0.2 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize(("build", "positions"), TORCHVISION.values(), ids=TORCHVISION)
def test_agrees_with_hooks_and_the_formula_as_it_is_printed(build, positions):
    """In float64, where only the mathematics is left to differ."""
    model = build().double().eval()
    images = pictures(32, side=32 if build is tiny_vit else 64)
    found = scores(model, images, n=32)
    assert_same_scores(found, Hooked(model).scores(images, positions, widest=200))


def test_the_signature_of_the_digits_network_is_measured_on_the_held_out_digits():
    model = load_model("mini:digitsnet")
    named = signature(model, "digits", n=100, images=100, criteria=False)
    order = load_data("digits").order(100, 0, 100)
    held_out, _ = digits("test")
    prepared = torch.stack([card_of(model).preprocessing(held_out[index]) for index in order])
    np.testing.assert_allclose(named.scores, scores(model, prepared, n=100), rtol=0, atol=1e-6)
    assert named.metadata["dataset"] == "digits"
    assert (named.scores > 0.5).all()
    assert (named.scores < 1).all()


def test_the_table_has_a_row_for_every_activation_and_batch():
    result = signature(small_net(), pictures(64), n=32)
    table = result.table
    assert list(table.columns) == [
        "model", "weights", "dataset", "index", "layer", "call", "activation", "kind", "depth", "width", "batch", "n",
        "reduction", "order", "covariance", "coupling", "score", "raw", "paired", "effective_width", "pairing_optimal",
        "decided_by", "bound_exceeded", "flag",
        "cka", "norm", "sparsity_before", "sparsity_after", "entropy_before", "entropy_after", "r2", "seconds",
    ]  # fmt: skip
    assert table[["batch", "index"]].to_numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert table["layer"].tolist() == ["2", "4"] * 2
    assert table["width"].tolist() == [6, 5] * 2
    assert set(table["model"]) == {"Sequential"}
    assert set(table["weights"]) == {"in memory"}
    assert not table.isna().any().any()
    assert len(result) == len(result.scores) == 2
    columns = {column.name for criterion in CRITERIA.values() for column in criterion.columns}
    assert not columns & set(signature(small_net(), pictures(8), n=8, criteria=False).table)


HARD = [hard.ReusedReLU, hard.InPlaceSum, hard.InPlaceOnAView, hard.ChannelsLastMLP, hard.SqueezeAndExcite]


@pytest.mark.parametrize("batch_size", [3, 8])
@pytest.mark.parametrize("reduction", ["mean", "sum", "flatten", "published"])
@pytest.mark.parametrize("network", HARD)
def test_scores_and_criteria_are_those_of_the_copies_that_were_reduced(network, reduction, batch_size, images):
    model, images = network().double(), images.double()
    listener, _ = seen_in(model, images)
    options = {"n": 8, "reduction": reduction, "batch_size": batch_size, "progress": False}
    tables = [signature(model, images, order=order, **options).table for order in ("activate-first", "reduce-first")]
    assert len(tables[0]) == len(tables[1]) == len(listener.calls)
    for call, x, y, *rows in zip(
        listener.calls, listener.inputs, listener.outputs, *(table.itertuples() for table in tables), strict=True
    ):
        before, after = (reduce(z, 8, call.channel_axis, reduction) for z in (x, y))
        function = getattr(torch, call.activation, None) or getattr(nn.functional, call.activation)
        for row, reduced in zip(rows, (after, function(before)), strict=True):
            expected = {"norm": norm} if row.flag else {"cka": linear_cka, "norm": norm, "r2": r2}
            found = [(1 - row.score) ** 2, *(getattr(row, name) for name in expected)]
            cost = (1 - affinity_score(before, reduced).value) ** 2
            assert found == pytest.approx([cost, *(f(before, reduced) for f in expected.values())], abs=1e-8)
            assert (row.entropy_before, row.entropy_after) == pytest.approx((entropy(before), entropy(reduced)))
        shares = [float((z.abs() <= 1e-3).double().mean()) for z in (x, y)]
        assert [rows[0].sparsity_before, rows[0].sparsity_after] == pytest.approx(shares)


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
@pytest.mark.parametrize("reduction", ["sample", "positions"])
def test_the_positions_that_are_drawn_do_not_depend_on_the_batch_size(batch_size, reduction):
    """Up to 1e-6: PyTorch sums in another order for other sizes of a chunk."""
    model, images = small_net(), pictures(70, side=12, dtype=torch.float32)
    found, whole = (
        scores(model, images, n=35, batch_size=size, reduction=reduction, device="cpu") for size in (batch_size, 35)
    )
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-6)


def test_pytorchs_encoder_layer_scores_the_same_with_tokens_first():
    layers = [nn.TransformerEncoderLayer(12, 2, 20, batch_first=batch_first) for batch_first in (False, True)]
    layers[0].load_state_dict(layers[1].state_dict())
    tokens_first = hard.Net(lambda net, x: net.layer(x.transpose(0, 1)).transpose(0, 1), layer=layers[0])
    tokens = torch.randn(8, 8, 12, generator=torch.Generator().manual_seed(0))  # as many tokens as sequences
    ours, expected = (scores(network, tokens, n=8) for network in (tokens_first, layers[1]))
    np.testing.assert_allclose(ours, expected, atol=1e-6)


def test_samples_of_several_sizes_are_refused_where_they_make_vectors_of_several_lengths():
    class Items(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return torch.randn(3, 8, 8 if index < 4 else 9)

    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    data = DataLoader(Items(), batch_size=4)
    assert np.isfinite(scores(network, data, n=8)).all()
    with pytest.raises(AffscoreError, match="all samples must have the same size"):
        scores(network, data, n=8, reduction="flatten")


def test_the_mean_and_the_standard_deviation_are_over_batches():
    model, images = small_net(), pictures(96)
    result = signature(model, images, n=32, criteria=False)
    single = np.array([scores(model, chunk) for chunk in images.split(32)])
    np.testing.assert_allclose(result.scores, single.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(result.summary["score_std"], single.std(axis=0, ddof=1), atol=1e-6)
    assert (result.summary["score_std"] > 1e-4).all()
    assert "3 x 32 images" in repr(result)


DENSE = nn.Sequential(nn.Linear(5, 4), nn.ReLU())


@pytest.mark.parametrize("data", [torch.randn(32, 5), [[0.5, 1, 2, 3, 4]] * 32, "random"])
def test_data_have_the_name_that_they_are_given(data):
    model = DENSE if not isinstance(data, str) else "mini:digitsnet"
    result = signature(model, data, n=32, criteria=False, data_name="measured on Monday")
    assert result.metadata["dataset"] == "measured on Monday"
    assert set(result.table["dataset"]) == {"measured on Monday"}
    assert " on measured on Monday: " in repr(result)


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not():
    def run(seed):
        result = signature("mini:digitsnet@random", "digits", n=32, images=32, seed=seed, reduction="sample")
        return result.table.drop(columns="seconds"), {k: v for k, v in result.metadata.items() if k != "created"}

    (first, about), (again, about_again), (other, about_other) = run(0), run(0), run(1)
    assert first.equals(again)
    assert about == about_again
    assert not np.isclose(first["score"], other["score"]).any()
    assert about["fingerprint_weights"] != about_other["fingerprint_weights"]
    assert about["fingerprint_data"] != about_other["fingerprint_data"]


def test_a_last_batch_that_is_shorter_is_dropped_and_said():
    model, images = small_net(), pictures(80)
    result = signature(model, images, n=32, criteria=False)
    short = signature(model, images[:10], n=32, criteria=False)  # a single one is used
    assert not any("dropped" in note for note in short.notes)
    assert (short.metadata["images"], set(short.table["n"])) == (10, {10})
    assert any("the last 16 images were dropped: they do not fill a batch of 32" in note for note in result.notes)
    assert repr(result).endswith("\n2 notes: .notes")
    assert result.metadata["images"] == 64
    np.testing.assert_allclose(result.scores, scores(model, images[:64]), atol=1e-6)


def test_published_differs_where_channels_come_last_and_only_there():
    images = pictures(32)
    model = tiny_convnext().double()
    mean, published = (signature(model, images, n=32, reduction=r, criteria=False) for r in ("mean", "published"))
    assert mean.summary["width"].tolist() == [48, 48, 96]
    assert published.summary["width"].tolist() == [16, 16, 8]
    convolutional = small_net().double()
    np.testing.assert_allclose(
        scores(convolutional, images, reduction="published"), scores(convolutional, images), atol=1e-9
    )


def test_the_network_is_as_before():
    model = small_net().train()
    model[1].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    states = [module.training for module in model.modules()]
    parameters = list(model.parameters())
    signature(model, pictures(32), n=32, criteria=False)
    assert [module.training for module in model.modules()] == states
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))
    assert all(parameter.requires_grad and parameter.grad is None for parameter in parameters)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_a_network_that_caches_a_table_can_still_be_trained(images):
    def caching(net, x):
        net.table = torch.linspace(0, 1, 4)[:, None, None] + 0.5 if net.table is None else net.table
        return torch.relu(net.conv(x) * net.table)

    model = hard.Net(caching, conv=hard.conv(), table=None)
    signature(model, images, n=8)
    model(images).sum().backward()
    assert model.conv.weight.grad.any()


def test_an_activation_that_does_not_depend_on_the_images_is_counted_and_has_no_score(images):
    result = signature(hard.ActivationOfATable(), images, n=8, criteria=False)
    assert len(result) == 1
    assert result.notes[0] == "1 activation calls do not depend on the samples and have no score"


@pytest.mark.parametrize("bias", [0.0, 0.003, -1.0])
@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 1}, {"reduction": "sum"}, {"criteria": "r2"}, {"dtype": torch.float64}], ids=str
)
def test_what_cancels_up_to_rounding_is_constant(bias, options):
    """The terms of the mean after an instance norm are of size 1: their rounding is no signal, and mixes no samples."""
    options = dict(options)
    dtype = options.pop("dtype", torch.float32)
    for layer in (nn.InstanceNorm2d(4, affine=True), nn.GroupNorm(4, 4)):
        nn.init.constant_(layer.bias, bias)
        model = nn.Sequential(hard.conv(), layer, nn.ReLU(), hard.conv(4, 4), nn.ReLU()).to(dtype)
        found = signature(
            model, pictures(64, side=16, dtype=dtype), n=64, **{"criteria": False, "progress": False, **options}
        )
        assert found.summary["flag"].tolist() == ["constant input", ""]
        assert np.isnan(found.scores).tolist() == [True, False]
        assert "2 activations" in repr(found)


def test_nan_in_the_weights_is_found_at_the_first_activation_that_sees_it():
    model = small_net()
    with torch.no_grad():
        model[3].weight[2, 0, 0, 0] = torch.nan
    message = r"the input of tanh of layer '4' \(call 0\) holds 32 NaN or infinite of 160 reduced values"
    with pytest.raises(AffscoreError, match=message):
        signature(model, pictures(32), n=32)
    assert not model[0]._forward_hooks


@pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning")
@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        (small_net, pictures(8, channels=1), r"the network Sequential fails on images of shape \(8, 1, 64, 64\)"),
        (lambda: nn.Conv2d(3, 4, 3), pictures(8), "no elementwise activation was seen in Conv2d"),
        (lambda: nn.Sequential(nn.LazyConv2d(4, 3), nn.ReLU()), pictures(8), "is lazy: send one image"),
        (lambda: small_net().to("meta"), pictures(8), "device meta"),
        (lambda: "mini:digitsnet", pictures(8), "the network mini:digitsnet fails on images"),
        (lambda: lambda x: x, pictures(8), "model must be a torch.nn.Module"),
        (small_net, pictures(1), "at least 2 samples, got 1"),
        (small_net, pictures(0), "the data holds no sample"),
        (hard.Raising, pictures(8), "the network Raising fails .* RuntimeError: the head is broken"),
        (lambda: hard.Counting(1, 2), pictures(70), "must run the same activations for every sample"),
        (lambda: torch.jit.script(small_net()), pictures(8), "TorchScript"),
    ],
)
def test_bad_networks_and_data_give_one_sentence(model, data, message):
    made = model()
    with pytest.raises(AffscoreError, match=message) as caught:
        signature(made, data)
    assert "\n" not in str(caught.value)
    assert str(caught.value)[0].islower()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "n must be an integer of at least 2, got 1"),
        ({"images": 1}, "images must be an integer of at least 2, got 1"),
        ({"images": 9}, "the data has 8 samples, 9 were asked for"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"reduction": "max"}, "reduction must be one of mean, sum, flatten, sample, positions, published, got 'max'"),
        ({"order": "both"}, "order must be one of activate-first, reduce-first, got 'both'"),
        ({"covariance": "oas"}, "covariance must be .* got 'oas'"),
        ({"device": "gpu"}, "the device 'gpu' cannot be used here"),
    ],
)
def test_bad_options_give_one_sentence(options, message):
    with pytest.raises(AffscoreError, match=message) as caught:
        signature(small_net(), pictures(8), **{"n": 8, **options})
    assert "\n" not in str(caught.value)


def test_the_metadata_says_how_it_was_made():
    result = signature("mini:digitsnet", "digits", n=32, images=64, reduction="sum", criteria=False, seed=5)
    about = result.metadata
    wanted = {
        "model": "mini:digitsnet", "weights": "DEFAULT", "dataset": "digits", "reduction": "sum",
        "order": "activate-first", "covariance": "ledoit-wolf", "n": 32, "images": 64, "seed": 5, "batch_size": 64,
    }  # fmt: skip
    assert {key: about[key] for key in wanted} == wanted
    assert {"affscore", "python", "torch", "torchvision", "numpy", "scipy", "pillow"} <= set(about["versions"])
    assert about["preprocessing"]["size"] == 32
    assert (about["criteria"], about["dtype"]) == ([], "torch.float32")
    assert re.fullmatch("[0-9a-f]{16}", about["fingerprint_weights"])
    assert json.loads(json.dumps(about)) == about


@pytest.mark.parametrize("progress", [True, False])
def test_progress(progress, capsys):
    signature(small_net(), pictures(8), n=8, progress=progress)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("8/8" in captured.err) == progress
