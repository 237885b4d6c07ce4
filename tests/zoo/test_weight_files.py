import argparse
from collections import Counter

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from affscore.errors import AffscoreError
from affscore.zoo.card import fingerprint
from affscore.zoo.weight_files import load_weights, read_state_dict, read_weights


def net(width=3):
    return nn.Sequential(nn.Linear(2, width), nn.BatchNorm1d(width), nn.Linear(width, 1))


@pytest.fixture
def trained():
    model = net()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
        model[1].running_mean.fill_(0.5)
    return model


WAYS = {
    "weights.pth": lambda state, file: torch.save(state, file),
    "weights.pt": lambda state, file: torch.save(state, file),
    "old.pth": lambda state, file: torch.save(state, file, _use_new_zipfile_serialization=False),
    "weights.safetensors": save_file,
    "checkpoint.pth": lambda state, file: torch.save({"epoch": 7, "state_dict": state, "best": 0.9}, file),
    "parallel.pth": lambda state, file: torch.save({f"module.{k}": v for k, v in state.items()}, file),
    "parallel.safetensors": lambda state, file: save_file({f"module.{k}": v for k, v in state.items()}, file),
    "both.pt": lambda state, file: torch.save({"state_dict": {f"module.{k}": v for k, v in state.items()}}, file),
    "lightning.ckpt": lambda state, file: torch.save({"state_dict": {f"model.{k}": v for k, v in state.items()}}, file),
    "without counts.pth": lambda state, file: torch.save(
        {k: v for k, v in state.items() if "num_batches" not in k}, file
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_weights_come_back_however_they_were_saved(name, trained, tmp_path):
    WAYS[name](trained.state_dict(), tmp_path / name)
    model = net()
    load_weights(model, tmp_path / name)
    for key, value in trained.state_dict().items():
        assert torch.equal(model.state_dict()[key], value)
    assert fingerprint(model) == fingerprint(trained)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {k: v for k, v in s.items() if k != "2.bias"}, r"\(1 missing, 0 unknown, .* '2.bias' is missing\)"),
        (lambda s: {**s, "3.weight": torch.zeros(1)}, r"\(0 missing, 1 unknown, .* '3.weight' is not in the network\)"),
        (lambda s: net(4).state_dict(), r"\(0 missing, 0 unknown, 7 of another shape: '0.bias' has shape \(4,\), not"),
        (lambda s: {f"net.{k}": v for k, v in s.items() if k != "0.bias"}, r"\(8 missing, 8 unknown, .* is missing\)"),
    ],
)
def test_weights_of_another_architecture_change_nothing(change, message, trained, tmp_path):
    file = tmp_path / "other.pth"
    torch.save(change(trained.state_dict()), file)
    model = net()
    before = fingerprint(model)
    with pytest.raises(AffscoreError, match=f"the weights in 'other.pth' are not those of this architecture {message}"):
        load_weights(model, file)
    assert fingerprint(model) == before


def test_a_whole_network_is_not_a_state_dictionary(tmp_path):
    torch.save(net(), tmp_path / "whole.pth")
    with pytest.raises(AffscoreError, match=r"save them with torch.save\(model.state_dict\(\), FILE\)"):
        read_state_dict(tmp_path / "whole.pth")


@pytest.mark.parametrize("content", [[1, 2], {}, {"a": 3}, torch.zeros(3), "text", {"state_dict": {"a": 1}}, None])
def test_safe_contents_that_are_no_state_dictionary(content, tmp_path):
    torch.save(content, tmp_path / "x.pth")
    with pytest.raises(AffscoreError, match=r"'x.pth' holds no state dictionary \(names and tensors\), but a"):
        read_state_dict(tmp_path / "x.pth")


def test_what_is_not_there(tmp_path):
    with pytest.raises(AffscoreError, match=r"file not found: .*missing.pth"):
        read_state_dict(tmp_path / "missing.pth")
    with pytest.raises(AffscoreError, match="there is a folder, not a file"):
        read_state_dict(tmp_path)


def test_the_fingerprint_sees_every_number_name_and_type(trained):
    first = fingerprint(trained)
    assert first == fingerprint(trained)
    assert fingerprint(trained.double()) != first
    trained.float()
    assert fingerprint(trained) == first
    with torch.no_grad():
        trained[2].weight[0, 0] = torch.nextafter(trained[2].weight[0, 0], torch.tensor(torch.inf))
    assert fingerprint(trained) != first
    assert fingerprint(nn.Sequential(nn.Identity(), nn.Linear(1, 1))) != fingerprint(nn.Sequential(nn.Linear(1, 1)))
    assert len(fingerprint(nn.ReLU())) == 16
    assert fingerprint(net().bfloat16())


@pytest.mark.parametrize("zipped", [True, False])
def test_what_checkpoints_hold_is_read(tmp_path, zipped):
    """Schedules, options, shared and expanded tensors, parameters, types: as torch.save writes them."""
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.zeros(1, 3, 10, 10).requires_grad_()).sum().backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 5])
    content = {
        "model": network.state_dict(),
        "parameters": dict(network.named_parameters()),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "args": argparse.Namespace(lr=0.1, device=torch.device("cpu"), dtype=torch.float32),
        "history": [(0.1, None), (0.2, True)],
        "small": torch.zeros(3).expand(4, 3),
        "many": [torch.zeros(2, dtype=dtype) for dtype in (torch.bfloat16, torch.bool, torch.int8)],
    }
    if zipped:  # torch.load cannot read these in the old format
        content["many"].append(torch.zeros(2, dtype=torch.uint16))
    assert isinstance(content["schedule"]["milestones"], Counter)
    content["again"] = content["model"]
    file = tmp_path / "checkpoint.pth"
    torch.save(content, file, _use_new_zipfile_serialization=zipped)
    found = read_weights(file)
    assert found.keys() == content.keys()
    assert found["schedule"] == content["schedule"]
    assert str(found["optimizer"]) == str(content["optimizer"])
    assert all(torch.equal(a, b) for a, b in zip(found["many"], content["many"], strict=True))
    state = read_state_dict(file)
    assert all(torch.equal(state[name], value) for name, value in network.state_dict().items())
