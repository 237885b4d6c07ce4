import os
import sys

if "PYTEST_XDIST_WORKER" in os.environ:  # a worker a core, and a thread a worker: in the processes that it starts, too
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch
from hypothesis import HealthCheck, settings

import companion  # noqa: F401  # its networks are in tests of affscore, too
from affscore import cli
from tests.small_cifar import write_small_cifar

# The same examples in every run: a red test stays red until somebody repairs something.
settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("deterministic")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first: workers take whole files, and none shall wait for one of these at the end."""
    long = {item.path for item in items if {"notebook", "browser"} & {mark.name for mark in item.iter_markers()}}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(params=DEVICES)
def device(request):
    """Every device that this machine has, one after the other."""
    return torch.device(request.param)


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: exit status, stdout and stderr."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["affscore", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture
def small_cifar(tmp_path, monkeypatch):
    """Both data sets with a few pictures, where affscore looks for them."""
    write_small_cifar(tmp_path / "data", monkeypatch)


@pytest.fixture(autouse=True)
def the_cpu_where_no_device_is_asked_for(request, monkeypatch):
    """The networks of the tests hold constants that do not move: "auto" takes a GPU in tests of devices only."""
    if "device" not in request.fixturenames:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
