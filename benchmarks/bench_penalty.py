"""For benchmarks/README.md, by hand: a training step with a penalty on the scores against the same step without.

    OMP_NUM_THREADS=2 OMP_WAIT_POLICY=PASSIVE python benchmarks/bench_penalty.py  # the row of the README: five minutes
    python benchmarks/bench_penalty.py --size 64 --batch 32 --rounds 3

Pairs in one process, every second one in the other order: a step of stochastic gradient descent of a network with
random weights on noise, and one whose loss has the penalty on the mean paired score of all activations. A step is
forward, backward and optimiser; on a CPU in the time of the processor, so that what other processes do counts less. The
ratio is the median over pairs. Writes results/penalty.json.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
import measuring

import affscore


def step_of(network: nn.Module, images: torch.Tensor, labels: torch.Tensor, *penalty: Any) -> Callable[[], None]:
    """A step of a training, with what a penalty adds to its loss."""
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    network.train()

    def step() -> None:
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(network(images), labels)
        sum((one() for one in penalty), loss).backward()
        optimiser.step()

    return step


def measured(name: str, batch: int, size: int, rounds: int, device: str) -> dict[str, Any]:
    """The row of a network."""
    network = affscore.load_model(f"{name}@random").to(device)
    generator = torch.Generator().manual_seed(0)
    channels = next(module.in_channels for module in network.modules() if isinstance(module, nn.Conv2d))
    images = torch.randn(batch, channels, size, size, generator=generator).to(device)
    labels, other = torch.arange(batch, device=device) % 10, copy.deepcopy(network)
    penalty = affscore.AffinityPenalty(other, target=0.9)
    contenders = {"plain": step_of(network, images, labels), "penalised": step_of(other, images, labels, penalty)}
    for step in contenders.values():
        step()  # the first pass with a penalty is looked at more closely
    clock = time.process_time if device == "cpu" else time.perf_counter
    found = measuring.in_pairs("plain", contenders, rounds, float("inf"), clock)
    how = f"{size} pixels" + (", processor time" if clock is time.process_time else "")
    about = {"model": name, "weights": "random", "how": how, "device": device, "batch_size": batch, "size": size}
    return {**about, "activations": len(penalty.scores), **found}


def main() -> None:
    """Measure what the command line asks for, print a line for each network, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["resnet18"])
    parser.add_argument("--batch", type=int, default=128, help="samples of a step")
    parser.add_argument("--size", type=int, default=224, help="pixels along a side")
    parser.add_argument("--rounds", type=int, default=5, help="pairs")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--name", default="penalty", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for model in options.models:
        rows.append(row := measured(model, options.batch, options.size, options.rounds, options.device))
        ends = row["spread_penalised"]
        print(
            f"{model:14s} {row['activations']} activations, batch {row['batch_size']}, {row['how']}: a step in "
            f"{row['plain']['median']:.2f} s, {row['ratio_penalised']:.2f} times that with the penalty "
            f"({ends['smallest']:.2f} to {ends['largest']:.2f})",
            flush=True,
        )
        measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
