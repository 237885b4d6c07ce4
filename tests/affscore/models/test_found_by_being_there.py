"""A module in the folder of sources is a source, without a word anywhere else."""

import sys

import pytest

import affscore.models.data
import affscore.models.sources
from affscore import AffscoreError, load_data, load_model
from affscore.models import card_of
from affscore.models.data import identity_of_data
from affscore.models.sources import identity_of_model

DATA = """
import torch
from affscore.models.data import DataSource, ImageSet

def load(argument, seed):
    return ImageSet(f"plain:{argument}", int(argument), lambda index, p: torch.full((1, 2, 2), index / 10))

SOURCES = [DataSource("plain", "FILE", load)]
"""


NETWORKS = """
from torch import nn
from affscore.models import ModelCard
from affscore.models.sources import Source

class Plain(Source):
    form, prefix = "plain:WIDTH", "plain"

    def names(self):
        return ["plain:wide7", "plain:wide8"]

    def load(self, name, weights, seed):
        return nn.Linear(int(name[-1]), 2), ModelCard(name, weights)

SOURCE = Plain()
"""


@pytest.fixture(autouse=True)
def two_modules(tmp_path, monkeypatch):
    for package, source in ((affscore.models.data, DATA), (affscore.models.sources, NETWORKS)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "of_a_test.py").write_text(source)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    yield
    for package in (affscore.models.data, affscore.models.sources):
        sys.modules.pop(f"{package.__name__}.of_a_test", None)
        vars(package).pop("of_a_test", None)


def test_a_data_source():
    data = load_data("plain:5")
    assert (data.name, len(data)) == ("plain:5", 5)
    assert identity_of_data("plain:5", 3, 2, 0)["of"] == 5
    with pytest.raises(AffscoreError, match=r"did you mean plain\? \(known: .*digits, .* plain:FILE"):
        load_data("plan:5")


def test_a_model_source():
    assert card_of(load_model("plain:wide7")).parameters == 16
    assert identity_of_model("plain:wide7@random") == {"model": "plain:wide7", "weights": "random", "files": {}}
    for wrong in ("plain:wide9", "plan:wide7"):
        with pytest.raises(AffscoreError, match=r"did you mean plain:wide.*\(MODEL is .*plain:WIDTH"):
            load_model(wrong)
