"""Train a small network of the package on the handwritten digits and write its weights and its record.

    python scripts/train_mini_network.py resnet18

The weights go to affscore/zoo/weights/NAME.safetensors, what they reach to NAME.json beside them. The same
recipe on the same versions and processor gives the same file. `make zoo` does it for all networks.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from mini_zoo.members import train_member
from mini_zoo.recipes import recipe_of

from affscore.zoo.mini.registry import MINI_NETWORKS


def main() -> None:
    """Train the network that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", choices=sorted(MINI_NETWORKS), metavar="NAME", help=", ".join(MINI_NETWORKS))
    parser.add_argument("--epochs", type=int, help="default: that of the network's recipe")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder to write to (default: that of the package)")
    options = parser.parse_args()
    recipe = replace(recipe_of(options.name), seed=options.seed)
    if options.epochs is not None:
        recipe = replace(recipe, epochs=options.epochs)
    folder: Path = options.out or MINI_NETWORKS[options.name].weights.parent
    record = train_member(options.name, recipe, folder, progress=True)
    print(f"{options.name}: {record['accuracy']:.2%} of the test images")


if __name__ == "__main__":
    main()
