"""The benchmark of the penalty: both steps train, only one of them is penalised, and its row says what was measured."""

import sys

import bench_penalty
import measuring
import pytest
import torch
from measuring import read
from torch import nn

import affscore


def test_only_one_of_the_steps_has_the_penalty():
    torch.manual_seed(0)
    images, labels = torch.randn(16, 3), torch.arange(16) % 2
    network = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    start = {name: value.clone() for name, value in network.state_dict().items()}
    moved = []
    for which in (0, 1):
        network.load_state_dict(start)
        with affscore.AffinityPenalty(network, target=0.9) as penalty:
            bench_penalty.step_of(network, images, labels, *[penalty][:which])()
        moved.append(network[0].weight.detach() - start["0.weight"])
    plain, penalised = moved
    assert plain.norm() > 0
    assert (penalised - plain).norm() > 1e-3 * plain.norm()
    assert len(penalty.scores) == 1


@pytest.mark.slow
def test_the_row_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)
    words = ["--models", "mini:digitsnet", "--batch", "8", "--size", "8", "--rounds", "1", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["bench_penalty.py", *words])
    bench_penalty.main()
    (row,) = read(tmp_path / "penalty.json").to_dict("records")
    assert (row["model"], row["activations"], row["batch_size"], row["size"]) == ("mini:digitsnet", 9, 8, 8)
    assert row["how"] == "8 pixels, processor time"
    assert row["ratio_penalised"] == pytest.approx(row["penalised_median"] / row["plain_median"])
    assert len(capsys.readouterr().out.splitlines()) == 1
