"""Scores of activation functions on random inputs at the sizes of figures 6 and 7, computed once for book and ledger.

``python -m companion.sweeps NAME`` computes one of them again: minutes to a quarter of an hour, where the results that
come with the companion take no time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from companion.chapters import of_chapters

FOLDER = Path(__file__).parent / "data" / "sweeps"

POINTS, DRAWS = 1000, 3
"""Points of a sample, and independent samples of each input, so that a result has an interval."""


def sweep(name: str) -> pd.DataFrame:
    """A sweep as it comes with the companion.

    Args:
        name: "domain", figure 6; "wide", inputs around 0 that go further than those; "reductions", figure 7, top left;
            "drift", figure 7, top right and bottom; "correlated", the same with correlated coordinates; "shrinkage",
            the ends of figure 7, bottom, with all points.

    Returns:
        The table of :func:`companion.chapter_02.measurements.domain_sweep`, or of ``reduction_scores`` or
        ``estimation_sweep`` in :mod:`companion.chapter_03.measurements`, with a column ``draw`` or ``repeat`` for
        independent samples.

    Raises:
        AffscoreError: There is no sweep of that name.

    >>> table = sweep("reductions").query("draw == 0").set_index("activation")
    >>> table.loc["relu", ["mean", "flatten"]].astype(float).round(2).tolist()
    [0.62, 0.62]
    """
    known = sorted(file.stem for file in FOLDER.glob("*.parquet"))
    if name not in known:
        raise AffscoreError(f"there is no sweep {name!r}; known are {', '.join(known)}")
    return _read(name).copy()


@cache
def _read(name: str) -> pd.DataFrame:
    return pd.read_parquet(FOLDER / f"{name}.parquet")


def in_draws(of_seed: Callable[[int], pd.DataFrame]) -> pd.DataFrame:
    """The tables of several seeds under each other, with the seed in the column ``draw``."""
    return pd.concat([of_seed(seed).assign(draw=seed) for seed in range(DRAWS)], ignore_index=True)


def sweeps() -> dict[str, Callable[[int], pd.DataFrame]]:
    """How each is computed, with a number of jobs: the ``SWEEPS`` of the chapters' measurements."""
    return {name: how for room in of_chapters("measurements") for name, how in getattr(room, "SWEEPS", {}).items()}


def main() -> None:
    """Compute sweeps again and put them in the place of those that come with the companion."""
    known = sweeps()
    parser = argparse.ArgumentParser(prog="python -m companion.sweeps", description=main.__doc__)
    parser.add_argument("names", nargs="+", choices=list(known), metavar="NAME", help=", ".join(known))
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1: one per core")
    arguments = parser.parse_args()
    for name in arguments.names:
        known[name](arguments.jobs).to_parquet(FOLDER / f"{name}.parquet", index=False)
        print(name)


if __name__ == "__main__":
    main()
