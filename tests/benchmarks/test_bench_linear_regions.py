"""The benchmark of linear regions: what it times, and its rows."""

import sys

import bench_linear_regions
import measuring
import numpy as np
import pytest
import torch
from measuring import read
from torch import nn

from affscore.linear_regions.pieces import Trace


@pytest.mark.parametrize(("channels", "side", "norm", "parameters"), [(3, 32, False, 174_116), (1, 8, True, 59_152)])
def test_vgg8(channels, side, norm, parameters):
    model = bench_linear_regions.vgg8(channels, side, norm)
    assert sum(one.numel() for one in model.parameters()) == parameters
    assert model(torch.zeros(2, channels, side, side)).shape == (2, 10)
    assert sum(isinstance(module, nn.ReLU) for module in model) == 7
    assert sum(isinstance(module, nn.AvgPool2d) for module in model) == 3


def test_plain_passes_have_the_batches_of_the_walk():
    marks = np.zeros(0, dtype=bool)
    traces = [Trace(np.linspace(0, 1, points), np.zeros((points, 1)), marks, marks) for points in (4, 2, 6)]
    assert bench_linear_regions.batches_of_the_walk(traces, together=True) == [3, 2, 2, 1, 1]
    assert bench_linear_regions.batches_of_the_walk(traces, together=False) == [1] * 9


@pytest.mark.slow
def test_rows_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)
    monkeypatch.setattr(bench_linear_regions, "WAY", 0.01)
    monkeypatch.setattr(bench_linear_regions, "LENGTH", 1.0)
    monkeypatch.setattr(bench_linear_regions, "peak", lambda chunk: 1.0 * chunk)
    monkeypatch.setattr(sys, "argv", ["bench_linear_regions.py", "--rounds", "1", "--device", "cpu"])
    bench_linear_regions.main()
    digits, path, images = read(tmp_path / "linear_regions.json").to_dict("records")
    assert (digits["n"], digits["batch_size"], path["n"], path["batch_size"]) == (4, 1, 8, 8)
    assert (digits["model"], images["model"]) == ("VGG8 with batch norm", "VGG8")
    assert images["memory_mb_128"] == 128
    for row in (digits, path, images):
        assert row["regions"] > row["n"]
        assert row["ratio_walk"] == pytest.approx(row["walk_median"] / row["line_median"])
        assert row["spread_passes_smallest"] == row["passes_a_step"] == row["spread_passes_largest"]
    assert len(capsys.readouterr().out.splitlines()) == 3
