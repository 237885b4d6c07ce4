"""Does the affinity score follow the complexity of the function? Kinds of random networks, compared over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis.seeds import SeedInterval, mean_over_seeds, rank_correlation_over_seeds
from affscore.errors import AffscoreError
from affscore.experiments.random_mlps import RandomMLP

SCALES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Sizes of the weights: powers of two, so that scaling a ReLU network is exact in floating point."""

SHIFT, BIAS = 0.5, 0.5
"""The mean of shifted weights in units of their standard deviation, and the standard deviation of biases."""


SIZES: Mapping[str, tuple[RandomMLP, ...]] = MappingProxyType({
    "Tanh": tuple(RandomMLP("tanh", scale) for scale in SCALES),
    "Tanh, shifted": tuple(RandomMLP("tanh", scale, SHIFT) for scale in SCALES),
    "ReLU": (RandomMLP(),),
    "ReLU, shifted": (RandomMLP(shift=SHIFT),),
    "ReLU, biases": tuple(RandomMLP("relu", scale, bias=BIAS) for scale in SCALES),
})  # fmt: skip
"""Networks of several sizes of the weights; one size of ReLU networks without biases, since all are the same."""

DEPTHS: Mapping[str, tuple[RandomMLP, ...]] = MappingProxyType({
    "Tanh": tuple(RandomMLP("tanh", 2.0, depth=depth) for depth in (3, 6, 12)),
    "ReLU": tuple(RandomMLP(depth=depth) for depth in (3, 6, 12)),
})  # fmt: skip
"""Networks of several depths; the weights of Tanh networks have the size 2."""

CHANGES: Mapping[str, tuple[RandomMLP, RandomMLP]] = MappingProxyType({
    "Tanh: weights × 8 instead of × 2": (SIZES["Tanh"][2], SIZES["Tanh"][4]),
    "weights × 8: shifted Tanh instead of Tanh": (SIZES["Tanh"][4], SIZES["Tanh, shifted"][4]),
    "shifted Tanh: weights × 8 instead of × 2": (SIZES["Tanh, shifted"][2], SIZES["Tanh, shifted"][4]),
    "Tanh × 2 instead of ReLU": (SIZES["ReLU"][0], SIZES["Tanh"][2]),
    "Tanh × 2: 12 hidden layers instead of 3": (DEPTHS["Tanh"][0], DEPTHS["Tanh"][2]),
    "ReLU: 12 hidden layers instead of 3": (DEPTHS["ReLU"][0], DEPTHS["ReLU"][2]),
})  # fmt: skip
"""Kinds of networks that are compared seed by seed: what is changed, from which to which."""

_MEASURED = ("mean", "frequency")
_VERDICTS = {"negative": "follows", "positive": "contradicts", "undecided": "undecided"}


def redshift_networks(seeds: int = 32, seed: int = 0) -> list[RandomMLP]:
    """All networks of :data:`SIZES` and :data:`DEPTHS`.

    Args:
        seeds: How many of each, at least 2.
        seed: The first of their seeds.

    Raises:
        AffscoreError: Fewer than two seeds, which have no interval.

    >>> len(redshift_networks(2))
    42
    """
    if seeds < 2:
        raise AffscoreError(f"an interval needs at least 2 seeds, got {seeds}")
    cells = dict.fromkeys(cell for groups in (SIZES, DEPTHS) for group in groups.values() for cell in group)
    return [cell._replace(seed=own) for cell in cells for own in range(seed, seed + seeds)]


def networks_of(networks: pd.DataFrame, cell: RandomMLP) -> pd.DataFrame:
    """The rows of one kind of network, in the order of their seeds.

    Args:
        networks: A row for each network (:func:`affscore.experiments.mean_scores`).
        cell: The kind; its seed does not count.

    Raises:
        AffscoreError: There are fewer than two.
    """
    same = [networks[name] == getattr(cell, name) for name in RandomMLP._fields if name != "seed"]
    rows = networks[np.all(same, axis=0)]
    if len(rows) < 2:
        raise AffscoreError(f"expected at least two seeds of {cell}, got {len(rows)}")
    return rows.sort_values("seed", ignore_index=True)


def redshift_correlations(networks: pd.DataFrame) -> pd.DataFrame:
    """The rank correlation of the mean score with the frequency of the image.

    Args:
        networks: A row for each network of :func:`redshift_networks` (:func:`affscore.experiments.mean_scores`).

    Returns:
        A row for each group of :data:`SIZES` that has several sizes of the weights (``over``: "all sizes"), and one for
        the Tanh and the ReLU networks with ranks among the networks of one kind and size alone ("one size"): group,
        networks, correlation, low, high (:func:`affscore.analysis.rank_correlation_over_seeds`, at 95 % for all rows
        together, after Bonferroni), and verdict: "follows" where the score decidedly falls as the frequency rises,
        "contradicts" where it rises, else "undecided".

    Raises:
        AffscoreError: Networks that are missing.
    """
    asked = [(group, "all sizes", cells) for group, cells in SIZES.items() if len(cells) > 1]
    for name in ("Tanh", "ReLU"):
        alike = [cell for cells in SIZES.values() for cell in cells if cell.activation == name.lower()]
        asked.append((name, "one size", tuple(alike)))
    rows = []
    for group, over, cells in asked:
        score, frequency = (np.stack([_of(networks, cell, name) for cell in cells], axis=1) for name in _MEASURED)
        level, within = 1 - 0.05 / len(asked), over == "one size"
        found = rank_correlation_over_seeds(score, frequency, within=within, level=level)
        interval = {"correlation": found.value, "low": found.low, "high": found.high}
        about = {"group": group, "over": over, "networks": score.size}
        rows.append({**about, **interval, "verdict": _VERDICTS[found.direction]})
    return pd.DataFrame(rows)


def redshift_changes(networks: pd.DataFrame) -> pd.DataFrame:
    """What each of :data:`CHANGES` does to score and frequency, seed by seed.

    Args:
        networks: As for :func:`redshift_correlations`.

    Returns:
        A row for each change (the index): score, score_low, score_high (the mean change of the mean score, with
        Student's interval, at 95 % for all rows and both numbers together), frequency, frequency_low, frequency_high
        (the factor of the frequency, the geometric mean over the seeds) and verdict: "follows" where both decidedly
        change in opposite directions, "contradicts" where in the same, else "undecided".

    Raises:
        AffscoreError: Networks that are missing.
    """
    rows: dict[str, dict[str, Any]] = {}
    level = 1 - 0.05 / (2 * len(CHANGES))
    for change, (before, after) in CHANGES.items():
        was, now = ({name: _of(networks, cell, name) for name in _MEASURED} for cell in (before, after))
        score = mean_over_seeds(now["mean"] - was["mean"], level)
        octaves = mean_over_seeds(np.log2(now["frequency"] / was["frequency"]), level)
        rows[change] = {
            "score": score.value, "score_low": score.low, "score_high": score.high,
            "frequency": 2**octaves.value, "frequency_low": 2**octaves.low, "frequency_high": 2**octaves.high,
            "verdict": _together(score, octaves),
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("change")


def _together(score: SeedInterval, frequency: SeedInterval) -> str:
    """Whether two changes decidedly have opposite signs or the same."""
    directions = (score.direction, frequency.direction)
    if "undecided" in directions:
        return "undecided"
    return "contradicts" if directions[0] == directions[1] else "follows"


def _of(networks: pd.DataFrame, cell: RandomMLP, column: str) -> NDArray[np.float64]:
    return networks_of(networks, cell)[column].to_numpy(dtype=np.float64)
