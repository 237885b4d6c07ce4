"""The benchmark of the tracker: what it times is a training, and its rows say what was measured."""

import sys

import bench_track
import measuring
import pytest
import torch
from measuring import read
from torch import nn


def test_a_step_trains_and_takes_the_batches_in_turn():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    seen, images = [], torch.randn(2 * bench_track.BATCH + 5, 3)
    network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    labels = (images[:, 0] > 0).long()
    step = bench_track.trained(network, images, labels)
    losses = []
    for _ in range(300):
        step()
        losses.append(nn.functional.cross_entropy(network(images), labels).item())
    assert losses[-1] < 0.7 * losses[0]
    batches = [x for x in seen if len(x) == bench_track.BATCH]
    assert torch.equal(torch.cat(batches[:2]), images[: 2 * bench_track.BATCH])
    assert torch.equal(batches[2], batches[0])


@pytest.mark.slow
def test_rows_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)
    monkeypatch.setattr(bench_track, "PROBE", 16)
    monkeypatch.setattr(bench_track, "BATCH", 4)
    monkeypatch.setattr(bench_track, "EVERY", 2)
    words = ["--rounds", "1", "--device", "cpu", "--steps", "5", "--cases"]
    monkeypatch.setattr(sys, "argv", ["bench_track.py", *words, "trainings", "--model", "mini:digitsnet"])
    bench_track.main()
    monkeypatch.setattr(sys, "argv", ["bench_track.py", *words, "steps", "--model", "squeezenet1_1"])
    bench_track.main()
    trainings, steps = read(tmp_path / "track.json").to_dict("records")
    shared = {"n": 16, "batch_size": 4, "every": 2, "device": "cpu", "steps_runs": 1}
    assert {name: trainings[name] for name in shared} == {name: steps[name] for name in shared} == shared
    assert trainings["how"] == "whole trainings, processor time"
    assert (trainings["model"], trainings["counted"], trainings["activations"]) == ("mini:digitsnet", 5, 9)
    assert (steps["model"], steps["counted"], steps["activations"]) == ("squeezenet1_1", 2, 26)
    for row, expected in (
        (trainings, trainings["tracked_median"] / trainings["steps_median"] - 1),
        (steps, steps["measurement_median"] / steps["steps_median"]),  # two steps are timed, and two lie between
    ):
        assert row["overhead"] == pytest.approx(expected)
        assert row["spread_overhead_smallest"] == row["overhead"] == row["spread_overhead_largest"]
    assert len(capsys.readouterr().out.splitlines()) == 2
