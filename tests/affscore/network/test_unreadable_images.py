"""Images that cannot be read: counted, named, and replaced by the next ones in the shuffled order."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from affscore import AffscoreError, load_data, signature
from affscore.models import ImageSet, Preprocessing
from affscore.models.card import ModelCard
from affscore.models.data import UnreadableImageError
from affscore.network.images import image_stream
from affscore.options import Options

SMALL = Preprocessing(size=4, resize=4, mean=(0.0,) * 3, std=(1.0,) * 3)
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


def stream(data, images=None, batch_size=4, seed=0):
    return image_stream(data, ModelCard("", "", SMALL), Options(6, images, seed=seed), batch_size)


def readable(folder, order):
    """The images in this order, without those that cannot be read."""
    data = load_data(f"folder:{folder}", SMALL)
    return [data[index] for index in order if f"{index:02}.png" not in BAD]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("images", [2, 9, 17])
def test_the_number_asked_for_is_met_by_the_next_ones(folder, images, seed):
    made = stream(f"folder:{folder}", images, seed=seed)
    chunks = [chunk.numbers for chunk in made.chunks]
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
        made = stream(f"folder:{folder}", images)
        assert sum(map(len, made.chunks)) == 17
        (note,) = made.notes
        wanted = images or 20
        assert note.startswith("3 images of folder:photos could not be read: ")
        assert sorted(name for name in BAD if f"photos/{name}" in note) == sorted(BAD)
        assert note.endswith(f"; 17 images are left of the {wanted}")
        assert str(folder.parent) not in note


def test_a_note_names_the_first_few():
    def read(index, p):
        if index < 8:
            raise UnreadableImageError(f"'{index}.png'", "of the test")
        return torch.zeros(3, 4, 4)

    made = stream(ImageSet("many", 10, read))
    assert sum(map(len, made.chunks)) == 2
    (note,) = made.notes
    assert note.startswith("8 images of many could not be read: '")
    assert note.count(".png'") == 5
    assert " and 3 more; 2 images are left of the 10" in note


def test_none_that_can_be_read_is_an_error(folder):
    for file in folder.iterdir():
        file.write_bytes(b"")
    with pytest.raises(
        AffscoreError, match=r"none of the 20 images of folder:photos can be read; the file photos/\d\d.png"
    ):
        list(stream(f"folder:{folder}", 5).chunks)


def network():
    made = nn.Sequential(nn.Conv2d(3, 5, 2), nn.ReLU(), nn.Conv2d(5, 4, 2), nn.Tanh())
    made.preprocessing = SMALL
    return made


def test_two_classes_of_a_folder_keep_their_names(tmp_path):
    for name in ("cats", "dogs"):
        (tmp_path / name).mkdir()
        for number in range(4):
            values = np.random.default_rng([len(name), number]).integers(0, 256, (4, 4, 3), dtype=np.uint8)
            Image.fromarray(values).save(tmp_path / name / f"{number}.png")
    net = network()
    tables = [signature(net, f"folder:{tmp_path / name}", n=4, criteria=False).table for name in ("cats", "dogs")]
    assert [table["dataset"].unique().tolist() for table in tables] == [["folder:cats"], ["folder:dogs"]]
    whole = load_data(f"folder:{tmp_path}")
    again = signature(net, whole.only("dogs"), n=4, criteria=False)
    assert again.table["dataset"].unique().tolist() == ["folder:dogs"]
    assert again.scores.tolist() == tables[1]["score"].tolist()
