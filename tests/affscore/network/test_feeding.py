"""Several inputs: which entries of the data go where, and that they give what one input with all of them gives."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from affscore import AffscoreError, signature
from affscore.network.inputs import Feeding
from tests.affscore.recorder.hard_networks import Net

GENERATOR = torch.Generator().manual_seed(0)
X, MASK = torch.randn(64, 6, generator=GENERATOR), torch.randn(64, 4, generator=GENERATOR)
LABELS, PRICES = torch.randint(0, 3, (64,), generator=GENERATOR), torch.rand(64, generator=GENERATOR)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(6, 8), nn.Linear(4, 8)

    def forward(self, x, mask):
        return torch.relu(self.first(x) + torch.tanh(self.second(mask)))


def together():
    """The same with one input."""
    return Net(lambda net, both: net.two(both[:, :6].contiguous(), both[:, 6:].contiguous()), two=Two())


class ByKeyword(Two):
    def forward(self, *, x, mask):
        return super().forward(x, mask)


class Optional(Two):
    def forward(self, x, mask=None):
        return super().forward(x, mask)


class Items(Dataset):
    def __init__(self, make):
        self.make = make

    def __len__(self):
        return len(X)

    def __getitem__(self, index):
        return self.make(index)


def by_name(index):
    return {"mask": MASK[index], "file": f"{index}.png", "x": X[index], "target": LABELS[index]}


def scores(network, data, **options):
    return signature(network, data, **{"n": 32, "criteria": False, "progress": False, **options})


def left_out(found):
    """What a result says of entries that are not fed."""
    return [note.partition(": ")[2] for note in found.notes if note.startswith("entries of the data that do not go")]


ONE = scores(together(), torch.cat([X, MASK], dim=1))
FORMS = {
    "tuple": (Two, (X, MASK)),
    "tuple with tables": (Two, (pd.DataFrame(X.numpy()), MASK.tolist(), LABELS.tolist())),
    "tuple with prices": (Two, (X, MASK, PRICES)),
    "dictionary": (Two, {"mask": MASK, "x": X, "target": LABELS}),
    "keywords": (ByKeyword, {"mask": MASK, "x": X}),
    "optional": (Optional, {"mask": MASK, "x": X}),
    "data set with labels": (Two, TensorDataset(X, MASK, LABELS)),
    "loader": (Two, DataLoader(TensorDataset(X, MASK, LABELS), batch_size=10)),
    "items by name": (Two, Items(by_name)),
    "loader by name": (Optional, DataLoader(Items(by_name), batch_size=10)),
    "inputs in a tuple of their own": (Two, Items(lambda index: ((X[index], MASK[index]), LABELS[index]))),
    "inputs by name, and labels": (ByKeyword, Items(lambda i: ({"mask": MASK[i], "x": X[i]}, int(LABELS[i])))),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_scores_of_one_input_with_all_columns(form):
    network, data = FORMS[form]
    found = scores(network(), data, batch_size=32 if "loader" not in form else 64)
    if "loader" in form:  # in chunks of ten: sums are rounded in another way
        np.testing.assert_allclose(found.scores, ONE.scores, rtol=0, atol=1e-6)
    else:
        assert found.scores.tolist() == ONE.scores.tolist()
    assert len(found) == 2


FORWARDS = {
    "two": (lambda network, batch: network(batch[0], mask=batch[1]), TensorDataset(X, MASK, LABELS)),
    "swapped": (lambda network, batch: network(batch[1], batch[0]), (MASK, X)),
    "by name": (lambda network, batch: network(batch["x"], batch["mask"]), Items(by_name)),
    "one tensor": (lambda network, batch: network(*batch.tensor_split([6], dim=1)), torch.cat([X, MASK], dim=1)),
}


@pytest.mark.parametrize("name", FORWARDS)
def test_the_caller_says_how(name):
    forward, data = FORWARDS[name]
    found = scores(Optional(), data, forward=forward, batch_size=32)
    np.testing.assert_allclose(found.scores, ONE.scores, rtol=0, atol=1e-6 if name == "one tensor" else 0)
    assert left_out(found) == []
    assert found.metadata["forward"] == "<lambda>"


def taking(name, forward):
    """A class of networks whose forward has these arguments."""
    return type(name, (nn.Module,), {"forward": forward})


Pair = taking("Pair", lambda self, x, y: None)
Class = taking("Class", lambda self, x, labels: None)
Loss = taking("Loss", lambda self, x, labels=None: None)
Keyword = taking("Keyword", lambda self, *, x: None)
Several = taking("Several", lambda self, *inputs: None)
Masked = taking("Masked", lambda self, x, attention_mask, other: None)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"x": X, "other": X}, "attention_mask is missing, and the data holds x "),
        ({"x": X, "labels": LABELS}, "attention_mask and other are missing, and the data holds x "),
        ([X, X], r"other=?\): the data holds entry 0"),
        (X, r"other=?\): the data holds one tensor"),
    ],
)
def test_what_is_missing_has_a_name(data, sentence):
    with pytest.raises(AffscoreError, match=sentence):
        Feeding(Masked())(data)


class Transformer(nn.Module):
    main_input_name = "input_ids"

    def forward(self, input_ids=None, attention_mask=None, labels=None, **more): ...


A, B, WHOLE, IDS = torch.zeros(4, 3), torch.ones(4, 3), torch.arange(4), torch.zeros(4, 3, dtype=torch.int64)
REAL = torch.zeros(4)
CHOICES = [
    (nn.Identity(), A, "0", None, ""),
    (nn.Identity(), [A], "0", None, ""),
    (nn.Identity(), [A, WHOLE], "0", WHOLE, ""),
    (nn.Identity(), [A, WHOLE[:, None]], "0", WHOLE, ""),
    (nn.Identity(), [A, REAL], "0", None, "entry 1"),
    (nn.Identity(), [A, IDS], "0", None, "entry 1"),
    (nn.Identity(), [A, ["a", "b", "c", "d"]], "0", None, "entry 1"),
    (nn.Identity(), [A, {"boxes": B}, WHOLE], "0", WHOLE, "entry 1, entry 2"),
    (nn.Identity(), {"image": A, "label": WHOLE}, "0", WHOLE, "label"),
    (nn.Identity(), {"id": WHOLE + 1, "image": A, "label": WHOLE}, "0", WHOLE, "id, label"),
    (nn.Identity(), {"extra": A, "pixel_values": B}, "0", None, "extra"),
    (nn.ReLU(), {"target": A, "input": B}, "input", None, "target"),
    (Pair(), [A, B], "01", None, ""),
    (Pair(), [A, B, WHOLE], "01", WHOLE, ""),
    (Pair(), [A, B, REAL], "01", None, "entry 2"),
    (Pair(), [A, REAL], "01", None, ""),
    (Pair(), {"y": B, "z": A, "x": A}, "yx", None, "z"),
    (Class(), [A, WHOLE], "01", None, ""),
    (Class(), {"x": A, "labels": WHOLE}, "xlabels", None, ""),
    (Loss(), [A, WHOLE], "0", WHOLE, ""),
    (Loss(), {"x": A, "labels": WHOLE}, "x", WHOLE, "labels"),
    (Keyword(), A, "x", None, ""),
    (Keyword(), [A, WHOLE], "x", WHOLE, ""),
    (Keyword(), {"image": A}, "x", None, ""),
    (Several(), [A, WHOLE], "0", WHOLE, ""),
    (Transformer(), IDS, "input_ids", None, ""),
    (Transformer(), {"labels": IDS, "input_ids": IDS}, "input_ids", None, "labels"),
    (Transformer(), {"attention_mask": IDS + 1, "input_ids": IDS}, "attention_maskinput_ids", None, ""),
]


@pytest.mark.parametrize(("network", "batch", "fed", "labels", "rest"), CHOICES)
def test_what_is_fed(network, batch, fed, labels, rest):
    feeding = Feeding(network)
    found = feeding(batch)
    arguments, named = found.batch
    assert "".join([*map(str, range(len(arguments))), *named]) == fed
    assert feeding.notes == ([f"entries of the data that do not go into the network: {rest}"] if rest else [])
    assert (found.labels is None) == (labels is None)
    assert labels is None or torch.equal(found.labels, labels)


UNCLEAR = [
    (nn.Identity(), [A, B]),
    (nn.Identity(), [WHOLE, A]),
    (nn.Identity(), [["a"] * 4, A]),
    (nn.Identity(), [(), A]),
    (nn.Identity(), {"target": A, "x": B}),
    (nn.Identity(), {"price": REAL, "x": B}),
    (nn.Identity(), {"label": WHOLE}),
    (Pair(), A),
    (Pair(), [A]),
    (Pair(), [A, B, A]),
    (Pair(), {"x": A, "z": B}),
    (Loss(), [A, B]),
    (Loss(), [A, REAL]),
    (ByKeyword(), A),
    (ByKeyword(), [A, B]),
    (Several(), [A, B]),
    (Several(), {"x": A, "y": B}),
    (Transformer(), [IDS, IDS]),
]


@pytest.mark.parametrize(("network", "batch"), UNCLEAR)
def test_nothing_is_guessed(network, batch):
    entries = (
        batch
        if isinstance(batch, dict)
        else (range(len(batch)) if isinstance(batch, list) and len(batch) > 1 else ["one tensor"])
    )
    with pytest.raises(
        AffscoreError, match=r"not clear which entries .* or say it: forward=lambda network, batch"
    ) as e:
        Feeding(network)(batch)
    assert f"{type(network).__name__}.forward(" in str(e.value)
    assert all(f"{name} (" in str(e.value) for name in entries)


def test_what_is_no_tensor_does_not_reach_the_callers_function():
    seen = []

    def forward(network, batch):
        seen.append(batch["file"])
        return network(batch["x"], batch["mask"])

    found = scores(Two(), Items(by_name), forward=forward)
    assert {file for files in seen for file in files} == {None}
    assert "forward gets None for what holds no tensor: 'file'" in found.notes


def test_the_fingerprint_covers_every_input_and_no_label():
    def print_of(data, **options):
        return scores(Two(), data, **options).metadata["fingerprint_data"]

    first = print_of((X, MASK))
    assert first == print_of((X, MASK, LABELS)) == print_of(TensorDataset(X, MASK), batch_size=7)
    changed = MASK.clone()
    changed[-1, -1] += 1
    assert first != print_of((X, changed))
    single = scores(nn.ReLU(), X).metadata["fingerprint_data"]
    assert single == scores(nn.ReLU(), (X, LABELS)).metadata["fingerprint_data"]


def broken(tensor, value):
    tensor = tensor.clone()
    tensor[3, 1] = value
    return tensor


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ((X, broken(MASK, torch.nan)), {}, "holds 1 NaN or infinite"),
        ((X, MASK[:60]), {}, r"as many of each; got inputs of shapes \(64, 6\), \(60, 4\)"),
        ({"x": X, "mask": torch.tensor(1.0)}, {}, r"as many of each; got inputs of shapes \(64, 6\), \(\)"),
        ((X, X), {}, r"fails on inputs of shapes \(32, 6\), \(32, 6\): RuntimeError"),
        ((X, "mask"), {}, "the data must be numbers, got str"),
        ((X, [[1.0], [2.0, 3.0]]), {}, "the rows of a table must have the same length"),
        (
            pd.DataFrame({"a": [0.5, 1.5], "name": ["b", "c"]}),
            {},
            "the columns of a table must be numbers, name are not",
        ),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), {}, "holds 1 NaN"),
        ((X, MASK), {"forward": "x"}, r"fails on inputs of shapes .*TypeError: 'str' object is not callable"),
        ((X, MASK), {"forward": lambda network, batch: network(batch["x"])}, "fails on inputs of shapes .* TypeError"),
        (Items(lambda index: f"{index}"), {"forward": lambda network, batch: network(batch)}, "must give tensors"),
    ],
)
def test_what_cannot_be_fed(data, options, message):
    with pytest.raises(AffscoreError, match=message):
        scores(nn.ReLU() if isinstance(data, (list, pd.DataFrame)) else Two(), data, **options)


class Detector(nn.Module):
    """Takes images of any size, and returns the boxes that it finds in each."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU())
        self.score = nn.Linear(8, 2)

    def forward(self, images, targets=None):
        if not isinstance(images, list):
            raise TypeError("images must be a list of tensors, which may have several sizes")
        scores = [torch.sigmoid(self.score(self.backbone(image[None]).flatten(2)[0].mT)) for image in images]
        return [{"scores": one[one > 0.5], "boxes": one.new_zeros(len(one), 4)} for one in scores]


class Scenes(Dataset):
    def __init__(self, count=16):
        self.images = torch.rand(count, 3, 9, 9, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], {"boxes": torch.zeros(1, 4), "labels": torch.ones(1, dtype=torch.int64)}


DETECTED = {
    "tensor": (Scenes().images, lambda network, batch: network.backbone(batch)),
    "with targets": (Scenes(), lambda network, batch: network.backbone(batch[0])),
    "stacked": (
        DataLoader(Scenes(), 8, collate_fn=lambda items: torch.stack([image for image, _ in items])),
        lambda network, batch: network.backbone(batch),
    ),
}


@pytest.mark.parametrize("form", DETECTED)
def test_of_a_detector_the_message_names_the_way_out_and_that_works(form):
    network, (data, forward) = Detector(), DETECTED[form]
    with pytest.raises(AffscoreError, match=r"of a detector, measure the backbone: forward=lambda network, batch"):
        scores(network, data, n=16)
    expected = scores(network.backbone, Scenes().images, n=16, batch_size=8).scores
    found = scores(network, data, n=16, batch_size=8, forward=forward).scores
    np.testing.assert_array_equal(found, expected)
