"""For benchmarks/README.md, by hand: a signature against the plain forward pass of the network on the same images.

    python benchmarks/bench_signature.py                         # all networks of the README: half an hour
    python benchmarks/bench_signature.py --models resnet18 --n 128 --rounds 2

Pairs in one process: the plain pass beside the signature (scores only), and beside that with the papers' criteria. A
ratio is the median over pairs. Random weights: the forward pass is that of trained ones; how many assignment problems
are solved is not.
Writes results/signature.json.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))
import measuring

import affscore

warnings.simplefilter("ignore", affscore.AffscoreWarning)  # of few images, in the processes that are started, too

MODELS = {
    "resnet18": 512,
    "mobilenet_v2": 512,
    "mnasnet0_5": 512,
    "shufflenet_v2_x1_0": 512,
    "efficientnet_b0": 256,
    "resnet50": 512,
    "densenet121": 128,
    "vit_b_16": 128,
}
"""The networks, and how many images go through each: fewer where these take long."""


def plain(model: nn.Module, images: Tensor, batch_size: int, device: str) -> None:
    """The forward pass that every user of the network pays for."""
    with torch.no_grad():
        for chunk in images.split(batch_size):
            model(chunk.to(device))


def plain_from_name(name: str, n: int, batch_size: int) -> None:
    """The forward pass, for a process of its own."""
    plain(affscore.load_model(f"{name}@random"), torch.randn(n, 3, 224, 224), batch_size, "cpu")


def signature_from_name(name: str, n: int, batch_size: int) -> None:
    """The signature, for a process of its own."""
    model = affscore.load_model(f"{name}@random")
    images = torch.randn(n, 3, 224, 224)
    affscore.signature(model, images, n=n, batch_size=batch_size, criteria=False, device="cpu", progress=False)


def measure(name: str, n: int, batch_size: int, rounds: int, device: str, memory: bool) -> dict[str, Any]:
    """One row: times of the three contenders, ratios to the plain pass with their spread, and peak memories."""
    model = affscore.load_model(f"{name}@random").to(device)
    images = torch.randn(n, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    options: dict[str, Any] = {"n": n, "batch_size": batch_size, "device": device, "progress": False}
    chunk = images[:batch_size]  # what is loaded on first use is loaded now
    plain(model, chunk, batch_size, device)
    affscore.signature(model, chunk, criteria=True, **options | {"n": len(chunk)})
    measured = measuring.in_pairs(
        "plain",
        {
            "plain": partial(plain, model, images, batch_size, device),
            "scores": partial(affscore.signature, model, images, criteria=False, **options),
            "criteria": partial(affscore.signature, model, images, criteria=True, **options),
        },
        rounds,
    )
    table = affscore.signature(model, images, criteria=True, **options).table
    row: dict[str, Any] = {
        "model": name,
        "n": n,
        "batch_size": batch_size,
        "device": device,
        **measured,
        "activations": len(table),
        "seconds_in_scores_and_criteria": float(table["seconds"].sum()),
    }
    if memory and device == "cpu":
        row["memory_mb"] = {
            what: measuring.peak_memory(partial(run, name, n, batch_size), partial(run, "alexnet", 2, 2))
            for what, run in (("plain", plain_from_name), ("scores", signature_from_name))
        }
    return row


def _with_spread(row: dict[str, Any], name: str) -> str:
    spread = row[f"spread_{name}"]
    return f"{row[f'ratio_{name}']:.3f} ({spread['smallest']:.3f} to {spread['largest']:.3f})"


def main() -> None:
    """Measure what the command line asks for, print a line for each, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--n", type=int, help="images; by default as many as the README has of this network, or 512")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--no-memory", dest="memory", action="store_false")
    parser.add_argument("--name", default="signature", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for name in options.models:
        n = options.n or MODELS.get(name, 512)
        row = measure(name, n, options.batch_size, options.rounds, options.device, options.memory)
        rows.append(row)
        print(
            f"{name:18s} plain {row['plain']['best']:6.2f} to {row['plain']['largest']:6.2f} s, "
            f"scores {_with_spread(row, 'scores')}, with criteria {_with_spread(row, 'criteria')} times, "
            f"memory {row.get('memory_mb')}",
            flush=True,
        )
        measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
