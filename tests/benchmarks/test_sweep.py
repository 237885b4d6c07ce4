"""The sweep: a row for every family, whatever its network does, and a wrong call or width is seen."""

import sys
import time

import plain_hooks
import pytest
import sweep
import torch
from plain_hooks import Seen
from tiny_networks import Built
from torch import nn


class Small(nn.Module):
    """A convolution, a gate that a formula makes, an activation that sees nothing of the input, and one used twice."""

    def __init__(self):
        super().__init__()
        self.conv, self.act, self.sigmoid, self.table = nn.Conv2d(3, 5, 1), nn.ReLU(), nn.Sigmoid(), nn.Tanh()
        self.first, self.second = nn.Linear(5, 7), nn.Linear(7, 7)
        self.places = nn.Parameter(torch.randn(7))

    def forward(self, x):
        x = self.act(self.conv(x)).mean((2, 3))
        x = self.first(x * self.sigmoid(x)) + self.table(self.places)
        return torch.tanh(self.second(self.act(x)))


def built(network=None):
    torch.manual_seed(0)
    images = {"input" if isinstance(network, nn.Sequential) else "x": torch.randn(4, 3, 6, 6)}
    return Built("small", (network or Small()).eval(), images)


def test_a_row():
    row = sweep.in_a_process([built], limit=60)
    assert (row["network"], row["inputs"]) == ("small", "x")
    assert (row["hooked"], row["calls"], row["beyond"], row["widths"]) == (4, 2, "silu:1 tanh:1", "5x2 7x2")
    assert row["agreement"] == "explained"
    assert row["note"] == ("1 calls see nothing of the input; 1 calls are part of a formula of the module around them")


class Ends(nn.Module):
    def forward(self, x):
        sys.exit(3) if self.training else time.sleep(60)


def fails():
    raise ValueError("no file")


@pytest.mark.parametrize(
    ("builders", "agreement", "note"),
    [
        ([fails], "not built", "ValueError: no file"),
        ([fails, lambda: built(nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU()))], "yes", ""),
        ([lambda: built(Ends())], "too slow", "too slow, 1 s"),
        ([lambda: Built("ends", Ends().train(), {"x": torch.zeros(4, 3)})], "ended", "the process ended with 3"),
    ],
    ids=["cannot be built", "the second can", "hangs", "ends"],
)
def test_whatever_a_network_does_is_a_row(builders, agreement, note):
    row = sweep.in_a_process(builders, limit=1 if agreement == "too slow" else 60)
    assert row["agreement"] == agreement
    assert note in row["note"]


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([("a", 0, 5)], "1 calls are missing, first call 0 of b"),
        ([("a", 0, 5), ("b", 0, 7), ("b", 1, 7)], "1 calls that no hook saw, first call 1 of b"),
        ([("a", 0, 5), ("b", 0, 14)], "1 other widths, first call 0 of b: 14, by hooks 7 of 4x2x7"),
        ([("b", 0, 7), ("a", 0, 5)], "the calls come in another order"),
    ],
)
def test_a_disagreement_is_named(rows, note):
    seen = [Seen("a", 0, (4, 5), 5, False, 0.0), Seen("b", 0, (4, 2, 7), 7, False, 0.0)]
    assert sweep.judged(seen, set(), rows, ["a", "b"]) == ("no", note)
    assert sweep.judged(seen, set(), [("a", 0, 5), ("b", 0, 7)], ["a", "b"]) == ("yes", "")


def test_what_is_explained():
    """A width that hooks can only guess; a call that sees nothing of the input, of a layer that is called twice."""
    agreement, note = sweep.judged([Seen("a", 0, (4, 2, 6, 3), 2, True, 0.0)], set(), [("a", 0, 6)], ["a"])
    assert agreement == "explained"
    assert note.endswith("6, by hooks 2 of 4x2x6x3, which no layer made or takes: a guess")
    twice = [Seen("a", 0, (4, 5), 5, False, 0.0), Seen("a", 1, (4, 7), 7, False, 0.0)]
    assert sweep.judged(twice, {("a", 0)}, [("a", 0, 7)], ["a"]) == ("explained", "1 calls see nothing of the input")
    assert sweep.judged(twice, {("a", 0)}, [("a", 0, 5), ("a", 1, 7)], ["a"]) == ("yes", "")
    assert sweep.judged(twice, set(), [("a", 0, 7)], ["a"])[0] == "no"


def test_widths_by_hooks():
    """What made the input says where its channels are, and else what takes the output."""
    network = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.Flatten(2), nn.Linear(36, 4), nn.GLU(), nn.Linear(2, 2))
    seen = plain_hooks.calls_of(network, {"input": torch.randn(4, 3, 6, 6)})
    assert [(one.layer, one.width, one.shape) for one in seen] == [("1", 4, (4, 4, 6, 6)), ("4", 2, (4, 4, 4))]
