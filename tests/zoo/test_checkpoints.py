"""Files of self-supervised releases, in their layouts: the encoder is found, and what it lacks is said."""

import argparse

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from affscore import AffscoreError, load_model, signature
from affscore.zoo import card_of, characteristics
from affscore.zoo.card import fingerprint
from affscore.zoo.checkpoints import load_entries

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

# what is in the file, given the encoder that is evaluated and the other one; the prefix of the first without module.;
# and how many entries there are beside it and the other one
RELEASES = {
    "SwAV": (
        lambda q, k: under("module.", q | mlp("projection_head.", 0, 3) | {"prototypes.weight": torch.ones(2)}),
        "",
        5,
    ),
    "MoCo v1": (
        lambda q, k: {
            "epoch": 200,
            "state_dict": under("module.encoder_q.", q | {"fc.weight": torch.ones(7, 8), "fc.bias": torch.ones(7)})
            | under("module.encoder_k.", k | {"fc.weight": torch.ones(7, 8), "fc.bias": torch.ones(7)})
            | QUEUE,
        },
        "encoder_q.",
        6,
    ),
    "MoCo v2": (
        lambda q, k: {
            "state_dict": under("module.encoder_q.", q | mlp("fc.", 0, 2))
            | under("module.encoder_k.", k | mlp("fc.", 0, 2))
            | QUEUE
        },
        "encoder_q.",
        10,
    ),
    "MoCo v3": (
        lambda q, k: {
            "state_dict": under("module.base_encoder.", q | mlp("fc.", 0, 1, 3))
            | under("module.momentum_encoder.", k | mlp("fc.", 0, 1, 3))
            | mlp("module.predictor.", 0, 1, 3)
        },
        "base_encoder.",
        18,
    ),
    "SimSiam": (
        lambda q, k: {
            "state_dict": under("module.encoder.", q | mlp("fc.", 0, 1, 3, 4, 6)) | mlp("module.predictor.", 0, 1, 3)
        },
        "encoder.",
        16,
    ),
    "DINO": (
        lambda q, k: {
            "student": under("module.backbone.", k) | mlp("module.head.mlp.", 0, 2, 4),
            "teacher": under("backbone.", q) | mlp("head.mlp.", 0, 2, 4),
            "optimizer": {"state": {0: {"exp_avg": torch.ones(2)}}, "param_groups": [{"lr": 0.1, "params": [0]}]},
            "args": argparse.Namespace(arch="resnet50"),
            "dino_loss": {"center": torch.ones(1, 6)},
        },
        "teacher.backbone.",
        12,
    ),
    "DINO, wrapped in DataParallel": (
        lambda q, k: {"student": under("module.backbone.", k), "teacher": under("module.backbone.", q)},
        "teacher.module.backbone.",
        0,
    ),
    "DINO, the teacher alone": (
        lambda q, k: {"teacher": under("backbone.", q) | mlp("head.mlp.", 0)},
        "teacher.backbone.",
        2,
    ),
    "ReSSL": (
        lambda q, k: {
            "model": under("module.encoder_q.", under("net.", q) | mlp("head.", 0, 2))
            | under("module.encoder_k.", under("net.", k) | mlp("head.", 0, 2))
            | QUEUE
        },
        "encoder_q.net.",
        10,
    ),
    "SCE": (
        lambda q, k: {
            "state_dict": under("trunk.", q)
            | under("momentum_trunk.", k)
            | mlp("projector.", 0)
            | {"queue": torch.ones(4, 6)}
        },
        "trunk.",
        3,
    ),
    "VICReg": (
        lambda q, k: {"model": under("module.backbone.", q) | mlp("module.projector.", 0, 1, 3)},
        "backbone.",
        6,
    ),
    "Truncated Triplet": (
        lambda q, k: {
            "state_dict": under("backbone.", q) | under("online_net.0.", q) | under("target_net.0.", k),
            "meta": {"epoch": 200},
        },
        "online_net.0.",
        None,  # and the encoder itself, again
    ),
    "solo-learn": (
        lambda q, k: {"state_dict": under("momentum_backbone.", k) | under("backbone.", q) | mlp("projector.", 0)},
        "backbone.",
        2,
    ),
    "t-ReX": (lambda q, k: q, "", 0),
}


def bodies(spec, seeds=(3, 4)):
    """The encoders of two networks of this name: what is in a file without a classifier."""
    states = [load_model(spec, seed=seed).state_dict() for seed in seeds]
    last = list(states[0])[-1].rpartition(".")[0]
    return [
        {name: (value + 0.125).to(value.dtype) for name, value in state.items() if not name.startswith(last)}
        for state in states
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_the_encoder_that_the_authors_evaluate_is_found(release, small, tmp_path):
    content, prefix, beside = RELEASES[release]
    query, key = bodies(small)
    torch.save(content(query, key), tmp_path / "release.pth.tar")
    model, built = load_model(f"{small}@{tmp_path / 'release.pth.tar'}"), load_model(small)
    state, own = model.state_dict(), built.state_dict()
    assert all(torch.equal(state[name], query[name]) for name in query)
    assert all(torch.equal(state[name], own[name]) for name in ("fc.weight", "fc.bias"))
    card = card_of(model)
    assert card.headless
    assert card.weights == "release.pth.tar"
    *about, last = card.notes
    assert last.startswith("the file 'release.pth.tar' has no weights for the last layer, 'fc'")
    two = release not in ("SwAV", "SimSiam", "DINO, the teacher alone", "VICReg", "t-ReX")
    left = (beside or 0) + two * len(key) + (beside is None) * len(query)
    assert len(about) == bool(prefix or left)
    text = "".join(about)
    assert (f"the weights are those under {prefix!r}" in text) == bool(prefix)
    assert (", which its authors evaluate, and not those under '" in text) == two
    assert f"{left} entries are not of this network and were left out" in text or not left


def test_a_note_names_what_was_left_out(small, tmp_path):
    content, *_ = RELEASES["MoCo v2"]
    query, key = bodies(small)
    torch.save(content(query, key), tmp_path / "moco.pth")
    assert card_of(load_model(f"{small}@{tmp_path / 'moco.pth'}")).notes[0] == (
        "of the file 'moco.pth' the weights are those under 'encoder_q.', which its authors evaluate, and not those "
        f"under 'encoder_k.'; {len(key) + 10} entries are not of this network and were left out: "
        f"'encoder_k' ({len(key) + 4}), 'encoder_q.fc' (4), 'queue' (1), 'queue_ptr' (1)"
    )


def test_a_note_does_not_name_everything(small):
    (query, _), model = bodies(small), load_model(small)
    junk = {f"metric{number:03}.{'x' * 100}": torch.ones(1) for number in range(100)}
    loaded = load_entries(model, query | junk, "a.pth")
    assert "100 entries are not of this network and were left out: 'metric000' (1), " in loaded.notes[0]
    assert "'metric005' (1), 94 more" in loaded.notes[0]
    assert len(loaded.notes[0]) < 300


def test_there_is_no_accuracy_with_an_untrained_classifier(tmp_path):
    options = {"n": 64, "images": 64, "criteria": False, "progress": False}
    trained = load_model("mini:digitsnet")
    state = trained.state_dict()
    head = list(state)[-1].rpartition(".")[0]
    body = {name: value for name, value in state.items() if not name.startswith(head)}
    torch.save(under("trunk.", body), tmp_path / "body.pth")
    torch.save(under("model.", state), tmp_path / "whole.pth")
    without = signature(f"mini:digitsnet@{tmp_path / 'body.pth'}", "digits", **options)
    whole = signature(f"mini:digitsnet@{tmp_path / 'whole.pth'}", "digits", **options)
    best = signature("mini:digitsnet", "digits", **options)
    assert whole.metadata["accuracy"] == best.metadata["accuracy"] > 0.5
    assert without.metadata["accuracy"] is None
    assert without.scores.tolist() == whole.scores.tolist()  # nothing but the classifier differs
    assert [note for note in without.notes if note not in best.notes] == list(card_of(load_model(
        f"mini:digitsnet@{tmp_path / 'body.pth'}")).notes)  # fmt: skip
    assert sum("accuracy" in note for note in without.notes) == 1
    assert [note for note in whole.notes if note not in best.notes] == [
        "of the file 'whole.pth' the weights are those under 'model.'"
    ]


@pytest.mark.parametrize(
    "spec",
    ["squeezenet1_1", "shufflenet_v2_x0_5", "timm:test_resnet", "timm:test_vit", "mini:resnet18", "mini:vit_b_16"],
)
def test_every_source_takes_such_files(spec, tmp_path):
    if spec.startswith("timm"):
        pytest.importorskip("timm")
    model = load_model(f"{spec}@random", seed=3)
    state = model.state_dict()
    head = list(state)[-1].rpartition(".")[0]
    body = {name: value for name, value in state.items() if not name.startswith(head)}
    save_file(under("module.encoder_q.", body) | mlp("module.encoder_q.head_of_moco.", 0), tmp_path / "q.safetensors")
    files = {seed: load_model(f"{spec}@{tmp_path / 'q.safetensors'}", seed=seed) for seed in (0, 3)}
    assert fingerprint(files[3]) == fingerprint(model)  # the seed of its last layer, too
    own = load_model(f"{spec}@random", seed=0).state_dict()
    assert all(torch.equal(value, body.get(name, own[name])) for name, value in files[0].state_dict().items())
    assert card_of(files[0]).headless
    assert repr(head) in card_of(files[0]).notes[-1]


def test_a_whole_network_under_a_prefix_has_its_classifier(small, tmp_path):
    trained = load_model(small, seed=3)
    torch.save({"state_dict": under("model.", trained.state_dict()) | mlp("criterion.", 0)}, tmp_path / "whole.ckpt")
    model = load_model(f"{small}@{tmp_path / 'whole.ckpt'}")
    assert fingerprint(model) == fingerprint(trained)
    assert not card_of(model).headless
    (note,) = card_of(model).notes
    assert note.endswith("under 'model.'; 2 entries are not of this network and were left out: 'criterion' (2)")


def test_names_of_the_network_alone_need_no_note(small, tmp_path):
    torch.save({"model": under("module.", load_model(small, seed=3).state_dict())}, tmp_path / "plain.pth")
    card = card_of(load_model(f"{small}@{tmp_path / 'plain.pth'}"))
    assert (card.headless, card.notes) == (False, ())
    assert (card_of(load_model(small)).headless, card_of(load_model(small)).notes) == (False, ())


def refused(model, state):
    before = fingerprint(model)
    with pytest.raises(AffscoreError) as caught:
        load_entries(model, state, "a.pth")
    assert fingerprint(model) == before
    message = str(caught.value)
    assert "'a.pth'" in message
    assert "\n" not in message
    assert len(message) < 700
    return message


@pytest.mark.parametrize(
    ("one", "other"), [("a.", "b."), ("", "b."), ("encoder_k.", "student."), ("teacher.x.", "student.y.")]
)
def test_of_two_unknown_networks_none_is_taken(one, other, small):
    query, key = bodies(small)
    message = refused(load_model(small), under(one, query) | under(other, key))
    assert "holds several networks of this architecture, under " in message
    assert all((repr(prefix) if prefix else "no prefix") in message for prefix in (one, other))


def test_two_names_of_the_same_numbers_are_one_network(small):
    (query, _), model = bodies(small), load_model(small)
    assert load_entries(model, under("a.", query) | under("b.", query), "a.pth").headless
    assert torch.equal(model.conv1.weight, query["conv1.weight"])
    changed = query | {"conv1.weight": query["conv1.weight"].clone()}
    changed["conv1.weight"][0, 0, 0, 0] += 1
    refused(model, under("a.", query) | under("b.", changed))


@pytest.mark.parametrize("deeper", ["mini:resnet34", "mini:resnet101"])
@pytest.mark.parametrize("classifier", [True, False])
@pytest.mark.parametrize("prefix", ["", "encoder_q."])
def test_a_deeper_network_is_no_shallower_one_with_entries_to_leave_out(deeper, classifier, prefix):
    """All names and shapes of a ResNet-18 are those of a ResNet-34, too."""
    shallow = load_model({"mini:resnet34": "mini:resnet18", "mini:resnet101": "mini:resnet50"}[deeper])
    state = load_model(deeper).state_dict()
    message = refused(
        shallow, under(prefix, {name: value for name, value in state.items() if classifier or "head" not in name})
    )
    assert "0 missing" in message
    assert "is not in the network" in message
    assert f"under the nearest prefix, '{prefix}': " in message or not prefix


def test_a_network_with_parameters_of_its_own_is_another_network(small):
    """A vision transformer with register tokens has all names of one without."""
    (query, _), model = bodies(small), load_model(small)
    tokens = {"register_tokens": torch.ones(1, 4, 8)}
    assert "1 unknown, 0 of another shape: 'register_tokens' is not in the network" in refused(model, query | tokens)
    refused(model, under("teacher.", query | tokens))
    assert load_entries(model, under("teacher.", query) | tokens, "a.pth").headless


def test_a_longer_sequence_is_another_network():
    short = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))
    long = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Identity(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))
    assert "4 unknown" in refused(short, long.state_dict())
    assert load_entries(short, nn.Sequential(long[0]).state_dict(), "a.pth").headless


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: {k: v for k, v in s.items() if k != "layer2.0.conv1.weight"}, "1 missing, 0 unknown"),
        (lambda s: s | {"layer2.0.conv1.weight": torch.ones(2)}, "1 of another shape: 'layer2.0.conv1.weight' has"),
        (lambda s: s | {"layer2.0.conv3.weight": torch.ones(2)}, "1 unknown, 0 of another shape: 'layer2.0.conv3"),
        (lambda s: s | {"fc.bias": torch.ones(5)}, "1 missing, 0 unknown, 0 of another shape: 'fc.weight' is missing"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "net.", "a.very.deep."])
def test_another_architecture_is_refused_with_its_nearest_prefix(change, says, prefix, small):
    (query, _), model = bodies(small), load_model(small)
    others = under("other.", {name: query[name] for name in list(query)[:5]})
    message = refused(model, under(prefix, change(query)) | (others if prefix else {}))
    assert "are not those of this architecture (" in message
    assert says in message
    assert f"under the nearest prefix, {prefix!r}: " in message or not prefix


def test_a_classifier_for_other_classes_is_not_ignored(small):
    """Only MoCo v1 has an embedding of this name: elsewhere it is the output of a network of another size."""
    (query, _), other = bodies(small), {"fc.weight": torch.ones(7, 8), "fc.bias": torch.ones(7)}
    assert "2 of another shape" in refused(load_model(small), query | other)
    assert "2 of another shape" in refused(load_model(small), under("net.", query | other))


def test_only_a_layer_of_weights_can_be_the_missing_one():
    """Without its last normalisation a network of features is another one, and one layer alone is its whole body."""
    features = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    state = features.state_dict()
    refused(features, {name: value for name, value in state.items() if name.startswith("0")})
    assert "1 unknown" in refused(nn.Sequential(nn.Linear(3, 3)), {"projection_head.weight": torch.ones(3, 3)})
    assert "2 missing" in refused(nn.Linear(3, 3), {"a": torch.ones(3)})


def test_integers_for_real_numbers_are_refused_under_a_prefix(small):
    (query, _), model = bodies(small), load_model(small)
    whole = query | {"conv1.weight": query["conv1.weight"].to(torch.int8)}
    assert "'conv1.weight' holds integers" in refused(model, under("encoder_q.", whole))


def test_hostile_names_neither_fill_the_memory_nor_the_terminal(small):
    (query, _), model = bodies(small), load_model(small)
    deep = "a." * 10**6
    junk = {deep + "fc.x": torch.ones(1), "." * 10**5: torch.ones(1)}
    assert "of the file 'a.pth' 2 entries" in load_entries(model, query | junk, "a.pth").notes[0]
    (note, _) = load_entries(model, under("\x1b[31m\n.", query) | junk, "a.pth").notes
    assert "'\\x1b[31m\\n.'" in note
    assert "\x1b" not in note
    (note, _) = load_entries(model, under(deep, {name: query[name] for name in query}), "a.pth").notes
    assert len(note) < 200
    assert "\x1b" not in refused(model, under("\x1b[31m.", {name: query[name] for name in list(query)[:3]}))


def test_no_accuracy_is_stated_of_a_file_however_it_ends(tmp_path):
    table = characteristics(["resnet50@moco_v2_800ep.pth.tar", "resnet50@sce.ckpt"])
    assert table["accuracy"].isna().all()
    assert table["weights"].tolist() == ["moco_v2_800ep.pth.tar", "sce.ckpt"]
