"""Files of one's own and what lies beside them: each sees its own folder, as it is now, and leaves nothing behind."""

import importlib
import os
import sys

import pytest
import torch

from affscore import AffscoreError, load_model, signature
from affscore.models import card_of
from affscore.models.card import fingerprint
from affscore.models.preprocessing import IMAGENET

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


def test_a_factory_a_class_or_a_network_in_a_file(own_file):
    model = load_model(f"{own_file}:make", seed=1)
    assert not model.training
    assert (card_of(model).name, card_of(model).weights) == ("my_networks.py:make", "as built")
    assert card_of(model).preprocessing == IMAGENET
    assert card_of(load_model(f"{own_file}:grey")).preprocessing.size == 8
    assert type(load_model(f"{own_file}:Net")).__name__ == "Net"
    assert load_model(f"{own_file}:ready").in_features == 4
    for factory in ("make", "ready"):
        first, again, other = (load_model(f"{own_file}:{factory}", seed=seed) for seed in (1, 1, 2))
        assert fingerprint(first) == fingerprint(again) != fingerprint(other)


def test_a_factory_with_weights(own_file, tmp_path):
    trained = load_model(f"{own_file}:make", seed=5)
    torch.save(trained.state_dict(), tmp_path / "w.pth")
    model = load_model(f"{own_file}:make@{tmp_path / 'w.pth'}")
    assert fingerprint(model) == fingerprint(trained)
    assert card_of(model).weights == "w.pth"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("my_networks.py:mak", "defines no 'mak'; did you mean make"),
        ("my_networks.py:broken", r"my_networks.py:broken\(\) fails: KeyError: 'width'"),
        ("my_networks.py:nothing", r"my_networks.py:nothing must give a torch.nn.Module, got a int"),
        ("my_networks.py:number", r"my_networks.py:number\(\) fails: TypeError"),
        ("my_networks.py:make@random", "decides its weights itself; omit @random"),
        ("none.py:make", "file not found: 'none.py'"),
    ],
)
def test_factories_that_do_not_work(own_file, monkeypatch, place, message):
    monkeypatch.chdir(own_file.parent)
    with pytest.raises(AffscoreError, match=message) as caught:
        load_model(place)
    assert str(own_file.parent) not in str(caught.value)


def test_what_is_installed_in_the_folder_of_a_file_stays_imported(tmp_path):
    installed = tmp_path / ".venv" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "installed_package.py").write_text("")
    (tmp_path / "beside_it.py").write_text("")
    (tmp_path / "net.py").write_text(
        "import beside_it\nimport installed_package\nfrom torch import nn\nnet = nn.Linear(2, 2)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(installed))
        load_model(f"{tmp_path / 'net.py'}:net")
    assert "installed_package" in sys.modules
    assert "beside_it" not in sys.modules
    del sys.modules["installed_package"]


NET = """
from torch import nn
from affscore.models import Preprocessing
{imports}

def make():
    {later}
    network = nn.Sequential(nn.Conv2d(1, 8, 3), {name}())
    network.preprocessing = Preprocessing(channels=1, size=8, resize=8, mean=(0.3,), std=(0.3,))
    return network
"""


FORMS = {
    "a module": ("helper.py", "import helper", "helper.Act"),
    "a package": ("helper/__init__.py", "import helper", "helper.Act"),
    "a part of a package": ("helper/inner.py", "import helper.inner", "helper.inner.Act"),
    "a name": ("helper.py", "from helper import Act", "Act"),
}


def written(folder, act, form="a module", late=False):
    """A file with a network, whose activation is a class in another file of the same folder."""
    helper, line, name = FORMS[form]
    (folder / helper).parent.mkdir(parents=True, exist_ok=True)
    (folder / helper).write_text(f"from torch.nn import {act} as Act\n")
    (folder / "net.py").write_text(
        NET.format(imports="" if late else line, later=line if late else "pass", name=name), encoding="utf-8"
    )
    return f"{folder / 'net.py'}:make"


def activation(spec):
    return type(load_model(spec)[1]).__name__


@pytest.fixture(autouse=True)
def nothing_is_left_behind(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    modules, path = dict(sys.modules), list(sys.path)
    yield
    changed = {name for name in modules.keys() | sys.modules.keys() if modules.get(name) is not sys.modules.get(name)}
    assert not {name for name in changed if name.startswith(("helper", "net"))}
    assert sys.path == path
    assert not sys.dont_write_bytecode


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_each_file_imports_from_its_own_folder(tmp_path, form, late):
    a, b = written(tmp_path / "a", "ReLU", form, late), written(tmp_path / "b", "Sigmoid", form, late)
    assert [activation(spec) for spec in (a, b, a)] == ["ReLU", "Sigmoid", "ReLU"]


def test_paths_that_a_file_adds_stay_for_its_forward(tmp_path):
    added = "import sys; sys.path.append('added')"
    (tmp_path / "net.py").write_text(NET.format(imports=added, later="pass", name="nn.ReLU"))
    load_model(f"{tmp_path}/net.py:make")
    assert sys.path.pop() == "added"
    assert str(tmp_path) not in sys.path


def test_files_are_read_as_they_are_now(tmp_path):
    """An edit within the same second and of the same length: compiled code of before would look up to date."""
    spec = written(tmp_path, "Tanh")
    before = {file: file.stat() for file in tmp_path.iterdir()}
    assert activation(spec) == "Tanh"
    (tmp_path / "helper.py").write_text("from torch.nn import GELU as Act\n")
    os.utime(tmp_path / "helper.py", ns=(before[tmp_path / "helper.py"].st_mtime_ns,) * 2)
    assert activation(spec) == "GELU"
    net = tmp_path / "net.py"
    net.write_text(net.read_text().replace("helper.Act()", "nn.SiLU(   )"))
    os.utime(net, ns=(before[net].st_mtime_ns,) * 2)
    assert net.stat().st_size == before[net].st_size
    assert activation(spec) == "SiLU"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["helper.py", "net.py"]


def test_a_module_of_the_same_name_that_was_loaded_before(tmp_path):
    """The user's own, from the folder where she works: it does not count for the file, and stays as it was."""
    written(tmp_path / "here", "ReLU")
    spec = written(tmp_path / "there", "Sigmoid")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path / "here")
        helper = importlib.import_module("helper")
        try:
            assert activation(spec) == "Sigmoid"
            assert sys.modules["helper"] is helper
            # the same file is not imported twice: its classes are those that the user declares as activations
            assert type(load_model(f"{tmp_path / 'here' / 'net.py'}:make")[1]) is helper.Act
        finally:
            del sys.modules["helper"]


def test_what_lies_beside_a_file_does_not_hide_packages(tmp_path):
    spec = written(tmp_path, "ReLU")
    for name in ("torch", "numpy", "json"):
        (tmp_path / name).mkdir()
    (tmp_path / "random.py").write_text("raise RuntimeError('the standard library has one')\n")
    (tmp_path / "net.py").write_text("import random\n" + (tmp_path / "net.py").read_text())
    torch = sys.modules["torch"]
    assert activation(spec) == "ReLU"
    assert sys.modules["torch"] is torch


@pytest.mark.parametrize("line", ["import sys; sys.exit(0)", "import nothing_of_this_name", "def broken(:"])
@pytest.mark.parametrize("where", ["net.py", "helper.py", "factory"])
def test_files_that_fail_or_end_the_process(tmp_path, line, where):
    spec = written(tmp_path, "ReLU")
    file = tmp_path / ("net.py" if where == "factory" else where)
    text = file.read_text()
    file.write_text(text.replace("    pass\n", f"    {line}\n") if where == "factory" else f"{line}\n{text}")
    with pytest.raises(AffscoreError, match=r"net\.py.* fails"):
        load_model(spec)


def test_a_network_whose_train_returns_nothing(tmp_path):
    (tmp_path / "frozen.py").write_text(
        "from torch import nn\n"
        "class Net(nn.Sequential):\n"
        "    def train(self, mode=True): super().train(mode)\n"
        "def make(): return Net(nn.Linear(4, 4), nn.ReLU())\n"
    )
    model = load_model(f"{tmp_path}/frozen.py:make")
    assert not model.training
    assert len(signature(model, torch.randn(16, 4), n=16, progress=False).scores) == 1
