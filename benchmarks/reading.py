"""What the benchmarks have measured: their files of results as tables, and how times grow."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from affscore.errors import AffscoreError

LEAST_SIZE = 128
"""Where times are fitted: below, they are those of calls and not of arithmetic."""

LEAST_SIZES = 3
"""As many sizes at least make a fit."""


class Kind(NamedTuple):
    """One of the benchmarks.

    Attributes:
        command: What writes its file; empty where that is not known.
        required: Columns that each row has, apart by blanks.
        optional: Columns that a row may lack.
    """

    command: str
    required: str = ""
    optional: str = ""


_TEXTS = ("model", "weights", "device", "dataset", "how")
"""All other columns are numbers."""

_SIGNATURE = (
    "model device n batch_size plain_best plain_largest scores_best scores_largest criteria_best criteria_largest "
    "ratio_scores ratio_criteria",
    "activations memory_mb_plain memory_mb_scores spread_scores_smallest spread_scores_largest "
    "spread_criteria_smallest spread_criteria_largest",
)

_PENALTY = (
    "model weights how device batch_size size activations plain_best plain_median plain_largest penalised_best "
    "penalised_median penalised_largest ratio_penalised spread_penalised_smallest spread_penalised_largest",
)

BENCHMARKS: Mapping[str, Kind] = {
    "affinity": Kind(
        "python benchmarks/bench_affinity.py",
        "n d affscore_best affscore_largest score",
        "textbook_best textbook_largest ratio difference memory_mb_affscore memory_mb_textbook",
    ),
    "signature": Kind("python benchmarks/bench_signature.py --device cpu", *_SIGNATURE),
    "gpu": Kind("python benchmarks/bench_signature.py --device cuda --name gpu", *_SIGNATURE),
    "agreement": Kind(
        "python benchmarks/check_real_networks.py", "model dataset n activations compared width_max largest_difference"
    ),
    "memory": Kind("python benchmarks/bench_memory.py", "model how n batch_size memory_mb"),
    "multiverse": Kind(
        "python benchmarks/bench_multiverse.py",
        "model weights dataset device n batch_size signature_best signature_largest multiverse_best multiverse_largest "
        "separate_best separate_largest ratio_multiverse ratio_separate activations specifications signatures",
        "spread_multiverse_smallest spread_multiverse_largest spread_separate_smallest spread_separate_largest",
    ),
    "track": Kind(
        "python benchmarks/bench_track.py",
        "model how device n batch_size every activations counted steps_median steps_best steps_largest overhead "
        "spread_overhead_smallest spread_overhead_largest",
        "measurement_best measurement_median measurement_largest tracked_best tracked_median tracked_largest",
    ),
    "penalty": Kind("python benchmarks/bench_penalty.py", *_PENALTY),
    "penalty_gpu": Kind("python benchmarks/bench_penalty.py --device cuda --name penalty_gpu", *_PENALTY),
    "linear_regions": Kind(
        "python benchmarks/bench_linear_regions.py",
        "model dataset how device n batch_size regions chunk line_median line_best line_largest walk_median walk_best "
        "walk_largest plain_median plain_best plain_largest ratio_walk passes_a_step spread_walk_smallest "
        "spread_walk_largest spread_passes_smallest spread_passes_largest",
        "memory_mb_32 memory_mb_128 memory_mb_512",
    ),
    "survey": Kind(""),  # its rows are shown as they are
}
"""The benchmarks by the names of their files, and what the rows of these must have."""


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark has measured.

    Attributes:
        name: One of :data:`BENCHMARKS`.
        machine: The description of the machine: processor, cores, versions, when, ...
        table: One row for each measurement; empty where the file is missing. What stands nested in the
            file has a name of two parts here: ``affscore_best``, ``memory_mb_textbook``.
    """

    name: str
    machine: dict[str, Any]
    table: pd.DataFrame

    @property
    def note(self) -> str:
        """A sentence that says that the file is missing, and what writes it; empty where it is there."""
        return "" if len(self.table) else f"{self.name}.json is missing{_what_writes(self.name, 'it')}."


def read_benchmarks(folder: str | Path) -> dict[str, Benchmark]:
    """All benchmarks of a folder of results; those whose file is missing have an empty table and a note.

    >>> read_benchmarks("no such folder")["affinity"].note
    'affinity.json is missing: `python benchmarks/bench_affinity.py` writes it.'
    """
    return {name: read_benchmark(Path(folder) / f"{name}.json") for name in BENCHMARKS}


def read_benchmark(path: Path) -> Benchmark:
    """The results that a benchmark wrote to NAME.json, as a table; a number that a row lacks is NaN.

    Raises:
        AffscoreError: A file that lacks what such a file has.
    """
    _, required, optional = (columns.split() for columns in BENCHMARKS[path.stem])
    columns = [*required, *optional]
    if not path.exists():
        return Benchmark(path.stem, {}, pd.DataFrame(columns=columns))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        table, machine = pd.json_normalize(content["rows"], sep="_"), dict(content["machine"])
        table = table.reindex(columns=list(dict.fromkeys([*table, *columns])))
        if table.empty or table[required].isna().any(axis=None):
            raise ValueError(f"each row needs {', '.join(required)}")
        numbers = [column for column in columns if column not in _TEXTS]
        table[numbers] = table[numbers].apply(pd.to_numeric)
    except (OSError, KeyError, TypeError, ValueError, NotImplementedError) as error:
        reason = error.strerror if isinstance(error, OSError) else repr(error)
        raise AffscoreError(
            f"{path.name} holds no results of a benchmark ({reason}){_what_writes(path.stem, 'one')}"
        ) from error
    return Benchmark(path.stem, machine, table)


def growth_exponents(table: pd.DataFrame, along: Literal["d", "n"] = "d") -> pd.DataFrame:
    r"""How times grow: the exponent a of the fit :math:`t \sim d^a` for each n, or :math:`t \sim n^a` for each d.

    Least squares of the logarithms of the best times, for sizes of at least 128 and where there are at least three
    of them. Along d the times of affscore are fitted on both sides of d = 2n, where its route changes.

    Args:
        table: The table of the benchmark "affinity".
        along: "d" or "n".

    Returns:
        A row for each n (or d), and a column for each fit; NaN where there are too few sizes.

    >>> rows = [(512, d, 1e-9 * d**3) for d in (128, 256, 512)]
    >>> table = pd.DataFrame(rows, columns=["n", "d", "textbook_best"]).assign(affscore_best=1.0)
    >>> growth_exponents(table)["textbook"].round(6).to_dict()
    {512: 3.0}
    """
    if along not in ("d", "n"):
        raise AffscoreError(f'times grow along "d" or "n", got {along!r}')
    rows = {}
    for size, group in table.groupby(by := "n" if along == "d" else "d"):
        large = group[group[along] >= LEAST_SIZE]
        parts = {"affscore": large}
        if along == "d":
            parts = {"affscore, d ≤ 2n": large.query("d <= 2 * n"), "affscore, d ≥ 2n": large.query("d >= 2 * n")}
        fits = {name: _slope(part[[along, "affscore_best"]].dropna()) for name, part in parts.items()}
        rows[size] = fits | {"textbook": _slope(large[[along, "textbook_best"]].dropna())}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def _slope(measured: pd.DataFrame) -> float:
    if measured.iloc[:, 0].nunique() < LEAST_SIZES:
        return math.nan
    sizes, times = np.log(measured.to_numpy(dtype=float)).T
    return float(np.polyfit(sizes, times, 1)[0])


def _what_writes(name: str, it: str) -> str:
    command = BENCHMARKS[name].command
    return f": `{command}` writes {it}" if command else ""
