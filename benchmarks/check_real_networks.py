"""For benchmarks/README.md, by hand: every activation of real networks, scored by affscore and by the reference.

    python benchmarks/check_real_networks.py mobilenet_v2@DEFAULT squeezenet1_1@DEFAULT --dataset folder:photos

Images go through each network once; every activation is scored by both. Writes results/agreement.json: the largest
difference for each network, and where it is. Names carry no folders.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
import measuring
import textbook

import affscore
from affscore.models.sources import card_of
from affscore.network.collect import Collector
from affscore.network.forward import forward
from affscore.network.images import image_stream
from affscore.network.inputs import Feeding
from affscore.network.scoring import Pair
from affscore.options import Options
from affscore.recorder import recording
from affscore.recorder.model_state import prepared


def pairs_of(network: torch.nn.Module, dataset: str, n: int, batch_size: int) -> tuple[str, list[Pair]]:
    """The name of the data set, and the reduced input and output of every activation for n of its images."""
    card, options = card_of(network), Options(n, n, criteria=())
    stream = image_stream(dataset, card, options, batch_size, Feeding(network))
    collector = Collector(options)
    cpu = torch.device("cpu")
    with torch.no_grad(), prepared(network, cpu), recording(network, collector) as recorder:
        for images in stream.chunks:
            forward(network, recorder, images, card.name)
    return stream.name, collector.collected()[0]


def compare(model: str, dataset: str, n: int, batch_size: int) -> dict[str, Any]:
    """One row: how many activations were compared, the largest difference and where it is.

    An activation whose output does not vary, which is affine by definition, is counted and not compared: the
    textbook divides by zero there.
    """
    network = affscore.load_model(model)
    name, pairs = pairs_of(network, dataset, n, batch_size)
    differences = {}
    for pair in pairs:
        score = affscore.affinity_score(pair.x, pair.y, rounding=pair.rounding)
        if not score.constant_output:
            expected = textbook.affinity_score(pair.x.double().numpy(), pair.y.double().numpy())
            differences[pair.call.index] = abs(score.raw - expected)
    worst = max(differences, key=lambda index: differences[index])
    card = card_of(network)
    return {
        "model": card.name,
        "weights": card.weights,
        "dataset": name,
        "n": n,
        "activations": len(pairs),
        "compared": len(differences),
        "width_max": max(pair.x.shape[1] for pair in pairs),
        "largest_difference": differences[worst],
        "layer": pairs[worst].call.layer,
        "width": pairs[worst].x.shape[1],
    }


def main() -> None:
    """Compare what the command line asks for, print a line for each network, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="MODEL or MODEL@WEIGHTS, as affscore.load_model takes them")
    parser.add_argument("--dataset", required=True, help="SPEC of the images, as affscore.load_data takes it")
    parser.add_argument("--n", type=int, default=512, help="number of images, and of points in each cloud")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--name", default="agreement", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for model in options.models:
        row = compare(model, options.dataset, options.n, options.batch_size)
        rows.append(row)
        print(
            f"{row['model']:16s} {row['compared']} of {row['activations']} activations, widths up to "
            f"{row['width_max']}: largest difference {row['largest_difference']:.1e} at {row['layer']} "
            f"(width {row['width']})",
            flush=True,
        )
        measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
