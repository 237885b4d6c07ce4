"""Trainings that pull the scores of a network to a target (companion.studies.steered)."""

import json

import numpy as np
import pytest
import torch

from affscore import load_model, signature
from companion.shipped import shipped_signature
from companion.studies import steered
from companion.studies.steered import RECIPES, Steered

pytestmark = pytest.mark.slow  # trains


VGG = "examples/region_networks.py:vgg8"


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(steered, "RECIPES", {task: {**recipe, "epochs": 6} for task, recipe in RECIPES.items()})


def test_a_target_of_another_network_is_brought_to_the_length():
    one = Steered(VGG, "digits-as-vit", 1)
    model = one.build()
    wanted = one._wanted(model, one.images(model, "test")[0])
    scores = shipped_signature("mini:vit_b_16").scores
    assert len(wanted) == 7
    assert (wanted[0], wanted[-1]) == (scores[0], scores[-1])
    assert wanted[3] == pytest.approx(np.interp(0.5, np.linspace(0, 1, len(scores)), scores))


def test_the_hard_task_has_few_images_and_distorted_ones_to_test_with():
    easy, hard = Steered(VGG, "digits-free", 1), Steered(VGG, "hard-free", 1)
    model = easy.build()
    (test, names), (distorted, hard_names) = (one.images(model, "test") for one in (easy, hard))
    assert torch.bincount(hard.images(model, "train")[1]).tolist() == [20] * 10
    assert torch.equal(names, hard_names)
    assert not torch.equal(test, distorted)


@pytest.mark.usefixtures("short")
def test_pulled_networks_go_where_they_are_pulled_and_say_what_became_of_them(tmp_path):
    means = {}
    for target in ("free", "low", "high"):
        one = Steered(VGG, f"digits-{target}", 1)
        record = one.run(tmp_path)
        assert one.is_done(tmp_path)
        further = one.further(tmp_path)
        assert (further["task"], further["target"]) == ("digits", target)
        assert further["test_accuracy"] == record["accuracy"]
        shares = {name: value for name, value in further.items() if name.startswith(("test_", "accuracy", "transfer"))}
        assert len(shares) == 6
        assert all(0 <= value <= 1 for value in shares.values())
        model = load_model(f"{VGG}@{one.weights(tmp_path)}")
        means[target] = signature(model, "digits", criteria=False, progress=False, device="cpu").scores.mean()
    assert means["low"] < means["free"] < means["high"]
    again = json.loads(one.weights(tmp_path).with_suffix(".json").read_text())["measured"]
    model = load_model(f"{VGG}@{one.weights(tmp_path)}")
    assert one.measured(model, *one.images(model, "test")) == pytest.approx(again, abs=2e-3)
