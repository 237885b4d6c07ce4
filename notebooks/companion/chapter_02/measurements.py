"""Activation functions over their domain: the score of a function on inputs that slide along the axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch

from affscore.transport import affinity_score
from affscore.transport.covariances import CovarianceName
from companion.activations import ACTIVATIONS, Activation, limit_score, named_activations, run_all, score_row
from companion.sweeps import POINTS, in_draws

MEANS = tuple(float(mean) for mean in np.linspace(-20.0, 20.0, 20))
"""The twenty means of figure 6, equally spaced; zero is not among them."""

STDS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.01)
"""The six standard deviations of figure 6."""


def domain_sweep(
    activations: Sequence[str] | Mapping[str, Activation] = tuple(ACTIVATIONS),
    means: Sequence[float] = MEANS,
    stds: Sequence[float] = STDS,
    *,
    points: int = 1000,
    width: int = 300,
    covariance: CovarianceName = "ledoit-wolf",
    seed: int = 0,
    n_jobs: int = 1,
) -> pd.DataFrame:
    r"""Score activation functions on independent normal inputs of sliding mean and several widths.

    .. math:: \rho(X, \sigma(X)),\qquad X \in \mathbb{R}^{n \times d},\quad
       X_{ij} \sim \mathcal{N}(m, s^2)\ \text{independent}.

    For each mean m and standard deviation s one sample is drawn, and all activations act on it, so that
    they are compared on the same input. The sample depends on the seed and the place of (m, s) in the
    table alone, not on the number of jobs.

    Args:
        activations: Names from :data:`ACTIVATIONS`, or functions of tensors by name.
        means: The means m.
        stds: The standard deviations s > 0.
        points: n.
        width: d.
        covariance: "ledoit-wolf" or "empirical".
        seed: Seed of the samples, >= 0.
        n_jobs: Processes; -1 for one per core.

    Returns:
        One row for each activation, mean and standard deviation: activation, mean, std, score in [0, 1],
        raw, pairing_optimal, bound_exceeded, constant (all outputs equal up to rounding: the score is 1)
        and limit (:func:`limit_score`).

    Source: figure 6 (appendix D), whose setting is the default: 20 means, 6 standard deviations,
    1000 points in 300 dimensions.

    >>> table = domain_sweep(["relu"], means=[0.0, 20.0], stds=[1.0], points=200, width=100)
    >>> table[["mean", "score", "limit"]].round(2).values.tolist()
    [[0.0, 0.62, 0.62], [20.0, 1.0, 1.0]]
    """
    functions = named_activations(activations)

    def scores_of_one_sample(i: int, mean: float, j: int, std: float) -> list[dict[str, Any]]:
        noise = torch.from_numpy(np.random.default_rng((seed, i, j)).standard_normal((points, width)))
        x = mean + std * noise
        # far from their bend several functions give back what they got: one score for all
        unchanged = cache(lambda: affinity_score(x, x, covariance))
        rows = []
        for name, function in functions.items():
            y = function(x)
            score = unchanged() if torch.equal(y, x) else affinity_score(x, y, covariance)
            row = {"activation": name, "mean": mean, "std": std, **score_row(score), "constant": score.constant_output}
            rows.append({**row, "limit": limit_score(function, mean, std)})
        return rows

    tasks = [(i, mean, j, std) for (i, mean), (j, std) in product(enumerate(means), enumerate(stds))]
    table = run_all(scores_of_one_sample, tasks, n_jobs)
    place = list(functions).index
    return table.sort_values("activation", key=lambda names: names.map(place), kind="stable", ignore_index=True)


def domain_summary(table: pd.DataFrame, threshold: float = 0.95) -> pd.DataFrame:
    """What one reads off the box plots: how low an activation gets, and in how wide a region it bends.

    Args:
        table: What :func:`domain_sweep` returns.
        threshold: A score below it counts as bent.

    Returns:
        One row for each activation: lowest (score), at_mean and at_std (where), bent (means whose median over the
        standard deviations is below the threshold), touched (means where any score is), average, constant (share of the
        scores of constant outputs).

    >>> table = domain_sweep(["relu"], means=[-3.0, 0.0, 20.0], stds=[1.0, 0.1], points=100, width=50)
    >>> domain_summary(table)[["at_mean", "at_std", "touched", "constant"]].round(2).values.tolist()
    [[-3.0, 1.0, 2.0, 0.17]]
    """
    table = table.reset_index(drop=True)
    groups = table.groupby("activation", sort=False)
    lowest = table.loc[groups["score"].idxmin(), ["activation", "score", "mean", "std"]].set_index("activation")
    over_stds = table.groupby(["activation", "mean"], sort=False)["score"].agg(["median", "min"])
    below = (over_stds < threshold).groupby("activation", sort=False).sum()
    return lowest.set_axis(["lowest", "at_mean", "at_std"], axis=1).assign(
        bent=below["median"], touched=below["min"], average=groups["score"].mean(), constant=groups["constant"].mean()
    )


_domain = partial(domain_sweep, points=POINTS, width=300)

SWEEPS: dict[str, Callable[[int], pd.DataFrame]] = {
    "domain": lambda jobs: in_draws(lambda seed: _domain(seed=seed, n_jobs=jobs)),
    "wide": lambda jobs: in_draws(
        lambda seed: _domain(["relu", "tanh", "sigmoid"], [0.0], [1.0, 2.0, 4.0, 8.0], seed=seed, n_jobs=jobs)
    ),
}
"""What comes with the companion (:func:`companion.sweeps.sweep`), with a number of jobs."""
