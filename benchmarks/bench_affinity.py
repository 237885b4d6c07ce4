"""For benchmarks/README.md, by hand: the score of one activation against the reference, over widths and sample sizes.

    python benchmarks/bench_affinity.py              # all, about half an hour on two cores
    python benchmarks/bench_affinity.py --n 512 --d 256 512

Times in alternating rounds in one process; peak memory in a process for each. Writes results/affinity.json.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import measuring
import textbook

from affscore import affinity_score

WIDTHS = [64, 128, 256, 512, 1024, 2048, 4096]
SAMPLES = [128, 256, 512, 1024, 2048]
WIDEST = 2048
"""The textbook route takes minutes beyond this width, and is not run."""


def layer(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated inputs of a ReLU with a spectrum that decays as those of trained layers do, and its outputs."""
    generator = np.random.default_rng([n, d])
    rotation = np.linalg.qr(generator.standard_normal((d, min(d, 256))))[0]
    scales = 1 / np.sqrt(1 + np.arange(rotation.shape[1]))
    x = generator.standard_normal((n, rotation.shape[1])) * scales @ rotation.T
    x += 0.05 * generator.standard_normal((n, d)) / np.sqrt(d)
    return x, np.maximum(x, 0)


def measure(n: int, d: int, rounds: int, memory: bool) -> dict[str, Any]:
    """One row: times, their ratio, the two values, and peak memories."""
    x, y = layer(n, d)
    contenders = {"affscore": partial(affinity_score, x, y)}
    if d <= WIDEST:
        contenders["textbook"] = partial(textbook.affinity_score, x, y)
    times = measuring.alternate(contenders, rounds)
    score = affinity_score(x, y)
    row: dict[str, Any] = {"n": n, "d": d, **times, "score": score.value, "decided_by": score.decided_by}
    if "textbook" in times:
        row["ratio"] = times["textbook"]["best"] / times["affscore"]["best"]
        row["difference"] = abs(score.raw - textbook.affinity_score(x, y))
    if memory:
        tiny = layer(16, 8)
        warm_up = {"affscore": partial(affinity_score, *tiny), "textbook": partial(textbook.affinity_score, *tiny)}
        row["memory_mb"] = {name: measuring.peak_memory(run, warm_up[name]) for name, run in contenders.items()}
    return row


def line(row: dict[str, Any]) -> str:
    """A row as it is printed."""
    ours = row["affscore"]
    parts = [f"n = {row['n']:5d}, d = {row['d']:5d}: {ours['best']:8.4f} s (to {ours['largest']:.4f})"]
    if "textbook" in row:
        parts.append(f"textbook {row['textbook']['best']:8.3f} s, {row['ratio']:6.1f} times")
        parts.append(f"difference {row['difference']:.1e}")
    parts += [f"{name} {peak:.0f} MB" for name, peak in row.get("memory_mb", {}).items()]
    return ", ".join(parts)


def main() -> None:
    """Measure what the command line asks for, print a line for each, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=SAMPLES)
    parser.add_argument("--d", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-memory", dest="memory", action="store_false")
    parser.add_argument("--name", default="affinity", help="name of the file of results")
    options = parser.parse_args()
    rows = []
    for n in options.n:
        for d in options.d:
            row = measure(n, d, options.rounds, options.memory)
            rows.append(row)
            print(line(row), flush=True)
            measuring.write(options.name, rows)


if __name__ == "__main__":
    main()
