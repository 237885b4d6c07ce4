"""Malformed data through the public interface: every case ends in one usable sentence, or in a result with a note."""

import io
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from affscore import AffscoreError, load_data
from affscore.zoo import Preprocessing
from tests.zoo.malformed import damaged, images_network, outcome, text_network, twenty

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("hub")]


def encoded(kind, seed=0):
    buffer = io.BytesIO()
    values = np.random.default_rng(seed).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    Image.fromarray(values).save(buffer, kind)
    return buffer.getvalue()


PICTURES = {f"x.{suffix}": encoded(kind) for suffix, kind in {"png": "PNG", "jpg": "JPEG", "tif": "TIFF"}.items()}
PICTURES |= {f"x.{suffix}": encoded(kind) for suffix, kind in {"webp": "WEBP", "bmp": "BMP", "pgm": "PPM"}.items()}
BOMB = b"P6 65000 65000 255\n"


@given(st.lists(damaged(PICTURES), min_size=1, max_size=5))
@example([("x.ppm", BOMB + bytes(50))])
@twenty
@pytest.mark.slow
def test_damaged_images(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("photos")
    for number in range(3):
        (folder / f"good{number}.png").write_bytes(encoded("PNG", number))
    for number, (name, content) in enumerate(files):
        (folder / f"bad{number}{name}").write_bytes(content)
    data = load_data(f"folder:{folder}", Preprocessing(size=4, resize=4))
    readable = 0
    for index in range(len(data)):
        try:
            readable += data[index] is not None
        except AffscoreError:
            continue
    found = outcome(images_network(), f"folder:{folder}", n=len(data))
    assert found.metadata["images"] == readable >= 3
    notes = [note for note in found.notes if "could not be read" in note]
    assert len(notes) == (readable < len(data))
    assert not notes or notes[0].startswith(f"{len(data) - readable} image")
    assert str(folder.parent) not in repr(found.notes) + repr(found.metadata)


@given(st.lists(damaged(PICTURES).filter(lambda file: len(file[1]) < 30), min_size=1, max_size=4))
@twenty
def test_folders_of_nothing_but_damaged_images(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("photos")
    for number, (name, content) in enumerate(files):
        (folder / f"{number}{name}").write_bytes(content)
    message = outcome(images_network(), f"folder:{folder}")
    assert message.startswith(f"none of the {len(files)} images of folder:{folder.name} can be read; the file '")
    assert str(folder.parent) not in message


KNOWN = "digits random cifar10 cifar100 fashion-mnist imagenet:x folder:x text:x tokens:x npz:x".split()


@given(st.sampled_from(KNOWN), st.integers(0, 12), st.sampled_from(["drop", "double", "swap", "x", "-", " ", ":", "@"]))
@twenty
def test_misspelt_names(spec, position, change):
    position %= len(spec) - 1
    before, letter, following, after = spec[:position], spec[position], spec[position + 1], spec[position + 2 :]
    middle = {"drop": following, "double": letter * 2 + following, "swap": following + letter}
    misspelt = before + middle.get(change, letter + change + following) + after
    message = outcome(images_network(), misspelt, images=4)
    if misspelt in ("digits", "random"):  # two letters that are the same were swapped
        assert not isinstance(message, str)
    elif misspelt != spec:
        assert misspelt.partition(":")[0] in message


@given(st.sampled_from(["folder", "imagenet", "text", "tokens"]), st.sampled_from(["file", "folder", "nothing"]))
@twenty
def test_a_directory_for_a_file_and_a_file_for_a_directory(tmp_path_factory, kind, what):
    place = tmp_path_factory.mktemp("places") / "place.npy"
    if what == "file":
        place.write_bytes(b"\0\1")
    elif what == "folder":
        place.mkdir()
    network = text_network() if kind in ("text", "tokens") else images_network()
    assert "place.npy" in outcome(network, f"{kind}:{place}")


@contextmanager
def nobody():
    """Whoever runs the tests, as somebody whom no file belongs to."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def can_be_opened(file):
    try:
        file.open("rb").close()
    except PermissionError:
        return False
    return True


@given(st.sampled_from(["folder", "imagenet", "text", "tokens"]), st.sampled_from([0o000, 0o444, 0o111]), st.booleans())
@twenty
def test_no_permission(kind, mode, whole_folder):
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        folder = Path(made) / "private"
        folder.mkdir()
        (folder / "x.png").write_bytes(encoded("PNG"))
        (folder / "x.txt").write_text("a text " * 20)
        np.save(folder / "x.npy", np.zeros((4, 4), dtype=int))
        place = folder / {"text": "x.txt", "tokens": "x.npy"}.get(kind, "")
        closed = folder if whole_folder else folder / "x.png" if place == folder else place
        closed.chmod(mode if whole_folder else mode & 0o444)
        network = text_network() if kind in ("text", "tokens") else images_network()
        with nobody():
            readable = place != folder and can_be_opened(place)
            found = outcome(network, f"{kind}:{place}")
        folder.chmod(0o755)
    if mode == 0o000:
        assert "ermission denied" in found
    elif place != folder:
        assert isinstance(found, str) != readable


@given(arrays.arrays(st.sampled_from("fdeiqbBH?"), arrays.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)))
@example(np.zeros((4, 3, 4, 4)))
@example(np.zeros((4, 4), dtype=np.uint16))
@example(np.full((4, 4), 2**63, dtype=np.uint64))
@example(np.full((4, 3, 4, 4), np.nan))
@example(np.zeros((4, 3, 4, 4), dtype="complex64"))
@example(np.zeros((3, 4), dtype=object))
@example(np.zeros((3, 4), dtype="datetime64[s]"))
@twenty
def test_arrays_of_any_shape_and_type(array):
    made = [array] if array.dtype.kind in "OM" else [array, torch.from_numpy(array.copy())]
    for network in (images_network(), text_network()):
        for data in made:
            found = outcome(network, data)
            fits = array.shape == (4, 3, 4, 4) and bool(np.isfinite(array).all())
            assert isinstance(found, str) or fits or (array.ndim == 2 and array.dtype.kind in "iu") or array.size == 48


UNUSUAL = {
    "sparse": lambda: torch.ones(4, 48).to_sparse(),
    "sparse ids": lambda: torch.ones(4, 4, dtype=torch.int64).to_sparse(),
    "meta": lambda: torch.ones(4, 48, device="meta"),
    "quantised": lambda: torch.quantize_per_tensor(torch.ones(4, 48), 0.1, 0, torch.quint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(3), torch.ones(4)]),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_tensors_that_hold_no_plain_numbers(kind):
    tensor = UNUSUAL[kind]()
    for network in (images_network(), text_network()):
        for data in (tensor, DataLoader(Items([tensor]), batch_size=None)):
            sentence = f"the data must be plain numbers in memory, got a {kind.split()[0]} tensor"
            assert outcome(network, data).startswith(sentence)


NUMBERS = st.sampled_from([0, -1, 1, 1.5, 2**63, 10**30, "8", b"8", True, False, float("nan"), float("inf"), [2], 2j])


@given(st.sampled_from(["n", "images", "batch_size", "seed"]), NUMBERS)
@twenty
def test_options_out_of_range(name, value):
    found = outcome(images_network(), "random", **{"images": 2, name: value})
    allowed = isinstance(value, int) and not isinstance(value, bool) and value == 1 and name in ("batch_size", "seed")
    if allowed or (name == "seed" and value == 0 and not isinstance(value, bool)):
        assert not isinstance(found, str)
    else:
        assert found.startswith(f"{name} must be ")


class Items(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


THINGS = st.one_of(
    st.none(), st.text(max_size=5), st.integers(), st.floats(), st.binary(max_size=4), st.just(object()),
    st.sampled_from([torch.zeros(3, 4, 4), torch.zeros(3, 4, 5), torch.full((3, 4, 4), torch.nan), torch.zeros(())]),
    st.just(Image.new("RGB", (5, 5))), st.just(Image.new("F", (5, 5))), st.just(np.zeros((3, 4, 4), dtype="f"))
)  # fmt: skip
NESTED = st.recursive(
    THINGS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner)
)


@given(st.lists(NESTED, max_size=4))
@example([{"a": 1}, {"b": 1}])
@example([(torch.zeros(3, 4, 4), "cat"), (torch.zeros(3, 4, 4), "dog")])
@example([{"x": torch.zeros(3, 4, 4)}, torch.zeros(3, 4, 4)])
@settings(max_examples=30)
@pytest.mark.slow
def test_data_sets_of_anything(items):
    for data in (Items(items), DataLoader(Items(items), batch_size=2), items):
        outcome(images_network(), data)
        outcome(text_network(), data)
