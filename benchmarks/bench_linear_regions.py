"""For benchmarks/README.md, by hand: linear regions of the whole segment at once, and by a walk from region to region.

    OMP_NUM_THREADS=1 python benchmarks/bench_linear_regions.py        # all rows: some minutes
    python benchmarks/bench_linear_regions.py --cases path --rounds 3

Both methods on the same segments, in pairs in one process; the network is copied and taken down before. Then the walk
beside as many plain passes in double precision as it has steps, each of the same batch: their ratio is what a step
costs. *digits*: segments from a digit (1 x 8 x 8) in a random direction, one at a time, by a VGG8 with
batch norm. *path*: the eight segments of a closed path around a digit together, by the same network. *images*: VGG8 as
in the paper (3 x 32 x 32), on a part of a segment from noise to noise. Random weights. The peak memory of the line
method on all of that segment, in a process of its own, is measured for chunks of several sizes.

The line needs one row of a batch for each region, and fewer in the first layers; a step of the walk needs two, and must
wait for the step before. So the line wins most where a pass of few rows leaves the machine idle: for one segment at a
time, for small networks, and on a GPU. Writes results/linear_regions.json.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))
import measuring

import affscore
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.traced_network import TracedNetwork
from companion.planes import closed_paths

CASES = ("digits", "path", "images")
CHUNKS = (32, 128, 512)
SEGMENTS, LENGTH = 4, 16.0
"""Of *digits*; a digit is about 4 from black."""

WAY = 0.1
"""How long the segment of *images* is, as a fraction of that from noise to noise."""


def vgg8(channels: int, side: int, norm: bool) -> nn.Sequential:
    """VGG8 with random weights: average pooling, three stages of 6, 16 and 64 channels, and two linear layers."""
    layers: list[nn.Module] = []
    for width in (6, 6, 16, 16, 64, 64):
        layers += [nn.Conv2d(channels, width, 3, padding=1), *([nn.BatchNorm2d(width)] if norm else []), nn.ReLU()]
        if width == channels:
            layers.append(nn.AvgPool2d(2))
        channels = width
    head = [nn.Flatten(), nn.Linear(64 * (side // 8) ** 2, 120), nn.ReLU(), nn.Linear(120, 10)]
    return nn.Sequential(*layers, *head).eval()


def material(case: str) -> tuple[nn.Module, Tensor, Tensor]:
    """The network of a case, and where its segments begin and end."""
    torch.manual_seed(0)
    if case == "images":
        start, end = torch.randn(2, 1, 3, 32, 32, dtype=torch.float64)
        return vgg8(3, 32, norm=False), start, start + WAY * (end - start)
    model, data = vgg8(1, 8, norm=True), affscore.load_data("digits")
    digits = torch.stack([data[number] for number in range(len(data))]).double()
    if case == "path":
        path = closed_paths(digits[:1])[0]
        return model, path[:-1], path[1:]
    starts = digits[:SEGMENTS]
    ways = torch.randn(starts.shape, generator=torch.Generator().manual_seed(0), dtype=starts.dtype)
    return model, starts, starts + LENGTH * ways / ways.flatten(1).norm(dim=1).view(-1, 1, 1, 1)


def batches_of_the_walk(traces: list[Trace], together: bool) -> list[int]:
    """How many segments each step of the walk looks at."""
    steps = [len(trace.t) - 1 for trace in traces]
    return [sum(count > step for count in steps) for step in range(max(steps))] if together else [1] * sum(steps)


def measure(case: str, rounds: int, device: str) -> dict[str, Any]:
    """One row: times of line, walk and plain passes, and the ratios."""
    model, starts, ends = material(case)
    directions = ends - starts
    network = TracedNetwork(model, starts[0], None, device)
    parts = [slice(None)] if case == "path" else [slice(i, i + 1) for i in range(len(starts))]

    def by(method: str) -> list[Trace]:
        looked = (network.look(starts[part], directions[part], method) for part in parts)
        return [trace for found in looked for trace, _ in found]

    batches = batches_of_the_walk(by("line"), together=case == "path")
    plain, points = copy.deepcopy(model).to(device, torch.float64), starts.to(device)

    @torch.no_grad()
    def passes() -> None:
        for size in batches:
            plain(points[:size])

    # in the time of the processor, if there is one thread: what other processes do is more than the differences
    clock = time.process_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    walk = partial(by, "walk")
    found = measuring.in_pairs("line", {"line": partial(by, "line"), "walk": walk}, rounds, clock=clock)
    beside = measuring.in_pairs("plain", {"plain": passes, "walk": walk}, rounds, clock=clock)
    regions = sum(len(trace.t) - 1 for trace in by("line"))
    assert regions == sum(len(trace.t) - 1 for trace in by("walk"))
    row = {
        "model": "VGG8" if case == "images" else "VGG8 with batch norm",
        "dataset": "noise" if case == "images" else "digits",
        "how": "segments together" if case == "path" else "one segment at a time",
        "device": device,
        "n": len(starts),
        "batch_size": max(batches),
        "regions": regions,
        "chunk": network.chunk,
        **found,
        "plain": beside["plain"],
        "passes_a_step": beside["ratio_walk"],
        "spread_passes": beside["spread_walk"],
    }
    if case == "images" and device == "cpu":
        row["memory_mb"] = {str(chunk): peak(chunk) for chunk in CHUNKS}
    return row


def sweep_images(way: float, chunk: int) -> None:
    """The line method on a part of the segment of *images*."""
    model, starts, ends = material("images")
    affscore.linear_regions.along_segments(model, starts, starts + way * (ends - starts), "line", chunk, "cpu", False)


def peak(chunk: int) -> float:
    """Peak memory of the line method, in MB."""
    return measuring.peak_memory(partial(sweep_images, 1.0, chunk), partial(sweep_images, 1e-3, 16))


def main() -> None:
    """Measure what the command line asks for, print a line for each, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--rounds", type=int, default=9, help="pairs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--name", default="linear_regions", help="name of the file of results")
    options = parser.parse_args()
    for case in options.cases:
        row = measure(case, options.rounds, options.device)
        ends = row["spread_walk"]
        print(
            f"{row['model']}, {row['dataset']}, {row['how']}: {row['regions']} regions in {row['line']['median']:.3f} "
            f"s, the walk {row['ratio_walk']:.1f} times as long ({ends['smallest']:.1f} to {ends['largest']:.1f}); its "
            f"step costs {row['passes_a_step']:.1f} plain passes of its batch of up to {row['batch_size']}",
            flush=True,
        )
        measuring.write(options.name, [row])


if __name__ == "__main__":
    main()
