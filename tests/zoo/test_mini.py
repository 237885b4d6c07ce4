import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from affscore import load_data, load_model
from affscore.zoo import card_of, digits
from affscore.zoo.mini import MINI_NETWORKS, DigitsNet, seeded

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_mini_network.py"


@pytest.fixture(params=sorted(MINI_NETWORKS))
def network(request):
    return MINI_NETWORKS[request.param]


def test_the_weights_are_small_and_recorded(network):
    assert network.weights.stat().st_size < 1_000_000
    record = network.training_record()
    model = network.build()
    assert record["name"] == network.name
    assert record["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert load_file(network.weights).keys() == model.state_dict().keys()


def test_the_accuracy_on_the_held_out_digits_is_above_97_percent_and_the_recorded_one(network):
    model = load_model(f"mini:{network.name}")
    images = torch.stack([*load_data("digits", card_of(model).preprocessing)])
    _, labels = digits("test")
    with torch.inference_mode():
        right = (model(images).argmax(dim=1) == labels).float().mean().item()
    assert right > 0.97
    assert right == pytest.approx(network.training_record()["accuracy"], abs=2e-4)


def test_the_preprocessing_normalises_the_training_part(network):
    prepared = torch.stack([network.preprocessing(image) for image in digits("train")[0]])
    assert prepared.shape[1:] == (
        network.preprocessing.channels,
        network.preprocessing.size,
        network.preprocessing.size,
    )
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


def script():
    spec = importlib.util.spec_from_file_location("train_mini_network", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shifting_moves_images_and_fills_with_the_background():
    images = torch.zeros(50, 1, 12, 12)
    images[:, :, 5:7, 5:7] = 1.0
    moved = script().shifted(images, torch.Generator().manual_seed(0))
    assert moved.shape == images.shape
    assert moved.sum(dim=(1, 2, 3)).tolist() == [4.0] * 50
    assert len({tuple(image.nonzero()[0].tolist()) for image in moved}) > 20


@pytest.mark.slow
def test_the_training_script_writes_weights_that_load_and_is_reproducible(tmp_path, monkeypatch, capsys):
    def train(folder):
        options = ["digitsnet", "--epochs", "1", "--seed", "5", "--out", str(folder)]
        monkeypatch.setattr(sys, "argv", ["train_mini_network.py", *options])
        script().main()
        assert capsys.readouterr().out.startswith("digitsnet: ")
        return json.loads((folder / "digitsnet.json").read_text()), (folder / "digitsnet.safetensors").read_bytes()

    (record, weights), (_, again) = train(tmp_path / "one"), train(tmp_path / "two" / "nested")
    assert weights == again
    assert weights != MINI_NETWORKS["digitsnet"].weights.read_bytes()
    assert (record["epochs"], record["seed"]) == (1, 5)
    assert record["accuracy"] > 0.5
    model = load_model(f"mini:digitsnet@{tmp_path / 'one' / 'digitsnet.safetensors'}")
    images = torch.stack([*load_data("digits", card_of(model).preprocessing)])
    with torch.inference_mode():
        right = (model(images).argmax(dim=1) == digits("test")[1]).float().mean().item()
    assert right == pytest.approx(record["accuracy"], abs=2e-3)
