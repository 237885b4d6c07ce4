"""torchvision's own classes read small files in its own layout; the network is a server of the test's."""

import gzip
import hashlib
import http.server
import pickle
import re
import socket
import struct
import tarfile
import threading
import time

import numpy as np
import pytest
import torch
import torchvision

from affscore import load_data
from affscore.errors import AffscoreError
from affscore.models import Preprocessing, downloads
from affscore.models.data.torchvision_images import DATA_SETS, images_of

TINY = Preprocessing(size=4, resize=4, mean=(0.0,) * 3, std=(1.0,) * 3)
COLOURS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]], dtype=np.uint8)
NAMES = {"cifar10": ["airplane", "cat"], "cifar100": ["apple", "bee"]}
LABELS = [1, 0, 1, 1]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFSCORE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def cifar_files(name):
    """The files of a CIFAR with four images of one colour each."""
    made = getattr(torchvision.datasets, DATA_SETS[name])
    key = "labels" if name == "cifar10" else "fine_labels"
    images = COLOURS.repeat(32 * 32, axis=1)  # all red values, then all green, then all blue ones
    batch = {"data": images, key: LABELS}
    files = {file: pickle.dumps({"data": images[:1], key: [0]}) for file, _ in made.train_list}
    files |= {file: pickle.dumps(batch) for file, _ in made.test_list}
    return files | {made.meta["filename"]: pickle.dumps({made.meta["key"]: NAMES[name]})}


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def expect(monkeypatch, name, files):
    """Let torchvision expect these files, and not the real ones."""
    made = getattr(torchvision.datasets, DATA_SETS[name])
    for kept in ("train_list", "test_list"):
        monkeypatch.setattr(made, kept, [[file, md5(files[file])] for file, _ in getattr(made, kept)])
    monkeypatch.setattr(made, "meta", {**made.meta, "md5": md5(files[made.meta["filename"]])})
    return made


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


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


@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
def test_cifar_that_is_there_needs_no_network(name, hub, home, monkeypatch):
    files = cifar_files(name)
    made = expect(monkeypatch, name, files)
    write(home / made.base_folder, files)
    data = load_data(name, TINY)
    assert (data.name, len(data)) == (name, 4)
    for image, colour in zip(data, COLOURS, strict=True):
        assert image[:, 0, 0].tolist() == pytest.approx((colour / 255).tolist())
    assert load_data(name)[0].shape == (3, 32, 32)
    assert data.labels == [NAMES[name][label] for label in LABELS]
    one = load_data(f"{name}:{NAMES[name][1]}")
    assert (one.name, len(one)) == (f"{name}:{NAMES[name][1]}", 3)


@pytest.mark.parametrize(("name", "images"), [("cifar10", 5), ("cifar100", 1)])
def test_the_training_part_has_images_of_its_own(name, images, hub, home, monkeypatch):
    """One red image of the first class in each file of the training part."""
    with pytest.raises(AffscoreError, match=f"the data set {name} is not in .* could not be downloaded"):
        images_of(name, "train")
    made = expect(monkeypatch, name, files := cifar_files(name))
    write(home / made.base_folder, files)
    data = images_of(name, "train")
    assert data.labels == [NAMES[name][0]] * images
    assert torch.equal(data[images - 1], torch.tensor([1.0, 0, 0])[:, None, None].expand(3, 32, 32))
    assert data.classes == NAMES[name]


def test_fashion_mnist_that_is_there_needs_no_network(hub, home):
    write(home / "FashionMNIST" / "raw", fashion_files())
    data = load_data("fashion-mnist", TINY)
    assert (data.name, len(data)) == ("fashion-mnist", 4)
    assert [float(image[:, 3].mean()) for image in data] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert data.labels == ["T-shirt/top", "Ankle boot", "Ankle boot", "Sandal"]
    assert data.classes[:2] == load_data("fashion-mnist:Ankle boot").classes[:2] == ["T-shirt/top", "Trouser"]
    assert len(load_data("fashion-mnist:Ankle boot")) == 2
    assert load_data("fashion-mnist:T-shirt/top")[0].shape == (1, 28, 28)


def test_archives_that_are_there_are_unpacked(hub, home, monkeypatch):
    files = {f"{name}.gz": gzip.compress(content) for name, content in fashion_files().items()}
    write(home / "FashionMNIST" / "raw", files)
    resources = [(name, md5(content)) for name, content in files.items()]
    monkeypatch.setattr(torchvision.datasets.FashionMNIST, "resources", resources)
    assert len(load_data("fashion-mnist")) == 4


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server that serves a folder, which is given together with its address."""
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "served").mkdir()
    handler = lambda *args: Quiet(*args, directory=str(tmp_path / "served"))  # noqa: E731
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield tmp_path / "served", f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_what_is_not_there_is_downloaded_once(server, home, monkeypatch):
    folder, address = server
    made = expect(monkeypatch, "cifar10", files := cifar_files("cifar10"))
    write(folder / made.base_folder, files)
    with tarfile.open(folder / made.filename, "w:gz") as archive:
        archive.add(folder / made.base_folder, made.base_folder)
    monkeypatch.setattr(made, "url", f"{address}/{made.filename}")
    monkeypatch.setattr(made, "tgz_md5", md5((folder / made.filename).read_bytes()))
    assert len(load_data("cifar10")) == 4
    (folder / made.filename).unlink()
    assert len(load_data("cifar10")) == 4
    assert socket.getdefaulttimeout() is None


def test_something_else_at_the_address(server, home, monkeypatch):
    folder, address = server
    made = torchvision.datasets.CIFAR10
    (folder / made.filename).write_bytes(b"a page of the hotel's network")
    monkeypatch.setattr(made, "url", f"{address}/{made.filename}")
    with pytest.raises(AffscoreError, match=r"cifar10 is not in .* could not be downloaded \(RuntimeError: File not"):
        load_data("cifar10")


def test_a_server_that_is_silent_costs_seconds(home, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(downloads, "SECONDS_TO_ANSWER", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(torchvision.datasets.CIFAR10, "url", f"http://127.0.0.1:{silent.getsockname()[1]}/x.tar.gz")
        start = time.monotonic()
        with pytest.raises(AffscoreError, match=r"could not be downloaded .*timed out"):
            load_data("cifar10")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("name", "files", "folder"),
    [
        ("cifar10", ["https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"], "data"),
        ("cifar100", ["https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"], "data"),
        (
            "fashion-mnist",
            ["t10k-images-idx3-ubyte.gz", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"],
            "data/FashionMNIST/raw",
        ),
    ],
)
def test_no_network_and_no_data(name, files, folder, hub, home):
    with pytest.raises(AffscoreError, match=f"the data set {name} is not in .* could not be downloaded") as caught:
        load_data(name)
    message = str(caught.value)
    assert "\n" not in message
    assert all(file in message for file in files)
    assert f" into {home.parent / folder} (AFFSCORE_DATA" in message


def test_only_the_missing_files_are_asked_for(hub, home):
    write(home / "FashionMNIST" / "raw", dict.fromkeys(["train-images-idx3-ubyte.gz"], b""))
    with pytest.raises(AffscoreError, match=r"get train-labels-idx1-ubyte.gz, t10k-images"):
        load_data("fashion-mnist")


DAMAGE = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "foreign": lambda content: b"<html>" + content,
    "a pickle of something else": lambda content: pickle.dumps([1, 2]),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"])
def test_damaged_files_of_fashion_mnist(file, damage, hub, home):
    files = fashion_files()
    write(home / "FashionMNIST" / "raw", files | {file: DAMAGE[damage](files[file])})
    with pytest.raises(AffscoreError, match=r"the files of the data set fashion-mnist in .* are damaged \(.*; remove"):
        load_data("fashion-mnist")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("trusted", [True, False])
def test_damaged_files_of_cifar(damage, trusted, hub, home, monkeypatch):
    files = cifar_files("cifar10")
    damaged = files | {"test_batch": DAMAGE[damage](files["test_batch"])}
    made = expect(monkeypatch, "cifar10", damaged if trusted else files)
    write(home / made.base_folder, damaged)
    expected = "are damaged" if trusted else "or damaged there, and could not be downloaded"
    with pytest.raises(AffscoreError, match=expected):
        load_data("cifar10")


def test_a_home_that_is_a_file(hub, tmp_path, monkeypatch):
    (tmp_path / "data").write_text("no folder")
    monkeypatch.setenv("AFFSCORE_DATA", str(tmp_path / "data"))
    with pytest.raises(AffscoreError, match=re.escape(str(tmp_path / "data"))):
        load_data("cifar10")
