"""Say what the profile of the papers will need: disk, and time as far as the benchmarks tell.

    python scripts/estimate_paper_profile.py

Disk: the files of the weights, as torchvision states their sizes, and the archive of ImageNet's validation images.
Time: multiply-adds of all networks on all images, over the multiply-adds a second that
``benchmarks/results/signature.json`` shows for whole signatures with all criteria, on the machine that is named there.
The ledger measures some networks a second time, as the published code averages their activations. For a GPU the forward
passes alone are counted, so that is a lower bound. Nothing here was measured on ImageNet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torchvision
from notebook_files import read_profile

from affscore.papers import by_printed_reduction

REPOSITORY = Path(__file__).resolve().parents[1]
PROFILE = REPOSITORY / "notebooks" / "params" / "paper.yml"
BENCHMARK = REPOSITORY / "benchmarks" / "results" / "signature.json"
VALIDATION_BYTES = 6_744_924_160
"""Of ILSVRC2012_img_val.tar."""


@dataclass(frozen=True)
class Estimate:
    """What a profile needs.

    Attributes:
        networks: How many networks.
        twice: How many of these are measured twice.
        images: Images that each of them sees: whole batches.
        weights_gb: Their files together, 10^9 bytes.
        multiply_adds: Of all networks on all images.
        days: Least and most time, by the fastest and the slowest network of the benchmark.
        machine: Where these were seen.
    """

    networks: int
    twice: int
    images: int
    weights_gb: float
    multiply_adds: float
    days: tuple[float, float]
    machine: str

    def __str__(self) -> str:
        return (
            f"{self.networks} networks ({self.twice} of them twice, with two reductions), {self.images} images each:"
            f"\n    {self.multiply_adds:.1e} multiply-adds\n"
            f"disk: {self.weights_gb:.1f} GB of weights, {VALIDATION_BYTES / 1e9:.1f} GB of images\n"
            f"time, estimated: {self.days[0]:.0f} to {self.days[1]:.0f} days on {self.machine};\n    at least "
            f"{self.multiply_adds / 1e13 / 3600:.1f} hours on a GPU that keeps up 10^13 multiply-adds a\n    second "
            "(forward passes alone)"
        )


def estimate(profile: dict[str, Any], benchmark: dict[str, Any]) -> Estimate:
    """The estimate for a profile, from a benchmark of signatures."""
    specs = [*profile["models"], *profile.get("efficient", []), profile["model"]]
    networks = {_weights(spec) for spec in specs}  # DEFAULT is another name of one
    again = by_printed_reduction(profile["models"]).get("published", [])  # the chapters average them in another way
    images = profile["images"] // profile["n"] * profile["n"]
    multiply_adds = _multiply_adds([*networks, *map(_weights, again)]) * images
    days = []
    for row in benchmark["rows"]:
        rate = _multiply_adds([_weights(f"{row['model']}@DEFAULT")]) * row["n"] / row["criteria"]["best"]
        days.append(multiply_adds / rate / 86_400)
    machine = benchmark["machine"]
    return Estimate(
        networks=len(networks),
        twice=len(again),
        images=images,
        weights_gb=sum(weights.meta["_file_size"] for weights in networks) * 2**20 / 1e9,
        multiply_adds=multiply_adds,
        days=(min(days), max(days)),
        machine=f"{machine['cores']} cores ({machine['processor']}; {machine['gpu'] or 'no GPU'})",
    )


def _weights(spec: str) -> Any:
    name, _, weights = spec.partition("@")
    return torchvision.models.get_model_weights(name)[weights]


def _multiply_adds(networks: Iterable[Any]) -> float:
    """Of one image in all these networks, as torchvision states them."""
    return sum(weights.meta["_ops"] for weights in networks) * 1e9


def main() -> None:
    """Print the estimate."""
    print(estimate(read_profile(PROFILE), json.loads(BENCHMARK.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
