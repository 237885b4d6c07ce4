"""For benchmarks/README.md, by hand: a multiverse against one signature on the same images, and against six.

    python benchmarks/bench_multiverse.py                              # all networks of the README: a few minutes
    python benchmarks/bench_multiverse.py --models mini:resnet18 --n 256 --rounds 2

Pairs in one process: one signature (scores only, the default choices) beside the multiverse, and beside the separate
signatures of the six choices of reduction, order and covariance that the multiverse has. A ratio is the median over
pairs. The small networks are trained, and see digits; the others have random weights, and see noise.
Writes results/multiverse.json.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
import measuring

import affscore
from affscore.network.multiverse import REDUCTIONS
from affscore.options import Options

warnings.simplefilter("ignore", affscore.AffscoreWarning)  # of few images

MODELS = {"mini:resnet18": 7, "mini:vit_b_16": 7, "mobilenet_v2": 2, "resnet18": 2}
"""The networks of the README, and how many pairs of each contender: fewer where these take long."""

SEPARATE = [
    {"reduction": one.reduction, "order": one.order, "covariance": one.covariance}
    for several in Options(multiverse=REDUCTIONS).passes
    for one in several
]
"""What a separate signature is measured with, for each choice of a multiverse but for the coupling."""


def signatures(model: nn.Module, data: Any, **options: Any) -> list[affscore.Signature]:
    """A separate signature for each of these choices."""
    return [affscore.signature(model, data, criteria=False, **choice, **options) for choice in SEPARATE]


def measure(name: str, n: int, batch_size: int, rounds: int, device: str) -> dict[str, Any]:
    """One row: times of the three contenders, and ratios to the one signature with their spread."""
    small = name.startswith("mini:")
    model = affscore.load_model(name if small else f"{name}@random").to(device)
    options: dict[str, Any] = {"batch_size": batch_size, "device": device, "progress": False}
    generator = torch.Generator().manual_seed(0)
    data = affscore.load_data("digits") if small else torch.randn(n, 3, 224, 224, generator=generator)
    options |= {"n": n, "images": n}
    found = affscore.multiverse(model, data, **options)  # what is loaded on first use is loaded now
    measured = measuring.in_pairs(
        "signature",
        {
            "signature": partial(affscore.signature, model, data, criteria=False, **options),
            "multiverse": partial(affscore.multiverse, model, data, **options),
            "separate": partial(signatures, model, data, **options),
        },
        rounds,
    )
    return {
        "model": name,
        "weights": found.metadata["weights"],
        "dataset": "digits" if small else "noise",
        "n": n,
        "batch_size": batch_size,
        "device": device,
        **measured,
        "activations": len(found.scores),
        "specifications": len(found.choices),
        "signatures": len(SEPARATE),
    }


def _with_spread(row: dict[str, Any], name: str) -> str:
    spread = row[f"spread_{name}"]
    return f"{row[f'ratio_{name}']:.2f} ({spread['smallest']:.2f} to {spread['largest']:.2f})"


def main() -> None:
    """Measure what the command line asks for, print a line for each, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--n", type=int, default=512, help="images, in one batch of the statistic")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, help="pairs; by default as many as the README has of this network, or 3")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--name", default="multiverse", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for name in options.models:
        rounds = options.rounds or MODELS.get(name, 3)
        row = measure(name, options.n, options.batch_size, rounds, options.device)
        rows.append(row)
        print(
            f"{name:18s} one signature {row['signature']['best']:6.2f} to {row['signature']['largest']:6.2f} s, "
            f"multiverse {_with_spread(row, 'multiverse')}, {row['signatures']} signatures "
            f"{_with_spread(row, 'separate')} times",
            flush=True,
        )
        measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
