"""Folders as people have them, and torchvision's data sets: its own classes read small files in its own layout."""

import hashlib
import http.server
import os
import pickle
import shutil
import socket
import struct
import tarfile
import threading
import time
from functools import partial

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image

from affscore import load_data
from affscore.errors import AffscoreError
from affscore.models import Preprocessing, weight_files
from affscore.models.data import UnreadableImageError, identity_of_data
from affscore.models.data.images import images_of
from tests.small_cifar import ramps

SMALL = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)

ORIENTATION = 0x0112


def save(path, colour=(255, 0, 0), size=(10, 7), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)
    return path


def test_a_folder_gives_every_picture_below_it(tmp_path):
    root = tmp_path / "photos"
    save(root / "b" / "c" / "tall.jpeg", (0, 255, 0), (3, 40))
    save(root / "rgb.PNG")
    Image.new("L", (6, 6), 51).save(root / "b" / "grey.tif")
    (root / "notes.txt").write_text("not a picture")
    (root / "b" / "labels.csv").write_text("a,b")
    data = load_data(f"folder:{root}", SMALL)
    assert (data.name, len(data)) == ("folder:photos", 3)
    images = torch.stack([*data])
    assert images.shape == (3, 3, 8, 8)
    expected = torch.tensor([[0.0, 1.0, 0.0], [0.2, 0.2, 0.2], [1.0, 0.0, 0.0]])
    torch.testing.assert_close(images[..., 4, 4], expected, rtol=0, atol=0.02)
    stored = load_data(f"folder:{root}")
    assert [tuple(image.shape) for image in stored] == [(3, 40, 3), (1, 6, 6), (3, 7, 10)]
    torch.testing.assert_close(torch.stack([image.amax() for image in stored]), expected.amax(1), rtol=0, atol=0.02)


@pytest.mark.parametrize("place", [".", "val", "ILSVRC/Data/CLS-LOC/val"])
def test_imagenet_takes_the_validation_images(tmp_path, place):
    inner = tmp_path / "imagenet" / place
    save(inner / "n01" / "1.JPEG", (255, 0, 0))
    save(inner / "n02" / "1.JPEG", (0, 255, 0))
    if place != ".":
        save(inner.parent / "train" / "n01" / "x.JPEG", (0, 0, 255))
    data = load_data(f"imagenet:{tmp_path / 'imagenet'}", SMALL)
    assert (data.name, len(data), data.labels) == ("imagenet:imagenet", 2, ["n01", "n02"])
    assert [image.mean(dim=(1, 2)).argmax().item() for image in data] == [0, 1]


@pytest.mark.parametrize("kind", ["folder", "imagenet"])
def test_folders_that_hold_nothing(tmp_path, kind):
    (tmp_path / "notes.txt").write_text("no picture")
    for place, message in (
        (tmp_path, "found no image"),
        (tmp_path / "missing", r"there is no folder .*missing"),
        (tmp_path / "notes.txt", r"there is no folder .*notes"),
        ("", f"{kind}: needs a folder"),
    ):
        with pytest.raises(AffscoreError, match=message):
            load_data(f"{kind}:{place}")


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + bytes(50), None])
def test_a_file_that_is_no_picture_is_named(tmp_path, content):
    file = tmp_path / "broken.png"
    if content is None:
        file.symlink_to(tmp_path / "nothing")
    else:
        file.write_bytes(content)
    with pytest.raises(UnreadableImageError, match=r"the file .*/broken.png is not a readable image \("):
        load_data(f"folder:{tmp_path}", SMALL)[0]


def test_photos_are_turned_upright_and_those_of_imagenet_lie_as_torchvision_leaves_them(tmp_path):
    """Stored 8 high and 16 wide, left half white; seen 16 high and 8 wide, upper half white."""
    values = np.zeros((8, 16), dtype=np.uint8)
    values[:, :8] = 255
    exif = Image.Exif()
    exif[ORIENTATION] = 6  # turn it by 90 degrees, clockwise
    Image.fromarray(values).save(tmp_path / "photo.jpg", exif=exif, quality=95)
    (upright,) = load_data(f"folder:{tmp_path}")
    assert upright.shape == (1, 16, 8)
    assert upright[0, :7].mean() > 0.95
    assert upright[0, 9:].mean() < 0.05
    (stored,) = load_data(f"imagenet:{tmp_path}")
    assert stored.shape == (1, 8, 16)
    assert stored[0, :, :7].mean() > 0.95


def test_hidden_files_and_folders_are_passed_over(tmp_path):
    save(tmp_path / "photo.png")
    (tmp_path / "._photo.png").write_bytes(b"what macOS leaves beside a file")
    save(tmp_path / ".ipynb_checkpoints" / "photo.png")
    assert len(load_data(f"folder:{tmp_path}")) == 1


def test_the_identity_is_of_the_files_that_are_used_and_of_links_to_nothing(tmp_path):
    for number in range(3):
        Image.new("L", (8, 8), number).save(tmp_path / f"{number}.png")
    spec = f"folder:{tmp_path}"
    used = load_data(spec).order(2, 0, 2)
    (unused,) = {0, 1, 2} - {int(place) for place in used}
    content = identity_of_data(spec, 2, 2, 0)["content"]
    Image.new("L", (8, 8), 99).save(tmp_path / f"{unused}.png")
    assert identity_of_data(spec, 2, 2, 0)["content"] == content
    file = tmp_path / f"{int(used[0])}.png"
    file.write_bytes(b"")
    empty = identity_of_data(spec, 2, 2, 0)["content"]
    file.unlink()
    file.symlink_to(tmp_path / "nothing")
    assert len({content, empty, identity_of_data(spec, 2, 2, 0)["content"]}) == 3


def test_links_are_followed_and_a_circle_ends(tmp_path):
    save(tmp_path / "elsewhere" / "cats" / "1.png")
    root = tmp_path / "photos"
    save(root / "dogs" / "1.png")
    (root / "cats").symlink_to(tmp_path / "elsewhere" / "cats")
    (root / "dogs" / "up").symlink_to(root)
    data = load_data(f"folder:{root}")
    assert (len(data), sorted(data.labels)) == (2, ["cats", "dogs"])


def test_the_folders_are_the_classes(tmp_path):
    for name in ("cats", "dogs"):
        save(tmp_path / name / "a.png")
        save(tmp_path / name / "young" / "b.png")
    data = load_data(f"folder:{tmp_path}")
    assert data.labels == ["cats", "cats", "dogs", "dogs"]
    assert [data.only("dogs").name, load_data(f"folder:{tmp_path / 'dogs'}").name] == ["folder:dogs"] * 2
    assert [file.name for file in data.only("dogs").files] == ["a.png", "b.png"]
    save(tmp_path / "loose.png")
    assert load_data(f"folder:{tmp_path}").labels is None


def test_imagenet_without_validation_images(tmp_path):
    save(tmp_path / "train" / "n01" / "1.JPEG")
    with pytest.raises(AffscoreError, match=r"has no 'val'; for the training images write folder:.*/train"):
        load_data(f"imagenet:{tmp_path}")
    save(tmp_path / "val" / "train" / "1.JPEG")  # a class of this name
    assert load_data(f"imagenet:{tmp_path}").labels == ["train"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFSCORE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def idx(array):
    return struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def fashion_files():
    images = np.zeros((4, 28, 28), dtype=np.uint8)
    images[:, 14:] = np.array([0, 85, 170, 255], dtype=np.uint8)[:, None, None]
    labels = np.array([0, 9, 9, 5], dtype=np.uint8)
    return {
        "train-images-idx3-ubyte": idx(images[:1]),
        "train-labels-idx1-ubyte": idx(labels[:1]),
        "t10k-images-idx3-ubyte": idx(images),
        "t10k-labels-idx1-ubyte": idx(labels),
    }


@pytest.mark.parametrize(
    ("name", "part", "files"),
    [("cifar10", "test", [5]), ("cifar100", "test", [1]), ("cifar10", "train", range(5)), ("cifar100", "train", [0])],
)
def test_cifar_that_is_there_needs_no_network(name, part, files, hub, small_cifar):
    data, count, classes = images_of(name, part), 32 if part == "test" else 20, int(name.removeprefix("cifar"))
    pixels = np.concatenate([ramps(count, number) for number in files]) / 255
    np.testing.assert_allclose(torch.stack([*data]), pixels, rtol=0, atol=1e-6)
    labels = [np.random.default_rng(number).integers(0, classes, count) for number in files]
    assert data.labels == [f"class {label}" for label in np.concatenate(labels)]
    assert data.classes == [f"class {label}" for label in range(classes)]
    if part == "test":
        named, one = load_data(name), load_data(f"{name}:{data.labels[0]}")
        assert torch.equal(torch.stack([*named]), torch.stack([*data]))
        assert (named.name, one.name) == (name, f"{name}:{data.labels[0]}")
        assert len(one) == data.labels.count(data.labels[0])


def test_fashion_mnist_that_is_there_needs_no_network(hub, home):
    (home / "FashionMNIST" / "raw").mkdir(parents=True)
    for name, content in fashion_files().items():
        (home / "FashionMNIST" / "raw" / name).write_bytes(content)
    data = load_data("fashion-mnist", SMALL)
    assert (data.name, len(data)) == ("fashion-mnist", 4)
    assert [float(image[:, 7].mean()) for image in data] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert data.labels == ["T-shirt/top", "Ankle boot", "Ankle boot", "Sandal"]
    assert data.classes[:2] == load_data("fashion-mnist:Ankle boot").classes[:2] == ["T-shirt/top", "Trouser"]
    assert len(load_data("fashion-mnist:Ankle boot")) == 2
    assert load_data("fashion-mnist:T-shirt/top")[0].shape == (1, 28, 28)


def test_what_is_not_there_is_downloaded_once(tmp_path, small_cifar, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    made = torchvision.datasets.CIFAR10
    folder, served = tmp_path / "data" / made.base_folder, tmp_path / "served.tar.gz"
    with tarfile.open(served, "w:gz") as archive:
        archive.add(folder, made.base_folder)
    shutil.rmtree(folder)
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setattr(made, "url", f"http://127.0.0.1:{server.server_port}/{served.name}")
        monkeypatch.setattr(made, "tgz_md5", md5(served.read_bytes()))
        assert len(load_data("cifar10")) == 32
        served.unlink()
        assert len(load_data("cifar10")) == 32
        server.shutdown()
    assert socket.getdefaulttimeout() is None


def test_a_server_that_is_silent_costs_seconds(home, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(weight_files, "SECONDS_TO_ANSWER", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(torchvision.datasets.CIFAR10, "url", f"http://127.0.0.1:{silent.getsockname()[1]}/x.tar.gz")
        start = time.monotonic()
        with pytest.raises(AffscoreError, match=r"could not be downloaded .*timed out"):
            load_data("cifar10")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("name", "address", "folder"),
    [
        ("cifar10", "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz", "data"),
        ("fashion-mnist", "t10k-images-idx3-ubyte.gz", "data/FashionMNIST/raw"),
    ],
)
def test_no_network_and_no_data(name, address, folder, hub, home):
    with pytest.raises(AffscoreError, match=f"the data set {name} is not in .* could not be downloaded") as caught:
        load_data(name)
    assert address in str(caught.value)
    assert f" into {home.parent / folder} (AFFSCORE_DATA" in str(caught.value)


DAMAGE = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "foreign": lambda content: b"<html>" + content,
    "a pickle of something else": lambda content: pickle.dumps([1, 2]),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("trusted", [True, False])
def test_damaged_files_of_cifar(damage, trusted, hub, small_cifar, tmp_path, monkeypatch):
    made = torchvision.datasets.CIFAR10
    file = tmp_path / "data" / made.base_folder / "test_batch"
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    if trusted:
        monkeypatch.setattr(made, "test_list", [[file.name, md5(file.read_bytes())]])
    with pytest.raises(AffscoreError, match="or damaged there"):
        load_data("cifar10")


def test_a_closed_folder_is_an_error(tmp_path, monkeypatch):
    """As if this folder belonged to somebody else (whoever runs the tests may be allowed everything)."""
    save(tmp_path / "photos" / "open" / "1.png")
    save(tmp_path / "photos" / "private" / "1.png")
    scandir = os.scandir

    def refusing(path="."):
        if os.fspath(path).endswith("private"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(AffscoreError, match=r"the folder 'private' cannot be read: PermissionError: .*denied"):
        load_data(f"folder:{tmp_path / 'photos'}")
