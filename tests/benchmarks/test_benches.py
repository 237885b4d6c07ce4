"""The benchmarks time what they say, and their rows say what was measured."""

import sys

import bench_diagonal
import bench_linear_regions
import bench_multiverse
import bench_penalty
import bench_track
import measuring
import pytest
import torch
from torch import nn

import affscore

SMALL = [
    (bench_diagonal, "--models mini:digitsnet --n 8", {}),
    (bench_linear_regions, "", {"WAY": 0.01, "LENGTH": 1.0, "peak": lambda chunk: 1.0 * chunk}),
    (bench_multiverse, "--models mini:digitsnet --n 32", {}),
    (bench_penalty, "--models mini:digitsnet --batch 8 --size 8", {}),
    (bench_track, "--steps 5 --cases trainings --model mini:digitsnet", {"PROBE": 16, "BATCH": 4, "EVERY": 2}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("bench", "words", "smaller"), SMALL, ids=lambda value: getattr(value, "__name__", ""))
def test_a_benchmark_runs_and_its_file_has_rows(bench, words, smaller, tmp_path, monkeypatch):
    for place, values in ((measuring, {"RESULTS": tmp_path}), (bench, smaller)):
        for name, value in values.items():
            monkeypatch.setattr(place, name, value)
    monkeypatch.setattr(sys, "argv", [f"{bench.__name__}.py", "--rounds", "1", "--device", "cpu", *words.split()])
    bench.main()
    rows = measuring.read(tmp_path / f"{bench.__name__.removeprefix('bench_')}.json")
    times = rows.filter(regex="_median$|^ratio_")
    assert (times.min() > 0).all()
    assert times.shape[1] >= 2


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))


def test_only_one_of_the_steps_has_the_penalty():
    images, labels, moved = torch.randn(16, 3), torch.arange(16) % 2, []
    for which in (0, 1):
        network = small()
        start = network[0].weight.detach().clone()
        with affscore.AffinityPenalty(network, target=0.9) as penalty:
            bench_penalty.step_of(network, images, labels, *[penalty][:which])()
        moved.append(network[0].weight.detach() - start)
    plain, penalised = moved
    assert (penalised - plain).norm() > 1e-3 * plain.norm() > 0
    assert len(penalty.scores) == 1
