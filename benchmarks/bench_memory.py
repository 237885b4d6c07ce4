"""For benchmarks/README.md, by hand: peak memory of 512 images through ResNet-152, against keeping the maps of 16.

    python benchmarks/bench_memory.py

The plain pass and the signature, each in a process of its own, for 16 and for 512 images, 16 at a time, made as they
are needed; and a pass that keeps what goes into each activation and comes out, as hooks that store tensors do.
Writes results/memory.json.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))
import measuring

import affscore


def signature(name: str, n: int, batch_size: int) -> None:
    """The signature, scores only."""
    affscore.signature(
        f"{name}@random", "random", n=n, images=n, batch_size=batch_size, criteria=False, device="cpu", progress=False
    )


def plain(name: str, n: int, batch_size: int) -> None:
    """The forward pass alone."""
    model = affscore.load_model(f"{name}@random")
    with torch.no_grad():
        for _ in range(n // batch_size):
            model(torch.randn(batch_size, 3, 224, 224))


def keeping(name: str, n: int, batch_size: int) -> None:
    """The forward pass, with every input and output of an activation kept, as the published code does for a batch."""
    model = affscore.load_model(f"{name}@random")
    kept: list[Tensor] = []

    def before(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        kept.append(inputs[0].clone())

    def after(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        kept.append(output.clone())

    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.register_forward_pre_hook(before)
            module.register_forward_hook(after)
    with torch.no_grad():
        for _ in range(n // batch_size):
            model(torch.randn(batch_size, 3, 224, 224))


def main() -> None:
    """Measure, print a line for each, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="resnet152", help="a torchvision network whose activations are nn.ReLU")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--images", type=int, default=512)
    options = parser.parse_args()
    few, many, batch = options.batch_size, options.images, options.batch_size
    warm_up = partial(signature, "alexnet", 2, 2)
    rows = []
    for how, function, n in [
        ("plain", plain, few), ("keeping", keeping, few), ("signature", signature, few), ("signature", signature, many),
    ]:  # fmt: skip
        peak = measuring.peak_memory(partial(function, options.model, n, batch), warm_up)
        rows.append({"model": options.model, "how": how, "n": n, "batch_size": batch, "memory_mb": peak})
        print(f"{options.model}: {how:10s} {n:4d} images, {batch} at a time: {peak:7.0f} MB", flush=True)
    measuring.write("memory", rows)


if __name__ == "__main__":
    main()
