"""For benchmarks/README.md, by hand: diagonal scores of all activations, streamed, against the plain forward pass.

    OMP_NUM_THREADS=1 python benchmarks/bench_diagonal.py --n 32 --batch-size 32 --rounds 7  # the row of the README

Pairs in one process, on a CPU in the time of the processor: the plain pass beside one that feeds a
``DiagonalStream`` an activation with the vectors at one position (``position``), or with averages over all positions
(``mean``), and beside one that takes these averages and streams nothing (``reading``). Random weights, images of noise.
Writes results/diagonal.json.
"""

from __future__ import annotations

import argparse
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
from affscore.recorder import Listener, recording
from affscore.transport import DiagonalStream

REDUCTIONS = {
    "position": lambda x: x[..., x.shape[2] // 2, x.shape[3] // 2].clone() if x.ndim == 4 else x.clone(),
    "mean": lambda x: x.mean(dim=(2, 3)) if x.ndim == 4 else x.clone(),
}


class Streams(Listener):
    """A stream for each activation of a network, by the number of its call."""

    def __init__(self, reduction: str, update: bool = True) -> None:
        self.reduce, self.update = REDUCTIONS[reduction], update
        self.streams: dict[int, DiagonalStream] = {}
        self.inputs: dict[int, Tensor] = {}

    def before(self, call: Any, x: Tensor, apply: Any) -> None:
        """An activation in place would overwrite its input."""
        self.inputs[id(call)] = self.reduce(x)

    def after(self, call: Any, y: Tensor) -> None:
        """Both are there."""
        x, y = self.inputs.pop(id(call)), self.reduce(y)
        if self.update:
            self.streams.setdefault(call.index, DiagonalStream()).update(x, y)


def streamed(model: nn.Module, images: Tensor, batch_size: int, reduction: str, update: bool = True) -> Streams:
    """The forward pass with the estimate of every activation."""
    streams = Streams(reduction, update)
    with torch.no_grad(), recording(model, streams) as recorder:
        for chunk in images.split(batch_size):
            recorder.start(chunk)
            model(chunk)
    return streams


@torch.no_grad()
def plain(model: nn.Module, images: Tensor, batch_size: int) -> None:
    """The forward pass."""
    for chunk in images.split(batch_size):
        model(chunk)


def main() -> None:
    """Measure what the command line asks for, print a line for each network, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["resnet18", "resnet50", "mobilenet_v2"])
    parser.add_argument("--n", type=int, default=64, help="images of noise")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5, help="pairs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    clock, rows = time.process_time if options.device == "cpu" else time.perf_counter, []
    for name in options.models:
        model = affscore.load_model(f"{name}@random").eval().to(options.device)
        channels = next(module.in_channels for module in model.modules() if isinstance(module, nn.Conv2d))
        size = 224 if channels == 3 else 8
        images = torch.randn(options.n, channels, size, size, generator=torch.Generator().manual_seed(0))
        about = model, images.to(options.device), options.batch_size
        contenders = {"plain": partial(plain, *about), "reading": partial(streamed, *about, "mean", False)}
        contenders |= {reduction: partial(streamed, *about, reduction) for reduction in REDUCTIONS}
        activations = len(streamed(*about, "mean").streams)  # what is loaded on first use is loaded now
        row = {"model": name, "n": options.n, "batch_size": options.batch_size, "device": options.device}
        found = measuring.in_pairs("plain", contenders, options.rounds, float("inf"), clock)
        rows.append({**row, "activations": activations, **found})
        ratios = ", ".join(f"{key.removeprefix('ratio_')} {found[key]:.3f}" for key in found if "ratio" in key)
        print(f"{name:16s} {activations} activations, {found['plain']['median']:.2f} s; times: {ratios}", flush=True)
        measuring.write("diagonal", rows)


if __name__ == "__main__":
    main()
