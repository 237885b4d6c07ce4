"""Compute sweeps again and put them in the place of those that come with the companion."""

from __future__ import annotations

import argparse
from pathlib import Path

from companion.experiments.sweeps import SWEEPS

parser = argparse.ArgumentParser(prog="python -m companion.experiments.sweeps", description=__doc__)
parser.add_argument("names", nargs="+", choices=list(SWEEPS), metavar="NAME", help=", ".join(SWEEPS))
parser.add_argument("--jobs", type=int, default=1, help="processes; -1: one per core")
arguments = parser.parse_args()
for name in arguments.names:
    SWEEPS[name](arguments.jobs).to_parquet(Path(__file__).with_name(f"{name}.parquet"), index=False)
    print(name)
