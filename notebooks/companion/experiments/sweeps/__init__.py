"""Scores of activation functions on random inputs at the sizes of figures 6 and 7, computed once for book and ledger.

``python -m companion.experiments.sweeps NAME`` computes one of them again: minutes to a quarter of an hour, where the
results that come with the companion take no time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from affscore.errors import AffscoreError
from companion.experiments.activation_domain import domain_sweep
from companion.experiments.activations import ACTIVATIONS
from companion.experiments.estimation import estimation_sweep
from companion.experiments.reductions import reduction_scores

POINTS = 1000
QUARTER = POINTS // 4
"""Points where the dimension goes up to 4.5 times as much; what counts there is the ratio."""

RATIOS = tuple(np.arange(0.5, 4.6, 0.5))
"""d/n along the axis of the panels of figure 7 that show a growing dimension, from d = 500 to 4500 with n = 1000."""

DRAWS = 3
"""Independent samples of each input, so that a result has an interval."""

STEEP = 1.5
"""How fast the spectrum of correlated inputs falls, as in chapter 3."""

_NAMES, _WIDTHS = tuple(ACTIVATIONS), [round(ratio * QUARTER) for ratio in RATIOS]


_domain = partial(domain_sweep, points=POINTS, width=300)
_estimation = partial(estimation_sweep, _NAMES, repeats=DRAWS)


def _draws(of_seed: Callable[[int], pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([of_seed(seed).assign(draw=seed) for seed in range(DRAWS)], ignore_index=True)


SWEEPS: dict[str, Callable[[int], pd.DataFrame]] = {
    "domain": lambda jobs: _draws(lambda seed: _domain(seed=seed, n_jobs=jobs)),
    "wide": lambda jobs: _draws(
        lambda seed: _domain(["relu", "tanh", "sigmoid"], [0.0], [1.0, 2.0, 4.0, 8.0], seed=seed, n_jobs=jobs)
    ),
    "reductions": lambda jobs: _draws(lambda seed: reduction_scores(points=POINTS, seed=seed).reset_index()),
    "drift": lambda jobs: _estimation(_WIDTHS, [QUARTER], n_jobs=jobs),
    "correlated": lambda jobs: _estimation(_WIDTHS, [QUARTER], ["ledoit-wolf"], exponents=[STEEP], n_jobs=jobs),
    "shrinkage": lambda jobs: _estimation([100, 3000], [POINTS], ["ledoit-wolf"], n_jobs=jobs),
}
"""What the package brings, by name, and how it is computed with a number of jobs.

``domain``: figure 6; ``wide``: inputs around 0 that go further than those; ``reductions``: figure 7, top left;
``drift``: figure 7, top right and bottom; ``correlated``: the same with correlated coordinates; ``shrinkage``: the ends
of figure 7, bottom, with all points.
"""


def sweep(name: str) -> pd.DataFrame:
    """A sweep of :data:`SWEEPS` as it comes with the companion.

    Args:
        name: Which.

    Returns:
        The table of :func:`companion.experiments.domain_sweep`, :func:`companion.experiments.reduction_scores` or
        :func:`companion.experiments.estimation_sweep`, with a column ``draw`` or ``repeat`` for independent samples.

    Raises:
        AffscoreError: There is no sweep of that name.

    >>> table = sweep("reductions").query("draw == 0").set_index("activation")
    >>> table.loc["relu", ["mean", "flatten"]].astype(float).round(2).tolist()
    [0.62, 0.62]
    """
    if name not in SWEEPS:
        raise AffscoreError(f"there is no sweep {name!r}; known are {', '.join(SWEEPS)}")
    return _read(name).copy()


@cache
def _read(name: str) -> pd.DataFrame:
    return pd.read_parquet(Path(__file__).with_name(f"{name}.parquet"))
