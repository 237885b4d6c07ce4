"""Files of self-supervised releases, in their layouts: the encoder is found, and nothing else is taken for one."""

import argparse

import pytest
import torch

from affscore import AffscoreError, load_model
from companion.encoders import with_encoder

NETWORK = """
from torch import nn
from torchvision.models.resnet import BasicBlock

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU()
        shortcut = nn.Sequential(nn.Conv2d(4, 8, 1, 2, bias=False), nn.BatchNorm2d(8))
        self.layer1, self.layer2 = nn.Sequential(BasicBlock(4, 4)), nn.Sequential(BasicBlock(4, 8, 2, shortcut))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.layer2(self.layer1(self.relu(self.bn1(self.conv1(x)))))
        return self.fc(x.mean(dim=(2, 3)))
"""


@pytest.fixture
def small(tmp_path):
    """The name of a small network with the names of torchvision's ResNets."""
    (tmp_path / "small.py").write_text(NETWORK)
    return f"{tmp_path / 'small.py'}:Small"


def under(prefix, state):
    return {prefix + name: value for name, value in state.items()}


def mlp(prefix, *layers):
    return {f"{prefix}{layer}.{part}": torch.ones(3) for layer in layers for part in ("weight", "bias")}


QUEUE = {"module.queue": torch.ones(4, 6), "module.queue_ptr": torch.zeros(1, dtype=torch.long)}

# what is in the file, given the encoder that is evaluated and the other one
RELEASES = {
    "SwAV": lambda q, k: under("module.", q | mlp("projection_head.", 0, 3) | {"prototypes.weight": torch.ones(2)}),
    "MoCo v1": lambda q, k: {
        "epoch": 200,
        "state_dict": under("module.encoder_q.", q | {"fc.weight": torch.ones(7, 8), "fc.bias": torch.ones(7)})
        | under("module.encoder_k.", k | {"fc.weight": torch.ones(7, 8), "fc.bias": torch.ones(7)})
        | QUEUE,
    },
    "MoCo v3": lambda q, k: {
        "state_dict": under("module.base_encoder.", q | mlp("fc.", 0, 1, 3))
        | under("module.momentum_encoder.", k | mlp("fc.", 0, 1, 3))
        | mlp("module.predictor.", 0, 1, 3)
    },
    "SimSiam": lambda q, k: {
        "state_dict": under("module.encoder.", q | mlp("fc.", 0, 1, 3, 4, 6)) | mlp("module.predictor.", 0, 1, 3)
    },
    "DINO": lambda q, k: {
        "student": under("module.backbone.", k) | mlp("module.head.mlp.", 0, 2, 4),
        "teacher": under("backbone.", q) | mlp("head.mlp.", 0, 2, 4),
        "optimizer": {"state": {0: {"exp_avg": torch.ones(2)}}, "param_groups": [{"lr": 0.1, "params": [0]}]},
        "args": argparse.Namespace(arch="resnet50"),
        "dino_loss": {"center": torch.ones(1, 6)},
    },
    "DINO, the teacher alone": lambda q, k: {"teacher": under("backbone.", q) | mlp("head.mlp.", 0)},
    "ReSSL": lambda q, k: {
        "model": under("module.encoder_q.", under("net.", q) | mlp("head.", 0, 2))
        | under("module.encoder_k.", under("net.", k) | mlp("head.", 0, 2))
        | QUEUE
    },
    "SCE": lambda q, k: {
        "state_dict": under("trunk.", q)
        | under("momentum_trunk.", k)
        | mlp("projector.", 0)
        | {"queue": torch.ones(4, 6)}
    },
    "VICReg": lambda q, k: {"model": under("module.backbone.", q) | mlp("module.projector.", 0, 1, 3)},
    "Truncated Triplet": lambda q, k: {
        "state_dict": under("backbone.", q) | under("online_net.0.", q) | under("target_net.0.", k),
        "meta": {"epoch": 200},
    },
    "t-ReX": lambda q, k: q,
}


def bodies(spec, seeds=(3, 4)):
    """The encoders of two networks of this name: what is in a file without a classifier."""
    states = [load_model(spec, seed=seed).state_dict() for seed in seeds]
    last = list(states[0])[-1].rpartition(".")[0]
    return [
        {name: (value + 0.125).to(value.dtype) for name, value in state.items() if not name.startswith(last)}
        for state in states
    ]


def converted(spec, content, folder, name="release.pth.tar"):
    torch.save(content, folder / name)
    return with_encoder(f"{spec}@{folder / name}", folder / "encoders")


@pytest.mark.parametrize("release", RELEASES)
def test_the_encoder_that_the_authors_evaluate_is_found(release, small, tmp_path):
    query, key = bodies(small)
    found = converted(small, RELEASES[release](query, key), tmp_path)
    assert found == f"{small}@{tmp_path / 'encoders' / 'release.pth'}"
    state, own = load_model(found).state_dict(), load_model(small).state_dict()
    assert all(torch.equal(state[name], query[name]) for name in query)
    assert all(torch.equal(state[name], own[name]) for name in ("fc.weight", "fc.bias"))


def test_a_file_with_all_weights_is_left_as_it_is(small, tmp_path):
    assert with_encoder("resnet50@IMAGENET1K_V1", tmp_path) == "resnet50@IMAGENET1K_V1"
    state = load_model(small, seed=3).state_dict()
    for content in (state, under("module.", state), {"state_dict": state}):
        assert converted(small, content, tmp_path) == f"{small}@{tmp_path / 'release.pth.tar'}"
    assert not (tmp_path / "encoders").exists()


CHANGES = {
    "a weight less": lambda q: {name: value for name, value in q.items() if name != "layer2.0.conv1.weight"},
    "a further block": lambda q: under("encoder_q.", q | {"layer2.1.conv1.weight": torch.ones(1)}),
    "another prefix": lambda q: under("student.", q),
    "nothing": lambda q: {"a": torch.ones(1)},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_no_encoder_of_the_network_is_refused(change, small, tmp_path):
    query, _ = bodies(small)
    with pytest.raises(AffscoreError, match=r"'release.pth.tar' holds no encoder of .*:Small, in none of the layouts"):
        converted(small, CHANGES[change](query), tmp_path)


def test_another_shape_is_named(small, tmp_path):
    query, _ = bodies(small)
    with pytest.raises(AffscoreError, match=r"of another shape.* such as 'layer2.0.conv1.weight'"):
        converted(small, query | {"layer2.0.conv1.weight": torch.ones(2)}, tmp_path)
