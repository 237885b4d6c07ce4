"""What is done to a network and to the generators of random numbers is undone."""

# ruff: noqa: NPY002  # the global generator is what may be disturbed
import random

import numpy as np
import pytest
import torch
from torch import nn

from affscore import affinity_score, signature
from affscore.errors import AffscoreError
from affscore.linear_regions.traced_network import double_copy
from affscore.recorder.model_state import choose_device, prepared, random_states_kept, seed_generators, unwrapped
from tests.affscore.recorder.hard_networks import module_class


def partly_frozen():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Sequential(nn.ReLU(), nn.Dropout()))
    model.train()
    model[1].eval()
    model[3][1].eval()
    return model


def states(model):
    return [module.training for module in model.modules()]


def test_the_state_of_every_part_is_restored():
    model = partly_frozen()
    before = states(model)
    with prepared(model, torch.device("cpu")) as inside:
        assert inside is model
        assert not any(states(model))
    assert states(model) == before
    with pytest.raises(KeyError), prepared(model, torch.device("cpu")):
        raise KeyError
    assert states(model) == before


def test_the_model_runs_on_the_device_and_comes_back(device):
    model = partly_frozen()
    parameters = list(model.parameters())
    with prepared(model, device):
        assert {parameter.device.type for parameter in model.parameters()} == {device.type}
    assert {parameter.device.type for parameter in model.parameters()} == {"cpu"}
    assert [id(p) for p in model.parameters()] == [id(p) for p in parameters]
    model(torch.randn(4, 2)).sum().backward()


def test_a_model_without_parameters():
    model = nn.ReLU()
    with prepared(model, torch.device("cpu")):
        assert not model.training
    assert model.training


def test_wrappers_are_taken_off():
    layer = nn.Linear(2, 2)
    assert unwrapped(layer) is layer
    assert unwrapped(nn.DataParallel(layer)) is layer
    compiled = torch.compile(layer, backend="eager")
    assert compiled is not layer
    assert unwrapped(compiled) is layer
    assert unwrapped(nn.DataParallel(compiled)) is layer


@pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning")
@pytest.mark.parametrize("make", [torch.jit.script, lambda m: torch.jit.trace(m, torch.zeros(1, 2))])
def test_torchscript_is_refused(make):
    scripted = make(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    with pytest.raises(AffscoreError, match="it is TorchScript; give the network from before"):
        unwrapped(scripted)
    with pytest.raises(AffscoreError, match="its part '1' is TorchScript"):
        unwrapped(nn.Sequential(nn.ReLU(), scripted))


def test_what_is_no_network():
    with pytest.raises(
        AffscoreError,
        match=r"model must be a torch.nn.Module \(affscore.load_model makes one of a name\), got function",
    ):
        unwrapped(lambda x: x)


@pytest.mark.parametrize(("there", "expected"), [(True, "cuda"), (False, "cpu")])
def test_devices(there, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    model = nn.Linear(1, 1)
    assert choose_device("cpu", model) == torch.device("cpu")
    assert choose_device("auto", model) == torch.device(expected)
    assert choose_device("auto", model.to("meta")) == torch.device("meta")


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "", "cpu:x"])
def test_devices_that_are_not_there(name):
    with pytest.raises(AffscoreError, match=f"the device '{name}' cannot be used here"):
        choose_device(name, nn.Linear(1, 1))


def exported(model, example):
    return torch.export.export(model, (example,), dynamic_shapes=({0: torch.export.Dim("samples")},)).module()


class TestExported:
    """What ``torch.export`` makes has no evaluation mode, and runs operators in place of functions of PyTorch."""

    def test_it_is_measured_or_refused_in_a_sentence(self):
        network, inputs = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout()).eval(), torch.randn(32, 3)
        try:
            found = signature(exported(network, inputs), inputs, n=32, criteria=False).scores
        except AffscoreError as error:
            found = str(error)
        expected = signature(network, inputs, n=32, criteria=False).scores
        assert "cannot be seen" in found if isinstance(found, str) else np.array_equal(found, expected)

    def test_linear_regions_have_the_same_evaluation_mode(self):
        part = exported(nn.Sequential(nn.Linear(3, 4), nn.ReLU()).eval(), torch.randn(8, 3))
        whole = nn.Sequential(nn.Dropout(), part, nn.Dropout())
        network, _ = double_copy(whole, "cpu")
        assert not any(states(network))


def test_a_network_without_evaluation_mode_has_the_flags():
    class Without(nn.Sequential):
        def train(self, mode=True):
            raise NotImplementedError  # as the modules of torch.export do

    model = Without(nn.Dropout(), nn.Sequential(nn.Dropout()))
    before = states(model)
    with prepared(model, torch.device("cpu")):
        assert not any(states(model))
    assert states(model) == before


class OwnMode(nn.Module):
    """Drops features in a mode of its own, which its ``train`` sets."""

    def __init__(self):
        super().__init__()
        self.linear, self.dropped = nn.Linear(3, 8), 0.9

    def train(self, mode=True):
        self.dropped = 0.9 * mode
        return super().train(mode)

    def forward(self, x):
        return nn.functional.dropout(self.linear(x), self.dropped).relu()


def test_evaluation_mode_is_what_the_network_makes_of_it():
    network, inputs = OwnMode().train(), torch.randn(64, 3)
    expected = affinity_score(network.linear(inputs).detach(), network.linear(inputs).relu().detach()).value
    assert signature(network, inputs, n=64, progress=False).scores[0] == pytest.approx(expected, abs=1e-5)


Noise = module_class(
    "Noise", lambda x: torch.relu(x + 0.1 * torch.randn_like(x) + 0.1 * np.random.rand() + 0.1 * random.random())
)


class Drawn(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return torch.randn(4) + index * np.random.rand() + random.random()


def generators():
    return torch.get_rng_state().tolist(), [str(part) for part in np.random.get_state()], random.getstate()


def test_a_signature_draws_from_none_of_them():
    before = generators()
    measured = [signature(Noise(), data, criteria=False, seed=5).scores for data in (Drawn(), Drawn())]
    assert generators() == before
    np.random.rand(), random.random(), torch.rand(1)
    measured.append(signature(Noise(), Drawn(), criteria=False, seed=5).scores)
    assert (measured[0] == measured[1]).all()
    assert (measured[0] == measured[2]).all()
    assert (signature(Noise(), Drawn(), criteria=False, seed=6).scores != measured[0]).all()


def test_after_an_error_too():
    before = generators()
    try:
        with random_states_kept(torch.device("cpu")):
            seed_generators(2**63, torch.device("cpu"))
            raise KeyError
    except KeyError:
        pass
    assert generators() == before
