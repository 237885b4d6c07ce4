import json
import sys
from dataclasses import replace

import pandas as pd
import pytest
import torch
from torch import nn

from affscore import load_model
from affscore.errors import AffscoreError
from affscore.survey import survey
from affscore.survey.store import Store
from companion.mini_zoo import MINI_NETWORKS, members
from companion.mini_zoo import __main__ as make_zoo
from companion.mini_zoo.distorted_digits import distorted, shifted
from companion.mini_zoo.members import is_made, train_member
from companion.mini_zoo.training import accuracy, half, prepared, recipe_of

CHEAP = "vit_b_32"
"""Trains fastest of all."""


def seeded_generator():
    return torch.Generator().manual_seed(0)


def test_shifting_moves_images_and_fills_with_the_background():
    images = torch.zeros(50, 1, 12, 12)
    images[:, :, 5:7, 5:7] = 1.0
    moved = shifted(images, seeded_generator())
    assert moved.shape == images.shape
    assert moved.sum(dim=(1, 2, 3)).tolist() == [4.0] * 50
    assert len({tuple(image.nonzero()[0].tolist()) for image in moved}) > 20


def test_distorting_turns_scales_and_moves_and_adds_noise():
    images = -torch.ones(400, 1, 32, 32)
    images[:, :, 14:18, 8:24] = 1.0  # a bar
    changed = distorted(images, seeded_generator())
    assert changed.shape == images.shape
    corner = changed[:, 0, :3, :3]  # outside of the bar, whatever happened to it: background and noise
    assert float(corner.mean()) == pytest.approx(-1.0, abs=0.05)
    assert float(corner.std()) == pytest.approx(0.3, abs=0.02)
    weight = (changed[:, 0] + 1).clamp(min=0.8) - 0.8
    rows = torch.arange(32.0)
    centres = (weight.sum(dim=2) * rows).sum(dim=1) / weight.sum(dim=(1, 2))
    assert 1.0 < float(centres.std()) < 3.0  # moves of up to 3.2 pixels
    areas = (changed[:, 0] > 0).float().sum(dim=(1, 2))
    assert float(areas.quantile(0.9) / areas.quantile(0.1)) > 1.2


def test_a_network_is_trained_again_when_the_recipe_changes_and_not_otherwise(tmp_path):
    recipe = replace(recipe_of(CHEAP), epochs=1)
    assert not is_made(CHEAP, recipe, tmp_path)
    train_member(CHEAP, recipe, tmp_path)
    assert is_made(CHEAP, recipe, tmp_path)
    assert not is_made(CHEAP, replace(recipe, seed=1), tmp_path)
    record = json.loads((tmp_path / f"{CHEAP}.json").read_text())
    (tmp_path / f"{CHEAP}.json").write_text(json.dumps({**record, "layout": "of another architecture"}))
    assert not is_made(CHEAP, recipe, tmp_path)
    (tmp_path / f"{CHEAP}.json").write_text(json.dumps(record))
    assert is_made(CHEAP, recipe, tmp_path)
    (tmp_path / f"{CHEAP}.safetensors").unlink()
    assert not is_made(CHEAP, recipe, tmp_path)


def test_weights_that_do_not_fit_into_16_bits_are_refused():
    model = nn.Linear(2, 2)
    nn.init.constant_(model.weight, 1e6)
    with pytest.raises(AffscoreError, match=r"'weight' of mine must fit into 16 bits, got 1000000\.0"):
        half(model, "mine")


def train(folder, monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["make_zoo.py", "--only", *words, "--out", str(folder), "--jobs", "1"])
    make_zoo.main()
    assert f"{words[0]}: " in capsys.readouterr().err
    return json.loads((folder / f"{words[0]}.json").read_text()), (folder / f"{words[0]}.safetensors").read_bytes()


@pytest.mark.slow
def test_the_training_script_writes_weights_that_load_and_is_reproducible(tmp_path, monkeypatch, capsys):
    words = (CHEAP, "--epochs", "3", "--seed", "5")
    record, weights = train(tmp_path / "one", monkeypatch, capsys, *words)
    _, again = train(tmp_path / "two" / "nested", monkeypatch, capsys, *words)
    assert weights == again
    assert weights != MINI_NETWORKS[CHEAP].weights.read_bytes()
    assert (record["recipe"]["epochs"], record["recipe"]["seed"]) == (3, 5)
    model = load_model(f"mini:{CHEAP}@{tmp_path / 'one' / f'{CHEAP}.safetensors'}")
    right = accuracy(model, *prepared(MINI_NETWORKS[CHEAP], "test"))
    assert right == pytest.approx(record["accuracy"], abs=2e-3)


@pytest.mark.slow
def test_results_for_weights_of_before_are_removed_from_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(members, "MULTIVERSES", tmp_path / "multiverses")
    monkeypatch.setattr(members, "RESULTS", tmp_path / "results")
    options = {"n": 32, "images": 32, "criteria": False, "progress": False, "only": 0}
    for name in ("alexnet", "vgg11"):
        survey(f"mini:{name}", "digits", tmp_path / "results", **options)
        survey(f"mini:{name}", "digits", tmp_path / "multiverses", multiverse="mean", **options)
    members.remove_outdated(["alexnet"])  # measured with other options: not what is wanted
    for folder in ("results", "multiverses"):
        assert ["vgg11" in file.name for file in Store(tmp_path / folder).files()] == [True]


@pytest.mark.slow
def test_what_is_shipped_of_the_small_networks_is_up_to_date(capsys):
    files = {folder: Store(folder).files() for folder in (members.RESULTS, members.MULTIVERSES)}
    names = ["alexnet", "vit_b_16"]
    members.remove_outdated(names)
    report = members.measure(names, jobs=1)
    assert report.count("already there") == 3
    assert "measured" not in report
    assert {folder: Store(folder).files() for folder in files} == files


def test_the_hard_task_is_not_done_again_unless_it_was_stopped_or_what_it_depends_on_has_changed(tmp_path, monkeypatch):
    done, failures = [], ["no space left"]

    def run(name, seed):
        if (name, seed) == ("vgg11", 3) and failures:
            raise OSError(failures.pop())
        done.append((name, seed))
        return {"name": name, "seed": seed, "accuracy": 50.0 + seed}

    def again():
        done.clear()
        make_zoo.hard_task_of_all(["alexnet", "vgg11"], tmp_path, jobs=1)
        return done

    monkeypatch.setattr(make_zoo, "run", run)
    with pytest.raises(OSError, match="no space"):
        again()
    (file,) = Store(tmp_path).files()
    assert pd.read_parquet(file)["accuracy"].tolist() == [50.0, 51.0, 52.0, 53.0, 54.0]
    of_vgg = [("vgg11", seed) for seed in range(5)]
    assert again() == of_vgg
    assert again() == []
    describe = make_zoo.describe
    monkeypatch.setattr(make_zoo, "describe", lambda name: describe(name) | ({"new": 1} if name == "vgg11" else {}))
    assert again() == of_vgg
    tables = [pd.read_parquet(file) for file in Store(tmp_path).files()]
    assert [table["seed"].tolist() for table in tables] == [[*range(5)]] * 2


def test_the_zoo_refuses_names_that_it_does_not_know(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["make_zoo.py", "--only", "alexnet,alexnett"])
    with pytest.raises(SystemExit):
        make_zoo.main()
    assert "no small network is called alexnett" in capsys.readouterr().err
