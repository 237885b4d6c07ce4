"""For benchmarks/README.md, by hand: every activation of networks in float32 and in float64, with both covariances.

    python benchmarks/check_precision.py mini:vit_b_16@DEFAULT mini:mobilenet_v2@DEFAULT --dataset digits --n 250

The same images go through the network and through a copy of it in double precision. Prints a line for each network and
covariance: the largest difference, and how many are above 0.01 and above 0.001. Writes results/precision.json.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import measuring
from check_real_networks import pairs_of

import affscore
from affscore.models.sources import card_of
from affscore.network.scoring import score_pair
from affscore.options import Options


def compare(model: str, dataset: str, n: int, batch_size: int) -> list[dict[str, Any]]:
    """A row for each covariance; activations whose input or output is constant have no difference."""
    network = affscore.load_model(model)
    card = card_of(network)
    name, single = pairs_of(network, dataset, n, batch_size)
    _, double = pairs_of(network.double(), dataset, n, batch_size)
    rows = []
    for covariance in ("empirical", "ledoit-wolf"):
        options = Options(n, n, covariance=covariance, criteria=())
        scores = [[score_pair(pair, options) for pair in pairs] for pairs in (single, double)]
        differences = {
            one["layer"]: abs(one["score"] - other["score"])
            for one, other in zip(*scores, strict=True)
            if one["flag"] in ("", "degenerate input") or other["flag"] in ("", "degenerate input")
        }
        rows.append(
            {
                "model": card.name,
                "weights": card.weights,
                "dataset": name,
                "n": n,
                "covariance": covariance,
                "compared": len(differences),
                "largest": max(differences.values()),
                "layer": max(differences, key=lambda layer: differences[layer]),
                "above_0.01": sum(difference > 0.01 for difference in differences.values()),
                "above_0.001": sum(difference > 0.001 for difference in differences.values()),
                "other_flags": sum(one["flag"] != other["flag"] for one, other in zip(*scores, strict=True)),
            }
        )
    return rows


def main() -> None:
    """Compare what the command line asks for, print a line for each network and covariance, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="MODEL or MODEL@WEIGHTS, as affscore.load_model takes them")
    parser.add_argument("--dataset", required=True, help="SPEC of the images, as affscore.load_data takes it")
    parser.add_argument("--n", type=int, default=250, help="number of images, and of points in each cloud")
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--name", default="precision", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for model in options.models:
        for row in compare(model, options.dataset, options.n, options.batch_size):
            rows.append(row)
            print(
                f"{row['model']:20s} {row['covariance']:12s} {row['compared']:3d} compared: largest difference "
                f"{row['largest']:.1e} at {row['layer']}, {row['above_0.01']} above 0.01, "
                f"{row['above_0.001']} above 0.001, {row['other_flags']} with another flag"
            )
    measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
