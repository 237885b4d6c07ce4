import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, TensorDataset

from affscore import AffscoreError, load_data, signature
from affscore.models import Preprocessing
from affscore.models.card import ModelCard
from affscore.network.images import image_stream
from affscore.network.inputs import Feeding
from affscore.options import Options

SMALL = Preprocessing(channels=1, size=8, resize=8, mean=(0.0,), std=(1.0,))
IMAGES = torch.arange(10 * 3 * 2 * 2, dtype=torch.float32).view(10, 3, 2, 2)


def stream(data, images=None, n=6, batch_size=4, seed=0, expected=SMALL):
    options = Options(n, images, seed=seed)
    return image_stream(data, ModelCard("", "", expected), options, batch_size, Feeding(nn.Identity()))


def tensors(made):
    return [chunk.tensors[0] for chunk in made.chunks]


class Labelled(Dataset):
    def __init__(self, make):
        self.make = make

    def __len__(self):
        return len(IMAGES)

    def __getitem__(self, index):
        return self.make(IMAGES[index])


KINDS = {
    "tensor": IMAGES,
    "array": IMAGES.numpy(),
    "array, read-only": np.broadcast_to(IMAGES.numpy(), IMAGES.shape),
    "array, mirrored twice": np.ascontiguousarray(IMAGES.numpy()[..., ::-1])[..., ::-1],
    "list": list(IMAGES),
    "images": Labelled(lambda image: image),
    "tuples": Labelled(lambda image: (image, 3)),
    "dictionaries": Labelled(lambda image: {"pixel_values": image, "label": 3}),
    "dictionaries of other things": Labelled(lambda image: {"label": torch.tensor(3), "pixel_values": image}),
    "tensors and labels": TensorDataset(IMAGES, torch.zeros(10)),
    "loader": DataLoader(IMAGES, batch_size=3),
    "loader of tuples": DataLoader(TensorDataset(IMAGES, torch.zeros(10)), batch_size=7),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("images", [None, 5, 10])
def test_every_kind_of_data_gives_its_images_in_its_order(kind, images):
    made = stream(KINDS[kind], images)
    chunks = tensors(made)
    wanted = IMAGES if images is None else IMAGES[:images]
    assert torch.equal(torch.cat(chunks), wanted)
    assert made.total in (None, len(wanted))
    if "loader" not in kind:
        assert max(map(len, chunks)) <= 4
    with pytest.raises(AffscoreError, match="the data has 10 samples, 11 were asked for"):
        list(stream(KINDS[kind], 11).chunks)


def test_a_named_data_set_is_prepared_and_shuffled_by_the_seed():
    digits = load_data("digits")
    made = stream("digits", 20)
    assert (made.name, made.total) == ("digits", 20)
    chunks = tensors(made)
    assert [len(chunk) for chunk in chunks] == [4] * 5
    assert chunks[0].shape[1:] == (1, 8, 8)
    order = digits.order(20, 0, 6)
    assert order != sorted(order)
    assert torch.equal(torch.cat(chunks), torch.stack([SMALL(digits[index]) for index in order]))
    again = torch.cat(tensors(stream("digits", 20)))
    other = torch.cat(tensors(stream("digits", 20, seed=1)))
    assert torch.equal(torch.cat(chunks), again)
    assert not torch.equal(again, other)


def test_noise_has_no_end_and_gives_one_batch_where_nobody_says_how_many():
    assert stream("random").total == 6
    assert stream("random", 9).total == 9


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "data must be the name of a data set, tensors or arrays .* got int"),
        (Path("photos"), "got PosixPath .a folder is 'folder:PATH'"),
        (pd.Series(range(300), dtype=float), r"got \(300,\): of one number a sample it is \(N, 1\)"),
        ({}, "the data must give tensors, got a dict without any"),
        ((), "got a tuple without any"),
        (None, "got NoneType"),
        (torch.zeros(5), r"samples must have shape \(N, ...\), got \(5,\)"),
        (torch.zeros(5, 3, 2, 2, dtype=torch.uint8), "floating point numbers .* got torch.uint8"),
        (np.zeros((5, 3), dtype=np.int64), "floating point numbers .* got torch.int64; .*TextPreprocessing"),
        (np.array(["a", "b"]), "the data must be numbers, got ndarray of type <U1"),
        (torch.full((5, 3), torch.nan), "the data holds 15 NaN or infinite values"),
        (np.array([[1.0, np.inf], [0.0, 1.0]]), "the data holds 1 NaN or infinite values"),
    ],
)
def test_what_is_no_data(data, message):
    with pytest.raises(AffscoreError, match=message):
        stream(data)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda image: object(), "the data cannot be read in batches: TypeError: default_collate"),
        (lambda image: ("text",), "the data must give tensors, got"),
        (
            lambda image: image if image[0, 0, 0] else image[:, :1],
            "cannot be read in batches: RuntimeError: stack expects",
        ),
        (lambda image: image / 0, "the data holds .* NaN or infinite"),
    ],
)
def test_items_that_are_no_images(make, message):
    with pytest.raises(AffscoreError, match=message):
        list(stream(Labelled(make)).chunks)


def picture(image):
    return Image.fromarray(image.permute(1, 2, 0).byte().numpy())


@pytest.mark.parametrize("make", [picture, lambda i: (picture(i), 3), lambda i: {"image": picture(i), "label": 3}])
def test_pictures_in_a_data_set_are_prepared(make):
    made = stream(Labelled(make), 9)
    assert made.preprocessing is None
    found = torch.cat(tensors(made))
    assert torch.equal(found, torch.stack([SMALL(picture(image)) for image in IMAGES[:9]]))
    assert made.preprocessing is SMALL


def test_a_list_of_lists_of_whole_numbers_is_a_table():
    rows = [[row % 7, row % 3] for row in range(64)]
    network = nn.Sequential(nn.Linear(2, 5), nn.ReLU())
    one, other = (signature(network, data, n=32, progress=False) for data in (rows, pd.DataFrame(rows)))
    assert one.scores.tolist() == other.scores.tolist()


class Stream(IterableDataset):
    def __init__(self, count, endless=False):
        self.count, self.endless = count, endless

    def __iter__(self):
        samples = torch.arange(float(self.count)).view(-1, 1)
        return itertools.cycle(samples) if self.endless else iter(samples)


class Forever(Sampler):
    """Goes round and round, and says nothing of its length."""

    def __init__(self):
        pass

    def __iter__(self):
        return itertools.cycle(range(7))


SEVEN = TensorDataset(torch.arange(7.0).view(-1, 1))
WITHOUT_END = {
    "data set": Stream(7, endless=True),
    "loader": DataLoader(Stream(7, endless=True), batch_size=4),
    "worker": DataLoader(Stream(7, endless=True), batch_size=4, num_workers=1),
    "sampler": DataLoader(SEVEN, batch_size=4, sampler=Forever()),
}


class TestNoLength:
    SAYS = "the data has no length, and more than these 600 samples; choose images="

    @pytest.mark.parametrize("kind", WITHOUT_END)
    @pytest.mark.parametrize("images", [None, 5, 1000])
    def test_data_without_end(self, kind, images):
        made = stream(WITHOUT_END[kind], images)
        read = torch.cat(tensors(made))
        assert read.flatten().tolist() == [number % 7 for number in range(images or 600)]
        assert made.notes == ([self.SAYS] if images is None else [])

    @pytest.mark.parametrize("count", [1, 599, 600, 601])
    def test_data_that_ends(self, count):
        for data in (Stream(count), DataLoader(Stream(count), batch_size=4)):
            made = stream(data)
            assert sum(map(len, tensors(made))) == min(count, 600)
            assert made.notes == ([self.SAYS] if count > 600 else [])


@pytest.mark.parametrize(
    ("network", "sample"),
    [
        (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), torch.randn(3, 32, 32)),
        (nn.Sequential(nn.Flatten(), nn.Linear(12, 4), nn.ReLU()), torch.randn(3, 4)),
    ],
)
def test_a_forgotten_axis_of_samples_is_named(network, sample):
    with pytest.raises(AffscoreError, match=r"a sample x alone is x\[None\]"):
        signature(network, sample, criteria=False, progress=False)


# Images that cannot be read: counted, named, and replaced by the next ones in the shuffled order.

TINY = Preprocessing(size=4, resize=4, mean=(0.0,) * 3, std=(1.0,) * 3)
BAD = {"03.png": b"", "07.png": b"no picture", "11.png": b"\x89PNG\r\n\x1a\n" + bytes(40)}


@pytest.fixture
def folder(tmp_path):
    """20 pictures, of which three cannot be read."""
    root = tmp_path / "photos"
    root.mkdir()
    for number in range(20):
        values = np.random.default_rng(number).integers(0, 256, (4, 4, 3), dtype=np.uint8)
        Image.fromarray(values).save(root / f"{number:02}.png")
    for name, content in BAD.items():
        (root / name).write_bytes(content)
    return root


def readable(folder, order):
    """The images in this order, without those that cannot be read."""
    data = load_data(f"folder:{folder}", TINY)
    return [data[index] for index in order if f"{index:02}.png" not in BAD]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("images", [2, 9, 17])
def test_the_number_asked_for_is_met_by_the_next_ones(folder, images, seed):
    made = stream(f"folder:{folder}", images, seed=seed, expected=TINY)
    chunks = [chunk.tensors[0] for chunk in made.chunks]
    order = np.random.default_rng(seed).permutation(20)
    assert torch.equal(torch.cat(chunks), torch.stack(readable(folder, order)[:images]))
    assert made.total == images
    assert [len(chunk) for chunk in chunks[:-1]] == [4] * (len(chunks) - 1)
    left_out = next((k for k in range(1, 21) if len(readable(folder, order[:k])) == images), 20) - images
    assert len(made.notes) == (1 if left_out else 0)
    if left_out:
        assert made.notes[0].startswith(f"{left_out} image")
        assert made.notes[0].endswith("; the next ones took their places")


def test_where_there_are_not_enough_the_note_says_how_many_are_left(folder):
    for images in (None, 20, 19):
        made = stream(f"folder:{folder}", images, expected=TINY)
        assert sum(map(len, made.chunks)) == 17
        (note,) = made.notes
        wanted = images or 20
        assert note.startswith("3 images of folder:photos could not be read: ")
        assert sorted(name for name in BAD if f"photos/{name}" in note) == sorted(BAD)
        assert note.endswith(f"; 17 images are left of the {wanted}")
        assert str(folder.parent) not in note


def test_none_that_can_be_read_is_an_error(folder):
    for file in folder.iterdir():
        file.write_bytes(b"")
    with pytest.raises(
        AffscoreError, match=r"none of the 20 images of folder:photos can be read; the file photos/\d\d.png"
    ):
        list(stream(f"folder:{folder}", 5, expected=TINY).chunks)
