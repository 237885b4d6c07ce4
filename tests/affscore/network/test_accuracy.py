"""The accuracy beside a signature: right where labels match the output, absent elsewhere, and at no further pass."""

from dataclasses import dataclass

import pytest
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import affscore
from affscore import signature
from affscore.models import Preprocessing, card_of, digits

QUIET = {"criteria": False, "progress": False}
COLOURS = {"blue": (0, 0, 255), "green": (0, 255, 0), "red": (255, 0, 0)}


class Colours(nn.Module):
    """Says which of the three channels is brightest, in the order of the channels or of ``order``."""

    preprocessing = Preprocessing(size=4, resize=4, mean=(0.0,) * 3, std=(1.0,) * 3)

    def __init__(self, order=(0, 1, 2), **stated):
        super().__init__()
        self.order = list(order)
        self.passes = 0
        for name, value in stated.items():
            setattr(self, name, value)

    def forward(self, x):
        self.passes += len(x)
        return torch.relu(x).mean(dim=(2, 3))[:, self.order]


@dataclass
class Output:
    logits: torch.Tensor


def accuracy(*args, **options):
    result = signature(*args, **(QUIET | {"n": 6} | options))
    found = result.metadata["accuracy"]
    assert ("accuracy" in repr(result).splitlines()[0]) == (found is not None)
    return found


def images_of(colours):
    return torch.stack([torch.tensor(COLOURS[c]).float()[:, None, None].expand(3, 4, 4) / 255 for c in colours])


def folders(path, names=tuple(COLOURS)):
    for colour, name in zip(COLOURS, names, strict=True):
        (path / name).mkdir(parents=True)
        for number in range(4):
            Image.new("RGB", (4, 4), COLOURS[colour]).save(path / name / f"{number}.png")
    return f"folder:{path}"


class TestByName:
    @pytest.mark.slow
    def test_digits_of_a_trained_network(self):
        model = affscore.load_model("mini:digitsnet")
        images, labels = digits("test")
        prepare = card_of(model).preprocessing
        with torch.no_grad():
            found = model(torch.stack([prepare(image) for image in images])).argmax(1)
        right = (found == labels).double()
        assert accuracy("mini:digitsnet", "digits", n=597) == float(right.mean()) > 0.98
        assert accuracy("mini:digitsnet", "digits:3", n=61) == float(right[labels == 3].mean())

    def test_only_images_that_were_scored_count(self, tmp_path):
        data = folders(tmp_path / "c")
        found = affscore.load_data(data)
        always_blue = Colours((2, 2, 2), classes=["blue", "green", "red"])  # the first of equal outputs
        for count, n in ((12, 5), (11, 4)):
            used = found.order(count, 0, 0)[: count // n * n]
            blue = sum(found.labels[index] == "blue" for index in used)
            assert accuracy(always_blue, data, n=n, images=count) == blue / len(used)


class TestFolders:
    def test_names_are_matched_in_whatever_order(self, tmp_path):
        data = folders(tmp_path / "c")
        assert accuracy(Colours(classes=["red", "green", "blue"]), data) == 1
        assert accuracy(Colours((1, 2, 0), classes=("green", "blue", "red")), data) == 1

    def test_a_network_without_names_takes_the_folders_in_their_order_and_a_note_says_so(self, tmp_path):
        data = folders(tmp_path / "c")
        result = signature(Colours((2, 1, 0)), data, n=12, **QUIET)
        assert result.metadata["accuracy"] == 1
        assert any("the accuracy takes the folders, in sorted order" in note for note in result.notes)
        named = signature(Colours(classes=["red", "green", "blue"]), data, n=12, **QUIET)
        assert not any("the accuracy takes" in note for note in named.notes)

    def test_the_folders_of_imagenet_are_in_order_whatever_the_outputs_are_called(self, tmp_path):
        data = folders(tmp_path / "c", ["n00000001", "n00000002", "n00000003"])
        assert accuracy(Colours((2, 1, 0), classes=["dog", "cat", "cow"]), data, n=12) == 1

    def test_an_image_that_cannot_be_read_does_not_shift_the_labels(self, tmp_path):
        data = folders(tmp_path / "c")
        first = affscore.load_data(data).files[affscore.load_data(data).order(None, 0, 0)[1]]
        first.write_bytes(b"no image")
        assert accuracy(Colours(classes=["red", "green", "blue"]), data, n=11) == 1
        assert accuracy(Colours(classes=["red", "green", "blue"]), data, n=4, images=8, batch_size=3) == 1


class TestObjects:
    names = ("red", "green", "blue", "red", "red", "blue")
    images = images_of(names)
    labels = torch.tensor([["red", "green", "blue"].index(name) for name in names])

    def test_data_sets_loaders_tuples_and_dictionaries(self):
        items = TensorDataset(self.images, self.labels)
        as_dict = {"x": self.images, "label": self.labels}
        for data in (items, DataLoader(items, batch_size=4), (self.images, self.labels), as_dict, list(items)):
            assert accuracy(Colours(), data) == 1
            assert accuracy(Colours((1, 0, 2)), data) == 2 / 6

    def test_labels_that_do_not_match_the_output(self):
        for labels in (self.labels + 1, self.labels - 1, self.labels.float(), torch.zeros_like(self.labels)):
            assert accuracy(Colours(), TensorDataset(self.images, labels)) is None
        assert accuracy(Colours(), self.images) is None
        assert accuracy(Colours(), TensorDataset(self.images)) is None
        assert accuracy(nn.Sequential(Colours(), nn.Linear(3, 1)), TensorDataset(self.images, self.labels)) is None
        assert accuracy(nn.ReLU(), TensorDataset(self.images, self.labels)) is None

    def test_logits_of_transformers(self):
        class Logits(Colours):
            def forward(self, x):
                return Output(super().forward(x))

        assert accuracy(Logits(), TensorDataset(self.images, self.labels)) == 1


def test_labels_that_give_no_accuracy_are_said():
    rows = torch.randn(8, 5, generator=torch.Generator().manual_seed(0))
    network = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
    beyond, unused = "some labels are not from 0 to 2", "1 of the outputs of the network lie beyond the largest label"
    labels = {(0, 1, 2, 0): "", (1, 2, 3, 1): beyond, (0, 1, 2, -1): beyond, (0, 1, 0, 1): unused}
    for given, says in labels.items():
        found = signature(network, (rows, torch.tensor(given * 2)), n=4, **QUIET)
        said = [note for note in found.notes if note.startswith(f"there is no accuracy: {says}")]
        assert (len(said) == 1) == (found.metadata["accuracy"] is None) == bool(says)
    assert not any("accuracy" in note for note in signature(network, rows, n=4, **QUIET).notes)


def test_nan_is_the_largest_of_no_outputs():
    class Outputs(nn.Sequential):
        def forward(self, x):
            return super().forward(x).index_fill(1, torch.tensor(0), torch.nan)

    rows = torch.randn(8, 5, generator=torch.Generator().manual_seed(0))
    found = signature(Outputs(nn.Linear(5, 3), nn.ReLU()), (rows, torch.arange(8) % 3), n=4, **QUIET)
    assert found.metadata["accuracy"] == 0
    assert any("outputs of the network are NaN" in note for note in found.notes)
