"""The script that trains and measures the studies of the appendices."""

import json
import sys
from dataclasses import replace

import pandas as pd
import pytest
import torch

from affscore import load_data, load_model
from affscore.models import card_of
from affscore.models.weight_files import read_state_dict
from affscore.recorder.model_state import unwrapped
from companion.mini_zoo.training import recipe_of
from companion.studies import STUDIES as SHIPPED
from companion.studies import __main__ as make_studies
from companion.studies import load_study, trainings, under
from companion.studies.__main__ import describe, is_made, measure, train
from companion.studies.measuring import with_statistics
from companion.studies.plans import STUDIES, Study
from companion.studies.trainings import Training
from companion.studies.ways import ALL_WAYS

pytestmark = pytest.mark.slow  # trains


CHEAP = "mini:vit_b_32"


@pytest.fixture
def one_epoch(monkeypatch):
    monkeypatch.setattr(trainings, "recipe_of", lambda name: replace(recipe_of(name), epochs=2))


@pytest.mark.parametrize("name", STUDIES)
def test_each_table_is_made_as_its_plan_says(name):
    assert is_made(name, SHIPPED), f"python -m companion.studies --only {name}"
    assert STUDIES[name].course == (SHIPPED / f"{name}-course.parquet").is_file()
    scored = any(one.scored for one in STUDIES[name].slopes)
    assert scored == (SHIPPED / f"{name}-scores.parquet").is_file()


@pytest.mark.usefixtures("one_epoch")
def test_a_training_leaves_weights_that_load_and_is_reproducible(tmp_path):
    training = Training("mini:resnet18", "contrastive", 1)
    assert not training.is_done(tmp_path)
    training.run(tmp_path / "one")
    training.run(tmp_path / "two")
    assert training.is_done(tmp_path / "one")
    files = [training.weights(tmp_path / folder) for folder in ("one", "two")]
    one, two = (read_state_dict(file) for file in files)
    assert one.keys() == two.keys()
    body = [name for name in one if not name.startswith("head")]  # the head is fitted by BLAS, in any order of its sums
    assert all(torch.equal(one[name], two[name]) for name in body)
    assert unwrapped(load_model(f"mini:resnet18@{files[0]}")).head.out_features == 10


@pytest.mark.usefixtures("one_epoch")
@pytest.mark.parametrize("way", ALL_WAYS)
def test_every_way_changes_the_weights_or_leaves_them(way, tmp_path):
    training = Training("mini:resnet18", way, 2)
    training.run(tmp_path)
    trained, began = load_model(f"mini:resnet18@{training.weights(tmp_path)}"), training.build()
    same = torch.equal(trained.stem[0].weight, began.stem[0].weight.half().float())
    assert same is (way == "untrained")


@pytest.mark.usefixtures("one_epoch")
def test_what_is_measured_on_the_way_leaves_no_trace(tmp_path):
    quiet, watched = Training("mini:vgg16", "supervised", 1), Training("mini:vgg16", "supervised", 1, every=19)
    quiet.run(tmp_path / "quiet")
    assert not watched.is_done(tmp_path / "quiet")  # its course is missing
    watched.run(tmp_path / "watched")
    assert quiet.weights(tmp_path / "quiet").read_bytes() == quiet.weights(tmp_path / "watched").read_bytes()
    course = make_studies.course(Study([watched]), tmp_path / "watched")
    assert sorted(set(course["step"])) == [0, 19, 38]
    assert describe(Study([quiet])) != describe(Study([watched]))


@pytest.mark.usefixtures("one_epoch")
def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    """The first run is stopped after one of two trainings; the second does the other, and a third has nothing to do."""
    plan = {"mine": Study([Training("mini:vit_b_32", "supervised", seed) for seed in (1, 2)])}
    first, _ = plan["mine"].trainings
    train({"mine": Study([first])}, tmp_path / "work" / "weights", jobs=1)
    done = first.weights(tmp_path / "work" / "weights").stat().st_mtime_ns
    monkeypatch.setattr(make_studies, "STUDIES", plan)
    words = ["make_studies.py", "--jobs", "1", "--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", words)
    capsys.readouterr()
    make_studies.main()
    shown = capsys.readouterr()
    assert "vit_b_32-supervised-2: " in shown.err
    assert "vit_b_32-supervised-1: " not in shown.err
    assert first.weights(tmp_path / "work" / "weights").stat().st_mtime_ns == done
    table = pd.read_parquet(tmp_path / "out" / "mine.parquet")
    assert shown.out == f"mine: {len(table)} rows\n"
    assert table.groupby("seed")["index"].nunique().to_dict() == {1: 6, 2: 6}
    assert str(tmp_path) not in json.dumps(table.astype(str).to_dict("list"))
    make_studies.main()
    assert capsys.readouterr().out == ""


def test_a_row_of_a_shipped_study_is_computed_again(tmp_path):
    """Trained and measured anew. Other processors round otherwise, which a training enlarges."""
    training = Training("examples/matched_networks.py:residual14", "supervised", 1)
    train({"one": Study([training])}, tmp_path / "weights", jobs=1)
    again = under(measure(Study([training]), tmp_path, jobs=1))
    shipped = under(load_study("shortcuts")).query("network == 'residual14'")
    spread = shipped.groupby("seed")["score"].mean()
    assert again["score"].mean() == pytest.approx(spread.mean(), abs=max(0.02, 4 * spread.std()))
    assert again["accuracy"].iloc[0] == pytest.approx(shipped["accuracy"].mean(), abs=0.02)
    assert again["kind"].tolist() == shipped[shipped["seed"] == 1]["kind"].tolist()


def test_norms_get_the_statistics_of_the_images(tmp_path):
    """With all images as the batch, a forward pass in evaluation mode is the one in training mode."""
    name = "examples/cifar_networks.py:resnet20"
    network, again, off = (
        load_model(with_statistics(name, "digits:1", 60, tmp_path)),
        *(load_model(name, 0) for _ in "ab"),
    )
    images = torch.stack([load_data("digits:1", card_of(again).preprocessing)[k] for k in range(60)])
    with torch.no_grad():
        normed, trained, without = network.eval()(images), again.train()(images), off.eval()(images)
    # the variance of a norm in evaluation mode has another divisor
    assert torch.corrcoef(torch.stack([normed.flatten(), trained.flatten()]))[0, 1] > 0.99
    assert not torch.allclose(normed, without, rtol=0.1)


def test_what_cannot_be_made_is_refused(monkeypatch, capsys):
    for name, complaint in (
        ("shortcut", "no study is called shortcut; there are "),
        ("regions,regions-cifar10", "regions-cifar10: the table does not come with the package; give a folder"),
    ):
        monkeypatch.setattr(sys, "argv", ["make_studies.py", "--only", name])
        with pytest.raises(SystemExit):
            make_studies.main()
        assert complaint in capsys.readouterr().err
