"""What the benchmarks have measured: their files of results as tables, and how times grow."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from affscore.errors import AffscoreError

__all__ = ["Benchmark", "growth_exponents", "read_benchmark", "read_benchmarks"]

LEAST_SIZE = 128
"""Where times are fitted: below, they are those of calls and not of arithmetic."""

LEAST_SIZES = 3
"""As many sizes at least make a fit."""


@dataclass(frozen=True)
class Kind:
    """One of the benchmarks.

    Attributes:
        command: What writes its file; empty where that is not told.
        texts: Columns of words that each row has.
        numbers: Columns of numbers that each row has.
        optional: Columns of numbers that a row may lack.
    """

    command: str
    texts: Sequence[str] = ()
    numbers: Sequence[str] = ()
    optional: Sequence[str] = ()


def _of_signatures(command: str) -> Kind:
    times = [f"{what}_{which}" for what in ("plain", "scores", "criteria") for which in ("best", "largest")]
    spreads = [f"spread_{what}_{which}" for what in ("scores", "criteria") for which in ("smallest", "largest")]
    return Kind(
        command,
        texts=["model", "device"],
        numbers=["n", "batch_size", *times, "ratio_scores", "ratio_criteria"],
        optional=["activations", "memory_mb_plain", "memory_mb_scores", *spreads],
    )


BENCHMARKS: Mapping[str, Kind] = {
    "affinity": Kind(
        "python benchmarks/bench_affinity.py",
        numbers="n d affscore_best affscore_largest score".split(),
        optional="textbook_best textbook_largest ratio difference memory_mb_affscore memory_mb_textbook".split(),
    ),
    "signature": _of_signatures("python benchmarks/bench_signature.py --device cpu"),
    "gpu": _of_signatures("python benchmarks/bench_signature.py --device cuda --name gpu"),
    "agreement": Kind(
        "python benchmarks/check_real_networks.py",
        texts=["model", "dataset"],
        numbers="n activations compared width_max largest_difference".split(),
    ),
    "memory": Kind("python benchmarks/bench_memory.py", ["model", "how"], ["n", "batch_size", "memory_mb"]),
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
        if len(self.table):
            return ""
        return f"{self.name}.json is missing{_what_writes(self.name, 'it')}."


def read_benchmarks(folder: str | Path) -> dict[str, Benchmark]:
    """All benchmarks of a folder of results; those whose file is missing have an empty table and a note.

    Args:
        folder: Where NAME.json lie, for the names in :data:`BENCHMARKS`.

    Raises:
        AffscoreError: A file that is no file of results (see :func:`read_benchmark`).

    >>> read_benchmarks("no such folder")["affinity"].note
    'affinity.json is missing: python benchmarks/bench_affinity.py writes it.'
    """
    found = {}
    for name, kind in BENCHMARKS.items():
        path = Path(folder) / f"{name}.json"
        columns = [*kind.texts, *kind.numbers, *kind.optional]
        found[name] = read_benchmark(path) if path.exists() else Benchmark(name, {}, pd.DataFrame(columns=columns))
    return found


def read_benchmark(path: str | Path) -> Benchmark:
    """The results that a benchmark wrote, as a table.

    Args:
        path: A file NAME.json, where NAME is one of :data:`BENCHMARKS`.

    Returns:
        The benchmark. A number that a row lacks (a route that was too slow to run, say) is NaN.

    Raises:
        AffscoreError: An unknown name, no such file, or a file that lacks what such a file has.
    """
    path = Path(path)
    if path.stem not in BENCHMARKS:
        raise AffscoreError(f"there is no benchmark {path.stem!r}; known are {', '.join(BENCHMARKS)}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AffscoreError(f"{path.name} cannot be read ({error.strerror}){_what_writes(path.stem, 'it')}") from error
    except ValueError as error:
        raise _malformed(path, f"it is not JSON ({error})") from error
    if not isinstance(content, dict) or not isinstance(content.get("machine"), dict):
        raise _malformed(path, 'expected an object with "machine" and "rows"')
    rows, kind = content.get("rows"), BENCHMARKS[path.stem]
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise _malformed(path, 'expected "rows" to be a list of objects, and not an empty one')
    table = pd.json_normalize(rows, sep="_")
    table = table.reindex(columns=list(dict.fromkeys([*table, *kind.texts, *kind.numbers, *kind.optional])))
    for column in (*kind.texts, *kind.numbers):
        if table[column].isna().any():
            raise _malformed(path, f"a row has no {column}")
    for column in (*kind.numbers, *kind.optional):
        try:
            table[column] = pd.to_numeric(table[column])
        except (TypeError, ValueError) as error:
            raise _malformed(path, f"{column} must be numbers, got {error}") from error
    return Benchmark(path.stem, content["machine"], table)


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
    by = "n" if along == "d" else "d"
    rows = {}
    for size, group in table.groupby(by):
        large = group[group[along] >= LEAST_SIZE]
        parts = {"affscore": large}
        if along == "d":
            narrow, wide = large["d"] <= 2 * large["n"], large["d"] >= 2 * large["n"]
            parts = {"affscore, d ≤ 2n": large[narrow], "affscore, d ≥ 2n": large[wide]}
        fits = {name: _slope(part, along, "affscore_best") for name, part in parts.items()}
        rows[size] = fits | {"textbook": _slope(large, along, "textbook_best")}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def _slope(rows: pd.DataFrame, along: str, column: str) -> float:
    measured = rows.dropna(subset=[column])
    if measured[along].nunique() < LEAST_SIZES:
        return math.nan
    logarithms = np.log(measured[[along, column]].to_numpy(dtype=float))
    return float(np.polyfit(logarithms[:, 0], logarithms[:, 1], 1)[0])


def _malformed(path: Path, reason: str) -> AffscoreError:
    return AffscoreError(f"{path.name} holds no results of a benchmark: {reason}{_what_writes(path.stem, 'one')}")


def _what_writes(name: str, it: str) -> str:
    command = BENCHMARKS[name].command
    return f": {command} writes {it}" if command else ""
