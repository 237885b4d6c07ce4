"""The benchmarks time what they say, and their rows say what was measured."""

import sys

import bench_linear_regions
import bench_multiverse
import bench_penalty
import bench_track
import measuring
import numpy as np
import pytest
import torch
from torch import nn

import affscore
from affscore.linear_regions.pieces import Trace


@pytest.fixture
def rows(tmp_path, monkeypatch, capsys):
    """Runs a benchmark, of one round on the CPU; the rows of its file."""
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)

    def run(bench, words, **smaller):
        for name, value in smaller.items():
            monkeypatch.setattr(bench, name, value)
        monkeypatch.setattr(sys, "argv", [f"{bench.__name__}.py", "--rounds", "1", "--device", "cpu", *words.split()])
        bench.main()
        found = measuring.read(tmp_path / f"{bench.__name__.removeprefix('bench_')}.json").to_dict("records")
        assert len(capsys.readouterr().out.splitlines()) >= 1
        return found

    return run


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))


def test_plain_passes_have_the_batches_of_the_walk():
    marks = np.zeros(0, dtype=bool)
    traces = [Trace(np.linspace(0, 1, points), np.zeros((points, 1)), marks, marks) for points in (4, 2, 6)]
    assert bench_linear_regions.batches_of_the_walk(traces, together=True) == [3, 2, 2, 1, 1]
    assert bench_linear_regions.batches_of_the_walk(traces, together=False) == [1] * 9


@pytest.mark.slow
def test_rows_of_linear_regions(rows):
    smaller = {"WAY": 0.01, "LENGTH": 1.0, "peak": lambda chunk: 1.0 * chunk}
    digits, path, images = rows(bench_linear_regions, "", **smaller)
    assert (digits["n"], digits["batch_size"], path["n"], path["batch_size"]) == (4, 1, 8, 8)
    assert (digits["model"], images["model"], images["memory_mb_128"]) == ("VGG8 with batch norm", "VGG8", 128)
    for row in (digits, path, images):
        assert row["regions"] > row["n"]
        assert row["ratio_walk"] == pytest.approx(row["walk_median"] / row["line_median"])
        assert row["spread_passes_smallest"] == row["passes_a_step"] == row["spread_passes_largest"]


@pytest.mark.slow
def test_the_separate_signatures_are_those_of_the_multiverse_and_its_row_counts_them(rows):
    network, options = affscore.load_model("mini:digitsnet"), {"n": 32, "images": 32, "progress": False}
    found = affscore.multiverse(network, "digits", **options)
    exact = [choice for choice in found.choices if choice.coupling == "exact"]
    for choice, one in zip(exact, bench_multiverse.signatures(network, "digits", **options), strict=True):
        assert [one.metadata[name] for name in ("reduction", "order", "covariance")] == list(choice[:3])
        np.testing.assert_array_equal(one.scores, found.scores[choice])
    (row,) = rows(bench_multiverse, "--models mini:digitsnet --n 32")
    expected = {"model": "mini:digitsnet", "weights": "DEFAULT", "dataset": "digits", "n": 32, "device": "cpu",
                "activations": 9, "specifications": 12, "signatures": 6, "signature_runs": 2}  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row["spread_separate_smallest"] == row["spread_separate_largest"] == row["ratio_separate"] > 0


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


@pytest.mark.slow
def test_the_row_of_the_penalty(rows):
    (row,) = rows(bench_penalty, "--models mini:digitsnet --batch 8 --size 8")
    assert (row["model"], row["activations"], row["batch_size"], row["size"]) == ("mini:digitsnet", 9, 8, 8)
    assert row["how"] == "8 pixels, processor time"
    assert row["ratio_penalised"] == pytest.approx(row["penalised_median"] / row["plain_median"])


def test_a_step_of_the_tracker_trains_and_takes_the_batches_in_turn():
    network, seen, images = small(), [], torch.randn(2 * bench_track.BATCH + 5, 3)
    network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    labels = (images[:, 0] > 0).long()
    step, losses = bench_track.trained(network, images, labels), []
    for _ in range(300):
        step()
        losses.append(nn.functional.cross_entropy(network(images), labels).item())
    assert losses[-1] < 0.7 * losses[0]
    batches = [x for x in seen if len(x) == bench_track.BATCH]
    assert torch.equal(torch.cat(batches[:2]), images[: 2 * bench_track.BATCH])
    assert torch.equal(batches[2], batches[0])


@pytest.mark.slow
def test_rows_of_the_tracker(rows):
    smaller = {"PROBE": 16, "BATCH": 4, "EVERY": 2}
    rows(bench_track, "--steps 5 --cases trainings --model mini:digitsnet", **smaller)
    trainings, steps = rows(bench_track, "--steps 5 --cases steps --model squeezenet1_1", **smaller)
    shared = {"n": 16, "batch_size": 4, "every": 2, "device": "cpu", "steps_runs": 1}
    for row, model, counted, activations, expected in (
        (trainings, "mini:digitsnet", 5, 9, trainings["tracked_median"] / trainings["steps_median"] - 1),
        # two steps are timed, and two lie between
        (steps, "squeezenet1_1", 2, 26, steps["measurement_median"] / steps["steps_median"]),
    ):
        assert {name: row[name] for name in shared} == shared
        assert (row["model"], row["counted"], row["activations"]) == (model, counted, activations)
        assert row["overhead"] == pytest.approx(expected)
        assert row["spread_overhead_smallest"] == row["overhead"] == row["spread_overhead_largest"]
