"""Measure the empirical scores of stored multiverses again, where the library has become more exact.

    python scripts/measure_again.py affscore/survey/multiverses/mini_*.parquet
    python scripts/measure_again.py affscore/survey/multiverses/*cifar10* --weights DIR --images DIR

The rows of Ledoit-Wolf are measured, too, and compared: they say whether it is the same network on the same images.
A file that was measured again says so in its metadata, and is left alone.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import affscore
from affscore.network.multiverse_result import Multiverse, _distinct, load_multiverse

SAME = ["index", "call", "batch", "reduction", "order", "covariance"]
FOUND = ["score", "raw", "paired", "effective_width", "pairing_optimal", "decided_by", "bound_exceeded", "flag"]
WAY = "no rounding"
"""What the empirical scores of a file count, in its metadata."""


def again(old: Multiverse, weights: Path, images: Path) -> tuple[Multiverse, float, float]:
    """The multiverse with new empirical rows; the largest change of these and of the others."""
    model, data = old.metadata["job"]["model"], old.metadata["job"]["data"]["data"]
    new = affscore.multiverse(
        _found(model["model"], model["weights"], weights),
        f"folder:{images / data.removeprefix('folder:')}" if data.startswith("folder:") else data,
        n=old.metadata["n"], images=old.metadata["job"]["options"].get("images"), device="cpu",
        batch_size=old.metadata["batch_size"], seed=old.metadata["seed"], progress=False,
        reductions=old.metadata["multiverse"], bias=old.metadata["bias"],
    )  # fmt: skip
    rows, other = old.rows.set_index(SAME), new.rows.set_index(SAME).loc[old.rows.set_index(SAME).index]
    empirical = rows.index.get_level_values("covariance") == "empirical"
    change = (other["score"] - rows["score"]).abs()
    rows.loc[empirical, FOUND] = other.loc[empirical, FOUND]
    notes = {
        way: new.metadata["notes"][way] if "empirical" in way else said for way, said in old.metadata["notes"].items()
    }
    metadata = {**old.metadata, "notes": notes, "empirical": WAY}
    table = rows.reset_index()[list(old.rows)].astype(old.rows.dtypes)
    return (
        replace(old, rows=table, metadata=metadata, notes=_distinct(notes)),
        change[empirical].max(),
        change[~empirical].max(),
    )


def _found(model: str, weights: str, folder: Path) -> str:
    file, _, name = model.rpartition(":")
    inside = next(iter(sorted(folder.rglob(weights))), None) if Path(weights).suffix else None
    source = f"examples/{file}:{name}" if file.endswith(".py") else model
    return f"{source}@{inside or weights}"


def main() -> None:
    """Measure what the command line asks for, and write each file in its place."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--weights", type=Path, default=Path())
    parser.add_argument("--images", type=Path, default=Path())
    options = parser.parse_args()
    for file in options.files:
        old = load_multiverse(file)
        if old.metadata.get("empirical") == WAY:
            continue
        new, moved, others = again(old, options.weights, options.images)
        if others > 2e-3:
            print(f"{file.name}: left alone, since other scores differ by {others:.1e}", file=sys.stderr)
            continue
        new.save(file)
        print(f"{file.name}: empirical scores moved by up to {moved:.5f}, the others by {others:.1e}", flush=True)


if __name__ == "__main__":
    main()
