import io
import pickle
import sys
from types import SimpleNamespace

import pytest
import torch
import torchvision
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from affscore import AffscoreError, load_model
from affscore.models import ModelCard, Preprocessing, Source, card_of, register, sources
from affscore.models.card import fingerprint
from affscore.models.preprocessing import IMAGENET


def test_a_network_of_torchvision_with_random_weights():
    before = torch.get_rng_state()
    model, again, other = (load_model("squeezenet1_1@random", seed) for seed in (0, 0, 1))
    assert isinstance(model, torchvision.models.SqueezeNet)
    assert not model.training
    assert fingerprint(model) == fingerprint(again) != fingerprint(other)
    assert torch.equal(torch.get_rng_state(), before)
    card = card_of(model)
    assert (card.name, card.weights, card.preprocessing) == ("squeezenet1_1", "random", IMAGENET)


def test_the_preprocessing_is_that_of_the_weights():
    assert card_of(load_model("mini:digitsnet")).preprocessing.channels == 1
    swin = torchvision.models.Swin_T_Weights.DEFAULT.transforms()
    assert Preprocessing.from_torchvision(swin).interpolation == "bicubic"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["googlenet", "inception_v3"])
def test_networks_with_auxiliary_heads_are_initialised_without_a_warning(name, monkeypatch):
    monkeypatch.setattr(nn.init, "trunc_normal_", lambda tensor, *args, **kwargs: tensor.data.fill_(0.01))
    model = load_model(f"{name}@random")
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


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
        *(
            (f"x.{suffix}", f"'x.{suffix}' is a file of weights: .* NAME@x.{suffix} ")
            for suffix in ("pth", "pt", "safetensors")
        ),
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


@pytest.mark.parametrize("spec", ["resnet18", "swin_t@DEFAULT", "resnet50@IMAGENET1K_V1"])
def test_pretrained_weights_without_a_network(spec, hub):
    with pytest.raises(AffscoreError, match=r"not on this machine and could not be downloaded") as caught:
        load_model(spec)
    message = str(caught.value)
    assert "\n" not in message
    assert "https://download.pytorch.org/models/" in message
    assert f"or give it as {spec.split('@')[0]}@FILE" in message
    assert list(hub.iterdir()) == []


def cached(hub, name):
    """Where torchvision keeps the default weights of a network."""
    return hub / torchvision.models.get_model_weights(name).DEFAULT.url.rsplit("/", 1)[-1]


def test_cached_weights_need_no_network(hub):
    trained = load_model("squeezenet1_1@random", seed=7)
    torch.save(trained.state_dict(), cached(hub, "squeezenet1_1"))
    model = load_model("squeezenet1_1")
    assert fingerprint(model) == fingerprint(trained)
    assert card_of(model).weights == "IMAGENET1K_V1"
    assert card_of(model).preprocessing == IMAGENET


def test_what_is_known_of_a_network():
    known = card_of(load_model("squeezenet1_1@random"))
    assert (known.family, known.parameters) == ("SqueezeNets", 1_235_496)
    assert card_of(load_model("mini:digitsnet")).family == "ResNets"


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("content", [b"", b"<html>504</html>", pickle.dumps({"a": 1}), b"PK\x03\x04"])
def test_a_broken_file_in_the_cache_is_named(content, hub):
    file = cached(hub, "squeezenet1_1")
    file.write_bytes(content)
    with pytest.raises(AffscoreError, match=f"in the file {file.name} of .*remove the file") as caught:
        load_model("squeezenet1_1")
    assert "\n" not in str(caught.value)


def test_a_download_of_other_weights_is_an_error(hub, monkeypatch):
    monkeypatch.setattr("urllib.request.urlopen", lambda request, timeout: io.BytesIO())
    monkeypatch.setattr(
        torch.hub, "download_url_to_file", lambda url, file, *args, **kwargs: torch.save({"a": torch.zeros(1)}, file)
    )
    with pytest.raises(AffscoreError, match="cannot be used"):
        load_model("squeezenet1_1")


@pytest.mark.parametrize("suffix", [".pth", ".pt", ".safetensors"])
def test_weights_from_a_file(suffix, tmp_path):
    from safetensors.torch import save_file

    trained = load_model("squeezenet1_1@random", seed=7)
    file = tmp_path / f"mine{suffix}"
    (save_file if suffix == ".safetensors" else torch.save)(trained.state_dict(), file)
    model = load_model(f"squeezenet1_1@{file}")
    assert fingerprint(model) == fingerprint(trained)
    assert card_of(model).weights == f"mine{suffix}"
    with pytest.raises(AffscoreError, match=f"'mine{suffix}' are not those of this architecture"):
        load_model(f"mini:digitsnet@{file}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["googlenet", "inception_v3"])
def test_the_same_file_as_pretrained_weights_and_as_a_file_is_the_same_network(name, hub, monkeypatch):
    """Networks that came from TensorFlow shift their input where torchvision loads their weights."""
    monkeypatch.setattr(nn.init, "trunc_normal_", lambda tensor, *args, **kwargs: tensor.data.normal_(0, 0.05))
    file = cached(hub, name)
    torch.save(load_model(f"{name}@random", seed=1).state_dict(), file)
    pretrained, from_file = load_model(name), load_model(f"{name}@{file}")
    x = torch.randn(2, 3, 96, 96)
    with torch.inference_mode():
        assert torch.equal(pretrained(x), from_file(x))


FACTORIES = """
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from affscore.models import Preprocessing


@dataclass
class Options:
    width: int = 3


def make():
    return nn.Sequential(nn.Linear(2, Options().width), nn.ReLU(), nn.Dropout())


def grey():
    model = make()
    model.preprocessing = Preprocessing(channels=1, size=8, resize=8, mean=(0.5,), std=(0.5,))
    return model


class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(2, 3), nn.ReLU())


ready = nn.Linear(4, 4)


def broken():
    raise KeyError("width")


def nothing():
    return 3


number = 3
"""


@pytest.fixture
def own_file(tmp_path):
    file = tmp_path / "my_networks.py"
    file.write_text(FACTORIES)
    return file


def test_a_factory_in_a_file(own_file):
    model = load_model(f"{own_file}:make", seed=1)
    assert not model.training
    assert (card_of(model).name, card_of(model).weights) == ("my_networks.py:make", "as built")
    assert card_of(model).preprocessing == IMAGENET
    assert fingerprint(load_model(f"{own_file}:make", seed=1)) == fingerprint(model)
    assert fingerprint(load_model(f"{own_file}:make", seed=2)) != fingerprint(model)
    assert card_of(load_model(f"{own_file}:grey")).preprocessing.size == 8


def test_a_class_or_a_network_in_a_file(own_file):
    assert type(load_model(f"{own_file}:Net")).__name__ == "Net"
    first, again, other = (load_model(f"{own_file}:ready", seed=seed) for seed in (1, 1, 2))
    assert first.in_features == 4
    assert fingerprint(first) == fingerprint(again) != fingerprint(other)


def test_a_factory_with_weights(own_file, tmp_path):
    trained = load_model(f"{own_file}:make", seed=5)
    torch.save(trained.state_dict(), tmp_path / "w.pth")
    model = load_model(f"{own_file}:make@{tmp_path / 'w.pth'}")
    assert fingerprint(model) == fingerprint(trained)
    assert card_of(model).weights == "w.pth"
    with pytest.raises(AffscoreError, match="decides its weights itself; omit @random"):
        load_model(f"{own_file}:make@random")


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("mak", "defines no 'mak'; did you mean make"),
        ("", "defines no ''"),
        ("broken", r"my_networks.py:broken\(\) fails: KeyError: 'width'"),
        ("nothing", r"my_networks.py:nothing must give a torch.nn.Module, got a int"),
        ("number", r"my_networks.py:number\(\) fails: TypeError"),
    ],
)
def test_factories_that_do_not_work(own_file, factory, message):
    with pytest.raises(AffscoreError, match=message) as caught:
        load_model(f"{own_file}:{factory}")
    assert str(own_file.parent) not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(AffscoreError, match=r"file not found: .*none.py'; write path/to/file.py:factory"):
        load_model(f"{tmp_path / 'none.py'}:make")


@pytest.mark.parametrize("stated", [{"size": 32}, "imagenet", 3])
def test_a_preprocessing_of_another_kind_is_refused(stated):
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    network.preprocessing = stated
    with pytest.raises(AffscoreError, match=r"must be an affscore.models.Preprocessing\(...\), .* got"):
        card_of(network)


def test_a_part_of_a_network_may_be_called_preprocessing():
    class Network(nn.Module):
        def preprocessing(self, x):
            return x

    own = Network()
    assert not card_of(own).preprocessing_known
    own.preprocessing = nn.Identity()
    assert not card_of(own).preprocessing_known


def test_what_is_installed_in_the_folder_of_a_file_stays_imported(tmp_path, monkeypatch):
    installed = tmp_path / ".venv" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "installed_package.py").write_text("")
    (tmp_path / "beside_it.py").write_text("")
    (tmp_path / "with_a_folder_of_its_name").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path.parent / "elsewhere"))
    (tmp_path.parent / "elsewhere").mkdir()
    (tmp_path.parent / "elsewhere" / "with_a_folder_of_its_name.py").write_text("")
    (tmp_path / "net.py").write_text(
        "import beside_it\nimport installed_package\nimport with_a_folder_of_its_name\nfrom torch import nn\n"
        "net = nn.Linear(2, 2)\n"
    )
    monkeypatch.syspath_prepend(str(installed))
    load_model(f"{tmp_path / 'net.py'}:net")
    assert "installed_package" in sys.modules
    assert "beside_it" not in sys.modules
    del sys.modules["installed_package"], sys.modules["with_a_folder_of_its_name"]


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
    monkeypatch.setattr(sources, "_registered", {})


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
    with pytest.raises(AffscoreError, match="expected an object of a class of"):
        register(Narrow)


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
        "from affscore.models import register\nfrom tests.affscore.models.test_models import Narrow\n"
        "register(Narrow('own'))\n"
    )
    assert load_model("own:narrow")[0].out_channels == 3


def test_a_package_that_fails_concerns_its_own_networks_alone(installed, nothing_registered):
    installed.write_text("import nothing_of_this_name")
    with pytest.raises(AffscoreError, match="come from own_networks, which cannot be imported: ModuleNotFound"):
        load_model("own:narrow")
    assert card_of(load_model("squeezenet1_1@random")).name == "squeezenet1_1"
