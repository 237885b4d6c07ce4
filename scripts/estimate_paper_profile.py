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
        images_gb: The validation images, 10^9 bytes.
        multiply_adds: Of all networks on all images.
        rates: Multiply-adds a second of a whole signature, by network of the benchmark.
        machine: Where these rates were seen.
    """

    networks: int
    twice: int
    images: int
    weights_gb: float
    images_gb: float
    multiply_adds: float
    rates: dict[str, float]
    machine: str

    def days(self) -> tuple[float, float]:
        """Least and most time on such a machine, by the fastest and the slowest network of the benchmark."""
        seconds = [self.multiply_adds / rate for rate in self.rates.values()]
        return min(seconds) / 86_400, max(seconds) / 86_400

    def __str__(self) -> str:
        least, most = self.days()
        hours = self.multiply_adds / 1e13 / 3600
        return (
            f"{self.networks} networks ({self.twice} of them twice, with two reductions), {self.images} images each: "
            f"{self.multiply_adds:.1e} multiply-adds\n"
            f"disk: {self.weights_gb:.1f} GB of weights, {self.images_gb:.1f} GB of images\n"
            f"time, estimated: {least:.0f} to {most:.0f} days on {self.machine}; "
            f"at least {hours:.1f} hours on a GPU that keeps up 10^13 multiply-adds a second (forward passes alone)"
        )


def estimate(profile: dict[str, Any], benchmark: dict[str, Any]) -> Estimate:
    """The estimate for a profile, from a benchmark of signatures."""
    specs = [*profile["models"], *profile.get("efficient", []), profile["model"]]
    about = [weights.meta for weights in {_weights(spec) for spec in specs}]  # DEFAULT is another name of one
    again = by_printed_reduction(profile["models"]).get("published", [])  # the chapters average them in another way
    images = profile["images"] // profile["n"] * profile["n"]
    machine = benchmark["machine"]
    cores = machine["cores"]
    return Estimate(
        networks=len(about),
        twice=len(again),
        images=images,
        weights_gb=sum(meta["_file_size"] for meta in about) * 2**20 / 1e9,
        images_gb=VALIDATION_BYTES / 1e9,
        multiply_adds=sum(meta["_ops"] for meta in [*about, *(_weights(spec).meta for spec in again)]) * 1e9 * images,
        rates={
            row["model"]: _weights(f"{row['model']}@DEFAULT").meta["_ops"] * 1e9 * row["n"] / row["criteria"]["best"]
            for row in benchmark["rows"]
        },
        machine=f"{cores} cores ({machine['processor']}; {machine['gpu'] or 'no GPU'})",
    )


def _weights(spec: str) -> Any:
    name, _, weights = spec.partition("@")
    return torchvision.models.get_model_weights(name)[weights]


def main() -> None:
    """Print the estimate."""
    print(estimate(read_profile(PROFILE), json.loads(BENCHMARK.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
