"""A signature against the plain forward pass of the same network on the same images.

    python benchmarks/bench_signature.py                         # four networks, n = 512
    python benchmarks/bench_signature.py --models resnet18 --n 128 --rounds 2

Alternating rounds in one process: the plain pass, the signature (scores only), the signature with the papers' criteria.
Random weights: the forward pass is that of trained ones; how many assignment problems are solved is not.
Writes results/signature.json.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))
import measuring

import affscore

MODELS = ["resnet18", "resnet50", "vit_b_16", "densenet121"]


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
    """One row: times of the three contenders, ratios to the plain pass, and peak memories."""
    model = affscore.load_model(f"{name}@random").to(device)
    images = torch.randn(n, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    options: dict[str, Any] = {"n": n, "batch_size": batch_size, "device": device, "progress": False}
    times = measuring.alternate(
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
        **times,
        "ratio_scores": times["scores"]["best"] / times["plain"]["best"],
        "ratio_criteria": times["criteria"]["best"] / times["plain"]["best"],
        "activations": len(table),
        "seconds_in_scores_and_criteria": float(table["seconds"].sum()),
    }
    if memory and device == "cpu":
        row["memory_mb"] = {
            "plain": measuring.peak_memory(
                partial(plain_from_name, name, n, batch_size), partial(plain_from_name, "alexnet", 2, 2)
            ),
            "scores": measuring.peak_memory(
                partial(signature_from_name, name, n, batch_size), partial(signature_from_name, "alexnet", 2, 2)
            ),
        }
    return row


def main() -> None:
    """Measure what the command line asks for, print a line for each, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--n", type=int, default=512)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--no-memory", dest="memory", action="store_false")
    parser.add_argument("--name", default="signature", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for name in options.models:
        row = measure(name, options.n, options.batch_size, options.rounds, options.device, options.memory)
        rows.append(row)
        print(
            f"{name:12s} plain {row['plain']['best']:7.2f} s (to {row['plain']['largest']:.2f}), "
            f"scores {row['ratio_scores']:.3f}, with criteria {row['ratio_criteria']:.3f} times, "
            f"memory {row.get('memory_mb')}",
            flush=True,
        )
        measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
