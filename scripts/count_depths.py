"""By hand, for a new network of torchvision: how deep it is, into notebooks/companion/depths.csv.

    python scripts/count_depths.py [--add NAME]

The recorder follows each network on PyTorch's meta device, where shapes flow and nothing is computed: no weights, and
seconds for all. The networks are those that the table has already, and those that are added.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
import torch
import torchvision

from affscore.network.parquet import atomic_write
from affscore.recorder import recording
from companion.characteristics import DEPTHS

COMMENT = """\
# The largest number of elementwise activations on a path from the image, and how many there are in all, counted by the
# recorder on torchvision's networks without numbers: python scripts/count_depths.py
"""
OWN_INITIALISATION = ("googlenet", "inception_v3")
"""Networks that would draw their weights themselves, which takes a minute."""


def count(name: str) -> tuple[int, int]:
    """The depth of a network, and its number of activations."""
    options = {"init_weights": False} if name in OWN_INITIALISATION else {}
    size = 299 if name == "inception_v3" else 224
    with torch.device("meta"):
        model = torchvision.models.get_model(name, weights=None, **options).eval()
        images = torch.zeros(2, 3, size, size)
    with torch.no_grad(), recording(model) as recorder:
        recorder.start(images)
        model(images)
    return max(call.depth for call in recorder.calls), len(recorder.calls)


def main(file: Path = DEPTHS, added: tuple[str, ...] = ()) -> None:
    """Write the table.

    Args:
        file: The table.
        added: Networks that are new in it.
    """
    names = list(dict.fromkeys([*pd.read_csv(file, comment="#")["name"], *added]))
    table = pd.DataFrame([(name, *count(name)) for name in names], columns=["name", "depth", "activations"])
    with atomic_write(file) as part:
        part.write_text(COMMENT + table.to_csv(index=False), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--add", nargs="*", default=(), metavar="NAME", help="networks of torchvision to add")
    main(added=tuple(parser.parse_args().add))
