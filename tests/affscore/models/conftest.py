import socket

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def hub(tmp_path, monkeypatch, no_network):
    """An empty folder where torchvision looks for downloaded weights; the network is out of reach."""
    monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path / "hub"))
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    return tmp_path / "hub" / "checkpoints"


@pytest.fixture
def no_network(monkeypatch):
    """No other machine can be found."""

    def unreachable(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)


@pytest.fixture
def repository(tmp_path, monkeypatch, no_network):
    """Makes repositories in a cache of the Hugging Face hub, which is out of reach: given a name, a folder."""
    client = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(client.constants, "HF_HUB_CACHE", str(tmp_path / "hf"))

    def make(name):
        home = tmp_path / "hf" / f"models--{name.replace('/', '--')}"
        (home / "refs").mkdir(parents=True)
        (home / "refs" / "main").write_text("abc")
        (home / "snapshots" / "abc").mkdir(parents=True)
        return home / "snapshots" / "abc"

    return make
