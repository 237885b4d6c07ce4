import json

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

import affscore
from affscore import load_data, load_model
from affscore.papers import printed_table
from affscore.zoo import characteristics, digits, list_models
from affscore.zoo.card import architecture_of, seeded
from affscore.zoo.mini import MINI_NETWORKS, WEIGHTS
from affscore.zoo.mini.residual import DigitsNet

STUDY = printed_table("study_networks").query("in_figure14 == 1")
EFFICIENT = ["mobilenet_v2", "squeezenet1_0", "squeezenet1_1", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0"]
ACTIVATIONS = {
    "MobileNets": {"relu6"},
    "EfficientNets": {"silu", "sigmoid"},
    "ViTs": {"gelu"},
    "Swins": {"gelu"},
    "ConvNeXts": {"gelu"},
}


@pytest.fixture(scope="module")
def images():
    return torch.stack([*load_data("digits", MINI_NETWORKS["digitsnet"].preprocessing)])


@pytest.fixture(scope="module")
def tables(images):
    """What the recorder sees of each network on a few images."""
    options = {"n": 4, "images": 4, "criteria": False, "device": "cpu", "progress": False}
    return {name: affscore.signature(load_model(f"mini:{name}"), images[:4], **options).table for name in MINI_NETWORKS}


@pytest.fixture(params=MINI_NETWORKS)
def network(request):
    return MINI_NETWORKS[request.param]


def test_there_is_one_for_each_network_of_the_study():
    assert len(STUDY) == 36
    assert {*STUDY.index, *EFFICIENT, "digitsnet"} == MINI_NETWORKS.keys()


def test_family_and_year_are_those_of_the_original():
    for name, family, year in STUDY[["family", "year"]].itertuples():
        assert (MINI_NETWORKS[name].architecture.family, MINI_NETWORKS[name].architecture.year) == (family, year), name
    for name in EFFICIENT:
        original = architecture_of(name)
        assert (MINI_NETWORKS[name].architecture.family, MINI_NETWORKS[name].architecture.year) == (
            original.family,
            original.year,
        )


def test_all_weights_together_are_small_and_none_is_left_over():
    assert sum(file.stat().st_size for file in WEIGHTS.iterdir()) < 5e6
    assert {file.name for file in WEIGHTS.iterdir()} == {
        f"{n}.{e}" for n in MINI_NETWORKS for e in ("json", "safetensors")
    }


@pytest.mark.slow
def test_the_weights_are_recorded(network):
    record = network.training_record()
    model = network.build()
    assert record["name"] == network.name
    assert record["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    written = load_file(network.weights)
    assert written.keys() == {key for key in model.state_dict() if not key.endswith("num_batches_tracked")}
    assert {value.dtype for value in written.values()} <= {torch.float16, torch.int64}  # Swin numbers places
    assert all(bool(value.isfinite().all()) for value in written.values())


def test_they_are_of_the_size_of_a_mini_network():
    sizes = [network.training_record()["parameters"] for name, network in MINI_NETWORKS.items() if name != "digitsnet"]
    assert min(sizes) > 10_000
    assert max(sizes) < 100_000


@pytest.mark.slow
def test_the_accuracy_on_the_held_out_digits_is_the_recorded_one(network, images):
    model = load_model(f"mini:{network.name}")
    assert {value.dtype for value in model.state_dict().values() if value.is_floating_point()} == {torch.float32}
    with torch.inference_mode():
        logits = model(images)
    assert logits.shape == (597, 10)
    assert bool(logits.isfinite().all())
    right = (logits.argmax(dim=1) == digits("test")[1]).float().mean().item()
    assert right > 0.9
    assert right == pytest.approx(network.training_record()["accuracy"], abs=2e-3)
    assert characteristics([f"mini:{network.name}"])["accuracy"].item() == pytest.approx(100 * right, abs=0.2)


@pytest.mark.slow
def test_the_activations_are_those_of_the_original(tables):
    for name, table in tables.items():
        assert set(table["activation"]) == ACTIVATIONS.get(MINI_NETWORKS[name].architecture.family, {"relu"}), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "activations"),
    [("alexnet", 7), ("vgg16", 15), ("resnet18", 17), ("resnet34", 33), ("resnet50", 49), ("googlenet", 57)],
)
def test_these_have_as_many_activations_as_the_originals(tables, name, activations):
    assert len(tables[name]) == activations


@pytest.mark.slow
@pytest.mark.parametrize("name", ["squeezenet1_1", "shufflenet_v2_x0_5", "mobilenet_v2", "efficientnet_b1"])
def test_activations_play_the_same_parts_as_in_the_original(tables, name):
    original = affscore.signature(f"{name}@random", "random", n=4, images=4, criteria=False, progress=False).table
    assert set(tables[name]["kind"]) == set(original["kind"])
    assert set(tables[name]["activation"]) == set(original["activation"])


@pytest.mark.slow
def test_the_depths_of_the_list_are_those_that_the_recorder_finds(tables):
    listed = list_models().set_index("name")["depth"]
    assert {name: int(table["depth"].max()) for name, table in tables.items()} == listed.to_dict()


@pytest.mark.slow
def test_gates_and_sums_are_where_they_belong(tables):
    kinds = {name: set(table["kind"]) for name, table in tables.items()}
    assert {name for name in kinds if "gate" in kinds[name]} == {n for n in kinds if n.startswith("efficientnet")}
    assert {name for name in kinds if "after-sum" in kinds[name]} == {
        n for n in kinds if "resnet" in n or "digits" in n
    }


@pytest.mark.slow
def test_no_activation_has_fewer_than_eight_channels(tables):
    assert min(table["width"].min() for table in tables.values()) >= 8


ORDERS = [
    ["vgg11", "vgg13", "vgg16", "vgg19"],
    ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152"],
    ["densenet121", "densenet169", "densenet201"],
    ["efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4"],
    ["vit_b_16", "vit_l_16", "vit_h_14"],
    ["vit_b_32", "vit_l_32"],
    ["swin_t", "swin_s"],
    ["convnext_tiny", "convnext_small"],
]


@pytest.mark.slow
@pytest.mark.parametrize("family", ORDERS, ids=lambda family: family[0])
def test_members_of_a_family_are_deeper_in_the_order_of_the_originals(tables, family):
    depths = [int(tables[name]["depth"].max()) for name in family]
    assert depths == sorted(set(depths))


WIDER = [
    ["densenet121", "densenet161"],
    ["mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3"],
    ["swin_s", "swin_b"],
    ["convnext_small", "convnext_base", "convnext_large"],
    ["shufflenet_v2_x0_5", "shufflenet_v2_x1_0"],
    ["efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4"],
    ["vit_b_16", "vit_l_16", "vit_h_14"],
]


@pytest.mark.parametrize("family", WIDER, ids=lambda family: family[0])
def test_members_of_a_family_have_more_parameters_in_the_order_of_the_originals(family):
    sizes = [sum(parameter.numel() for parameter in MINI_NETWORKS[name].build().parameters()) for name in family]
    assert sizes == sorted(set(sizes))


def test_the_name_of_a_vit_says_how_large_its_patches_are():
    patches = {name: MINI_NETWORKS[name].build().patch_size for name in MINI_NETWORKS if name.startswith("vit")}
    assert patches["vit_h_14"] < patches["vit_b_16"] == patches["vit_l_16"] < patches["vit_b_32"] == patches["vit_l_32"]


def test_batch_normalisation_learns_its_statistics_in_a_short_training():
    for name, network in MINI_NETWORKS.items():
        momenta = {module.momentum for module in network.build().modules() if isinstance(module, nn.BatchNorm2d)}
        assert momenta <= {0.1}, name


@pytest.mark.parametrize("name", ["vgg11", "swin_b", "convnext_large"])
def test_random_weights_keep_the_scale_and_tell_images_apart(name, images):
    with torch.inference_mode():
        outputs = seeded(MINI_NETWORKS[name].build, 0).eval()(images[:64])
    assert 0.01 < float(outputs.std(dim=0).mean()) < 10


def test_each_block_of_a_residual_network_begins_as_its_shortcut():
    for name in ("resnet18", "resnet50"):
        network = MINI_NETWORKS[name].build()
        blocks = [module for module in network.modules() if type(module).__name__ in ("BasicBlock", "Bottleneck")]
        last = [getattr(block, "bn3", block.bn2) for block in blocks]
        assert len(last) in (8, 16)
        assert not any(bool(norm.weight.any()) for norm in last)


def test_no_output_of_a_squeezenet_begins_at_zero(images):
    for name in ("squeezenet1_0", "squeezenet1_1"):
        with torch.inference_mode():
            outputs = seeded(MINI_NETWORKS[name].build, 0).eval()(images[:64])
        assert float(outputs.min()) > 0  # a ReLU behind the classifier would keep it there


@pytest.mark.slow
def test_the_preprocessing_normalises_the_training_part(network):
    prepared = torch.stack([network.preprocessing(image) for image in digits("train")[0]])
    assert prepared.shape[1:] == (1, 32, 32)
    assert float(prepared.mean()) == pytest.approx(0.0, abs=0.02)
    assert float(prepared.std()) == pytest.approx(1.0, abs=0.02)


def test_digitsnet_has_nine_activations():
    model = DigitsNet(classes=7).eval()
    seen = []
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.register_forward_hook(lambda *_: seen.append(1))
    assert model(torch.zeros(2, 1, 32, 32)).shape == (2, 7)
    assert len(seen) == 9


def test_random_weights_are_fixed_by_the_seed_and_leave_the_global_generator_alone():
    before = torch.get_rng_state()
    first, again, other = (seeded(DigitsNet, seed).head.weight for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_weights_of_a_network_that_asks_for_their_version_are_read_from_a_file(tmp_path):
    """torchvision's MNASNet refuses weights without the metadata of its own state dictionary."""
    file = tmp_path / "weights.pth"
    torch.save(dict(load_model("mini:mnasnet0_5@random", seed=1).state_dict()), file)
    model, other = load_model(f"mini:mnasnet0_5@{file}"), load_model("mini:mnasnet0_5@random", seed=1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def test_the_record_of_each_network_is_as_the_training_writes_it(network):
    record = json.loads(network.weights.with_suffix(".json").read_text())
    assert {"recipe", "layout", "seconds", "versions", "data"} <= record.keys()
    error = (record["accuracy"] * (1 - record["accuracy"]) / 597) ** 0.5
    assert record["accuracy_standard_error"] == pytest.approx(error, abs=1e-4)
