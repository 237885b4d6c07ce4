"""For benchmarks/README.md, by hand: one tracked measurement against the steps between two, and whole trainings.

    OMP_NUM_THREADS=2 python benchmarks/bench_track.py                 # both rows: a quarter of an hour
    python benchmarks/bench_track.py --cases trainings --rounds 3

Pairs in one process, every second one in the other order. *steps*: two steps of a training of ResNet-18 (224 pixels,
batches of 64, random weights, noise) beside one measurement of all its activations on a probe of 256; what the
measurement takes, over ``every`` steps, is the overhead. *trainings*: a training of 500 steps of a small network on
digits without a tracker beside the same with one, its making included; on a CPU in the time of the processor, since
what other processes do to minutes is more than the overhead. An overhead is the median over pairs.
Writes results/track.json.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))
import measuring

import affscore
from affscore.models.sources import card_of

warnings.simplefilter("ignore", affscore.AffscoreWarning)  # of a small probe

EVERY, PROBE, BATCH = 100, 256, 64
"""Steps between two measurements; samples on which is measured, and of a step."""

STEPS = 2
"""As many beside each measurement."""

CASES = {"steps": "resnet18", "trainings": "mini:resnet18"}


def trained(network: nn.Module, images: Tensor, labels: Tensor) -> Callable[[], None]:
    """One step of a training, as a function; the batches go round."""
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    order = torch.arange(len(images)).split(BATCH)[: len(images) // BATCH]
    network.train()
    made = 0

    def step() -> None:
        nonlocal made
        batch = order[made % len(order)]
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(images[batch]), labels[batch]).backward()
        optimiser.step()
        made += 1

    return step


def beside_steps(name: str, rounds: int, device: str) -> dict[str, Any]:
    """A measurement beside a few steps."""
    network = affscore.load_model(f"{name}@random").to(device)
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(PROBE + BATCH, 3, 224, 224, generator=generator)
    step = trained(network, images[PROBE:].to(device), torch.arange(BATCH, device=device))
    tracker = affscore.track(network, images[:PROBE], every=EVERY)

    def steps() -> None:
        for _ in range(STEPS):
            step()

    def measurement() -> None:
        tracker.steps += 1  # a step has one measurement
        assert tracker.measure()

    steps()
    measurement()
    found = measuring.in_pairs("steps", {"steps": steps, "measurement": measurement}, rounds, float("inf"))
    overheads = [found["ratio_measurement"], *found["spread_measurement"].values()]
    median, smallest, largest = (ratio * STEPS / EVERY for ratio in overheads)
    times = {"steps": found["steps"], "measurement": found["measurement"]}
    return {
        **about(tracker, "a measurement beside steps", device),
        **times,
        "counted": STEPS,
        **overhead(median, smallest, largest),
    }


def whole_trainings(name: str, rounds: int, device: str, count: int) -> dict[str, Any]:
    """A training with a tracker beside the same without."""
    loaded = affscore.load_model(name)
    digits: Any = affscore.load_data("digits", card_of(loaded).preprocessing)
    images = torch.stack([digits[number] for number in range(len(digits))]).to(device)
    labels = torch.tensor([digits.classes.index(label) for label in digits.labels], device=device)
    trackers = list[affscore.Tracker]()

    def train(tracked: bool) -> None:
        network = affscore.load_model(f"{name}@random").to(device)
        step = trained(network, images[PROBE:], labels[PROBE:])
        if not tracked:
            for _ in range(count):
                step()
            return
        with affscore.track(network, (images[:PROBE], labels[:PROBE]), every=EVERY) as tracker:
            for _ in range(count):
                step()
                tracker.step()
        trackers[:] = [tracker]

    train(tracked=True)
    contenders = {"steps": lambda: train(tracked=False), "tracked": lambda: train(tracked=True)}
    clock = time.process_time if device == "cpu" else time.perf_counter
    found = measuring.in_pairs("steps", contenders, rounds, float("inf"), clock)
    median, smallest, largest = (found["ratio_tracked"] - 1, *(end - 1 for end in found["spread_tracked"].values()))
    times = {"steps": found["steps"], "tracked": found["tracked"]}
    how = "whole trainings, processor time" if clock is time.process_time else "whole trainings"
    return {**about(trackers[0], how, device), **times, "counted": count, **overhead(median, smallest, largest)}


def about(tracker: affscore.Tracker, how: str, device: str) -> dict[str, Any]:
    """What was measured."""
    metadata = tracker.record.metadata
    return {
        "model": metadata["model"],
        "how": how,
        "device": device,
        "n": metadata["images"],
        "batch_size": BATCH,
        "every": tracker.every,
        "activations": int(tracker.table["index"].nunique()),
    }


def overhead(median: float, smallest: float, largest: float) -> dict[str, Any]:
    """As the file has it: of the time of a training."""
    return {"overhead": median, "spread_overhead": {"smallest": smallest, "largest": largest}}


def main() -> None:
    """Measure what the command line asks for, print a line for each, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--model", help="another network than that of the case")
    parser.add_argument("--rounds", type=int, default=9, help="pairs")
    parser.add_argument("--steps", type=int, default=500, help="of a whole training")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--name", default="track", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for case in options.cases:
        model = options.model or CASES[case]
        if case == "steps":
            row = beside_steps(model, options.rounds, options.device)
        else:
            row = whole_trainings(model, options.rounds, options.device, options.steps)
        rows.append(row)
        ends = row["spread_overhead"]
        print(
            f"{row['model']:14s} {row['how']}: {row['counted']} steps in {row['steps']['median']:.2f} s, overhead "
            f"{row['overhead']:.2%} ({ends['smallest']:.2%} to {ends['largest']:.2%}) of a training measured every "
            f"{row['every']} steps",
            flush=True,
        )
        measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
