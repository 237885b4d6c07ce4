import pytest
import torch

import affscore
from affscore import load_data, load_model
from affscore.models import digits
from affscore.models.weight_files import read_state_dict
from companion.characteristics import architecture_of, characteristics
from companion.mini_zoo import MINI_NETWORKS, WEIGHTS, list_models, training_record
from companion.printed import printed_table

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


def test_there_is_one_for_each_network_of_the_study_of_its_family_and_year():
    assert len(STUDY) == 36
    assert {*STUDY.index, *EFFICIENT, "digitsnet"} == MINI_NETWORKS.keys()
    listed = list_models().set_index("name")[["family", "year"]]
    assert listed.loc[STUDY.index].values.tolist() == STUDY[["family", "year"]].values.tolist()
    originals = [architecture_of(name) for name in EFFICIENT]
    assert listed.loc[EFFICIENT].values.tolist() == [[original.family, original.year] for original in originals]


def test_all_weights_together_are_small_and_none_is_left_over():
    assert sum(file.stat().st_size for file in WEIGHTS.iterdir()) < 5e6
    assert {file.name for file in WEIGHTS.iterdir()} == {
        f"{n}.{e}" for n in MINI_NETWORKS if n != "digitsnet" for e in ("json", "safetensors")
    }


@pytest.mark.slow
def test_the_weights_are_recorded(network):
    record, model = training_record(network), network.build()
    assert {"recipe", "layout", "seconds", "versions", "data"} <= record.keys()
    assert record["name"] == network.name
    assert record["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    error = (record["accuracy"] * (1 - record["accuracy"]) / 597) ** 0.5
    assert record["accuracy_standard_error"] == pytest.approx(error, abs=1e-4)
    written = read_state_dict(network.weights)
    assert written.keys() == {key for key in model.state_dict() if not key.endswith("num_batches_tracked")}
    assert {value.dtype for value in written.values()} <= {torch.float16, torch.int64}  # Swin numbers places
    assert all(bool(value.isfinite().all()) for value in written.values())


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
    assert right == pytest.approx(training_record(network)["accuracy"], abs=2e-3)
    assert characteristics([f"mini:{network.name}"])["accuracy"].item() == pytest.approx(100 * right, abs=0.2)


@pytest.mark.slow
def test_activations_depths_gates_and_sums_are_where_the_original_has_them(tables):
    listed = list_models().set_index("name")
    for name, table in tables.items():
        assert set(table["activation"]) == ACTIVATIONS.get(listed.loc[name, "family"], {"relu"}), name
    assert {name: int(table["depth"].max()) for name, table in tables.items()} == listed["depth"].to_dict()
    counts = {"alexnet": 7, "vgg16": 15, "resnet18": 17, "resnet34": 33, "resnet50": 49, "googlenet": 57}
    assert {name: len(tables[name]) for name in counts} == counts
    kinds = {name: set(table["kind"]) for name, table in tables.items()}
    assert {name for name in kinds if "gate" in kinds[name]} == {n for n in kinds if n.startswith("efficientnet")}
    with_sums = {name for name in kinds if "after-sum" in kinds[name]}
    assert with_sums == {name for name in kinds if "resnet" in name or "digits" in name}


def test_weights_of_a_network_that_asks_for_their_version_are_read_from_a_file(tmp_path):
    """torchvision's MNASNet refuses weights without the metadata of its own state dictionary."""
    file = tmp_path / "weights.pth"
    torch.save(dict(load_model("mini:mnasnet0_5@random", seed=1).state_dict()), file)
    model, other = load_model(f"mini:mnasnet0_5@{file}"), load_model("mini:mnasnet0_5@random", seed=1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))
