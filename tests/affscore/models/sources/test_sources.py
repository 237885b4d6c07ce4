"""Networks by name, from every source, and what is known of them."""

import sys
from types import SimpleNamespace

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from affscore import AffscoreError, load_data, load_model
from affscore.models import ModelCard, Preprocessing, Source, card_of, register, sources
from affscore.models.card import fingerprint
from affscore.models.preprocessing import IMAGENET
from affscore.models.sources import identity_of_model


def test_the_card_of_a_network_that_was_not_loaded_by_name():
    model = nn.Linear(2, 2)
    assert card_of(model) == ModelCard("Linear", "in memory", IMAGENET, preprocessing_known=False, parameters=6)
    model.preprocessing = Preprocessing(channels=1, size=9, resize=9, mean=(0.0,), std=(1.0,))
    assert card_of(model).preprocessing.size == 9


def test_the_names_of_the_outputs():
    assert card_of(load_model("squeezenet1_1@random")).classes[:2] == ("tench", "goldfish")
    model = nn.Linear(2, 2)
    for classes, known in ((None, None), (2, None), ([], None), ([0, 1], None), (["a", "b"], ("a", "b"))):
        model.classes = classes
        assert card_of(model).classes == known
    for labels, known in ({0: "cat", 1: "dog"}, ("cat", "dog")), ({0: "LABEL_0", 1: "LABEL_1"}, None):
        model.config = SimpleNamespace(id2label=labels)
        assert card_of(model).classes == known


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("resnet19", "unknown model 'resnet19'; did you mean resnet1"),
        ("ResNet18", "did you mean resnet18"),
        ("mobilenetv2", "did you mean mobilenet_v2"),
        ("mini:digitnet", "unknown model 'mini:digitnet'; did you mean mini:digitsnet"),
        ("digitsnet", "did you mean mini:digitsnet"),
        ("fasterrcnn_resnet50_fpn", "unknown model"),
        ("", "unknown model ''"),
        ("x.safetensors", "'x.safetensors' is a file of weights: .* NAME@x.safetensors "),
        ("resnet18@IMAGENET1K_V2", "unknown weights 'IMAGENET1K_V2' for resnet18; did you mean IMAGENET1K_V1"),
        ("resnet18@default", r"unknown weights 'default' .*known: DEFAULT, random, IMAGENET1K_V1"),
        ("mini:digitsnet@randum", "unknown weights 'randum' for mini:digitsnet; did you mean random"),
        ("alexnet@missing.pth", "file not found: 'missing.pth'"),
        ("alexnet@no/such/weights", "file not found: 'no/such/weights'"),
    ],
)
def test_unknown_names(spec, hint, hub):
    with pytest.raises(AffscoreError, match=hint) as caught:
        load_model(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["squeezenet1_1", "mini:digitsnet", "timm:test_vit"])
def test_the_seed_fixes_random_weights_and_leaves_the_global_generator_alone(name):
    pytest.importorskip("timm")
    before = torch.get_rng_state()
    one, same, other = (load_model(f"{name}@random", seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)
    assert not one.training
    assert (card_of(one).name, card_of(one).weights) == (name, "random")


def test_the_embedded_network_and_how_results_of_version_1_name_its_weights():
    assert card_of(load_model("mini:digitsnet")).preprocessing.channels == 1
    assert identity_of_model("mini:digitsnet")["files"] == {
        "digitsnet.safetensors": "ce1eee310fdbd59c4cd88e65e9c82ff4d3865149c54b9b33498b47060669856b"
    }


@given(st.text(max_size=30) | st.text(max_size=20).map("alexnet@{}".format))
@example("x" * 300)
@example("mini:digitsnet@" + "x" * 300)
@example("mini:digitsnet@~nobody-of-this-name/x.pth")
@example("mini:digitsnet@a\0b")
@example("a\0b.py:c")
@example("x" * 300 + ".py:c")
def test_any_text_is_a_network_or_one_error(spec):
    with pytest.raises(AffscoreError):
        load_model(spec.replace("random", "").replace("DEFAULT", "") + "?")


def test_an_attribute_of_that_name_that_is_something_else_says_nothing():
    class Network(nn.Module):
        def preprocessing(self, x):
            return x

    for part in (Network().preprocessing, nn.Identity(), {"size": 32}):
        own = Network()
        own.preprocessing = part
        assert not card_of(own).preprocessing_known


class Narrow(Source):
    """A source with one network."""

    def __init__(self, prefix):
        self.prefix, self.form = prefix, f"{prefix}:NAME"

    def names(self):
        return [f"{self.prefix}:narrow"]

    def load(self, name, weights, seed):
        scans = Preprocessing(channels=1, size=8, resize=8, mean=(0.0,), std=(1.0,))
        return nn.Sequential(nn.Conv2d(1, 3, 1), nn.ReLU()), ModelCard(name, weights, scans)


@pytest.fixture
def nothing_registered(monkeypatch):
    monkeypatch.setattr(sources, "registered", {})


@pytest.mark.parametrize("prefix", ["own", "mini"])
def test_networks_that_another_package_registers(prefix, nothing_registered):
    """A new prefix; and one that was there, whose networks they replace, those of an installed package, too."""
    register(Narrow(prefix))
    assert load_model(f"{prefix}:narrow")[0].out_channels == 3
    with pytest.raises(AffscoreError, match=f"did you mean {prefix}:narrow.*{prefix}:NAME"):
        load_model(f"{prefix}:narow")
    if prefix == "mini":
        with pytest.raises(AffscoreError, match="unknown model 'mini:digitsnet'"):
            load_model("mini:digitsnet")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package that brings networks by an entry point."""
    (tmp_path / "own-1.0.dist-info").mkdir()
    (tmp_path / "own-1.0.dist-info" / "METADATA").write_text("Name: own\nVersion: 1.0\n")
    (tmp_path / "own-1.0.dist-info" / "entry_points.txt").write_text("[affscore.sources]\nown = own_networks\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_networks", raising=False)
    return tmp_path / "own_networks.py"


def test_networks_of_an_installed_package(installed, nothing_registered):
    installed.write_text(
        "from affscore.models import register\nfrom tests.affscore.models.sources.test_sources import Narrow\n"
        "register(Narrow('own'))\n"
    )
    assert load_model("own:narrow")[0].out_channels == 3


@pytest.mark.parametrize("prefix", ["own", "mini"])
def test_a_package_that_fails_concerns_its_own_networks_alone(prefix, installed, nothing_registered):
    """What affscore has itself imports no plugin."""
    entries = installed.parent / "own-1.0.dist-info" / "entry_points.txt"
    entries.write_text(f"[affscore.sources]\n{prefix} = own_networks\n")
    installed.write_text("import nothing_of_this_name")
    for name in ("mini:digitsnet", "squeezenet1_1@random"):
        assert card_of(load_model(name)).name == name.removesuffix("@random")
    with pytest.raises(AffscoreError, match=f"'{prefix}' comes from own_networks, .* imported: ModuleNotFound"):
        load_model(f"{prefix}:narrow")


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True, 2**63])
@pytest.mark.parametrize(("load", "name"), [(load_model, "mini:digitsnet@random"), (load_data, "random")])
def test_a_seed_that_is_none(load, name, seed):
    with pytest.raises(AffscoreError, match="seed must be"):
        load(name, seed=seed)
