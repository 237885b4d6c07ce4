import pandas as pd
import pytest

from affscore.network.multiverse import load_result
from affscore.survey import Store

OF_A_RUN = ("created", "command")


def tables_of(folder):
    """The tables of a store by key, without what differs from run to run, and their metadata and notes."""
    found = {}
    for path in Store(folder).files():
        result = load_result(path)
        metadata = {name: value for name, value in result.metadata.items() if name not in OF_A_RUN}
        found[metadata["key"]] = (getattr(result, "rows", result.table).drop(columns="seconds"), metadata, result.notes)
    return found


def assert_same_results(folder, expected):
    found = tables_of(folder)
    assert found.keys() == expected.keys()
    for key, (table, metadata, notes) in found.items():
        pd.testing.assert_frame_equal(table, expected[key][0], check_exact=True)
        assert metadata == expected[key][1]
        assert notes == expected[key][2]


SLOW = """
import os
import time

import torch
from torch import nn

from affscore.models import Preprocessing


class Slow(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)

    def forward(self, x):
        with open({log!r}, "a") as stream:
            stream.write(f"{{os.getpid()}} {{len(x)}}\\n")
        time.sleep({seconds})
        return torch.relu(self.conv(x))


def make():
    network = Slow()
    network.preprocessing = Preprocessing(channels=1, size=8, resize=8, mean=(0.3,), std=(0.3,))
    return network


def other():
    network = make()
    nn.init.uniform_(network.conv.weight)
    return network
"""


class SlowNetwork:
    """A file of one's own with two networks that take their time, and a log of what went through them."""

    def __init__(self, folder, seconds):
        self.log = folder / "passes.txt"
        self.file = folder / "slow.py"
        self.file.write_text(SLOW.format(log=str(self.log), seconds=seconds))
        self.models = [f"{self.file}:make", f"{self.file}:other"]

    def passes(self):
        """Process and number of images of every forward pass of a batch, without the check of one image alone."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        found = [tuple(map(int, line.split())) for line in lines]
        return [(process, images) for process, images in found if images > 1]


@pytest.fixture
def slow_network(tmp_path):
    return lambda seconds: SlowNetwork(tmp_path, seconds)
