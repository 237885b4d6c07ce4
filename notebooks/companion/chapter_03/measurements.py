"""How far an estimate of the score is off: by reduction, width, covariance, and the size of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.transport import affinity_score
from affscore.transport.covariances import CovarianceName
from companion.activations import (
    ACTIVATIONS,
    Activation,
    limit_score,
    named_activations,
    paired_limit,
    run_all,
    score_row,
)
from companion.sweeps import DRAWS, POINTS, in_draws


def power_law_correlation(width: int, exponent: float, seed: int = 0) -> NDArray[np.float64]:
    """A correlation matrix with a spectrum that decays like k**-exponent, in random directions.

    The spectrum is imposed on a covariance in a random orthonormal basis, which is then scaled to ones on
    the diagonal; that changes the spectrum a little.

    Args:
        width: d.
        exponent: >= 0; 0 gives the identity, and with 1.5 few directions hold most of the variance.
        seed: Seed of the basis.

    Returns:
        Array (d, d).

    >>> power_law_correlation(3, 0.0).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if exponent == 0:
        return np.eye(width)
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((width, width)))
    matrix = (basis * np.arange(1, width + 1.0) ** -exponent) @ basis.T
    scale = np.diag(matrix) ** -0.5
    matrix = matrix * scale * scale[:, None]
    np.fill_diagonal(matrix, 1.0)
    return (matrix + matrix.T) / 2


COVARIANCES: tuple[CovarianceName, ...] = ("empirical", "ledoit-wolf")


def estimation_sweep(
    activations: Sequence[str] | Mapping[str, Activation],
    widths: Sequence[int],
    points: Sequence[int],
    covariances: Sequence[CovarianceName] = COVARIANCES,
    *,
    exponents: Sequence[float] = (0.0,),
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Score activations on fresh normal samples for all combinations of width, size and kind of input.

    Each coordinate of the input is standard normal; how the coordinates depend on each other is decided by
    the exponent of :func:`power_law_correlation`. Activations and covariances share their samples.

    Args:
        activations: Names, or functions of tensors by name.
        widths: Numbers of coordinates d.
        points: Numbers of points n.
        covariances: "ledoit-wolf" and "empirical", or one of them.
        exponents: Decay of the spectrum of the input, >= 0; 0 for independent coordinates.
        repeats: Fresh samples for each combination.
        seed: Seed of all samples, >= 0.
        n_jobs: Processes; -1 for one per core.

    Returns:
        One row for each score: activation, exponent, width, points, ratio (n/d), covariance, repeat, score,
        raw, pairing_optimal, bound_exceeded, limit (:func:`paired_limit`) and error (raw - limit).

    Raises:
        AffscoreError: An unknown activation or covariance, or bad numbers.

    Source: figure 7, top right and bottom, for independent coordinates; the rest is ours.

    >>> table = estimation_sweep(["relu"], [100], [50, 1000])
    >>> table.pivot(index="points", columns="covariance", values="raw").round(1).values.tolist()
    [[0.8, 0.6], [0.6, 0.6]]
    """
    functions = named_activations(activations)

    def scores_of_one_draw(exponent: float, width: int, n: int, repeat: int, name: str) -> list[dict[str, Any]]:
        noise = np.random.default_rng([seed, repeat, n, width]).standard_normal((n, width))  # for all activations
        if exponent != 0:
            noise = noise @ np.linalg.cholesky(power_law_correlation(width, exponent)).T
        x = torch.from_numpy(noise)
        y = functions[name](x)
        sample = {"activation": name, "exponent": exponent, "width": width, "points": n, "ratio": n / width}
        return [
            {**sample, "covariance": covariance, "repeat": repeat, **score_row(affinity_score(x, y, covariance))}
            for covariance in covariances
        ]

    tasks = list(product(exponents, widths, points, range(repeats), functions))
    table = run_all(scores_of_one_draw, tasks, n_jobs)
    limits = {}
    for exponent, width, (name, function) in product(exponents, widths, functions.items()):
        # that of independent coordinates has a closed form for every width
        limit = paired_limit(function, power_law_correlation(width, exponent)) if exponent else limit_score(function)
        limits[name, exponent, width] = limit
    table = table.join(pd.Series(limits, name="limit"), on=["activation", "exponent", "width"])
    return table.assign(error=table["raw"] - table["limit"])


REDUCTIONS = ("mean", "sum", "flatten", "reduce_first")
"""What :func:`reduction_scores` knows: three ways to a vector after the activation, and the average before it."""


def reduction_scores(
    activations: Sequence[str] | Mapping[str, Activation] = tuple(ACTIVATIONS),
    *,
    points: int = 1000,
    channels: int = 100,
    positions: int = 9,
    covariance: CovarianceName = "ledoit-wolf",
    reductions: Sequence[str] = REDUCTIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Score activations on random feature maps that are averaged, summed or flattened.

    A map has ``channels`` times ``positions`` independent standard normal entries.

    Args:
        activations: Names, or functions of tensors by name.
        points: n, the number of maps.
        channels: Channels of a map.
        positions: Positions of a map.
        covariance: "ledoit-wolf" or "empirical".
        reductions: Which of :data:`REDUCTIONS` to score; "flatten" takes most of the time.
        seed: Seed of the sample.

    Returns:
        One row for each activation, and a column for each reduction: mean, sum and flatten are the scores
        of (r(X), r(s(X))), reduce_first that of (r(X), s(r(X))) with the average as r. All lie in [0, 1].

    Source: figure 7, top left (appendix E), and definition 3.1.

    >>> table = reduction_scores(["relu"], points=200, channels=50, positions=4)
    >>> table.round(1).values.tolist()
    [[0.6, 0.6, 0.6, 0.6]]
    """
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.standard_normal((points, channels, positions)))
    scores = {
        name: {way: affinity_score(*_reduced(x, function, way), covariance).value for way in reductions}
        for name, function in named_activations(activations).items()
    }
    return pd.DataFrame.from_dict(scores, orient="index").rename_axis("activation")


def _reduced(x: Tensor, function: Activation, reduction: str) -> tuple[Tensor, Tensor]:
    """The two clouds of maps (n, channels, positions) under an activation and a reduction."""
    if reduction == "flatten":
        return x.flatten(1), function(x).flatten(1)
    if reduction == "sum":
        return x.sum(dim=2), function(x).sum(dim=2)
    averages = x.mean(dim=2)
    return averages, function(averages) if reduction == "reduce_first" else function(x).mean(dim=2)


def effects_of_size(study: pd.DataFrame) -> pd.DataFrame:
    """What the batch size, and the images in a batch, do to the scores of each network.

    Args:
        study: As of :func:`companion.studies.study_of`, under one specification. Of the sizes those count that
            have two batches or more.

    Returns:
        A row for each network (``model``). All are root mean squares over its activations, but for the last:

        * ``chance_of_few``, ``chance_of_many``: the standard deviation of a score over the batches of the smallest n,
          and of the largest;
        * ``change``: the score at the largest n - that at the smallest, each the mean over its batches;
        * ``within``: the standard deviation over the activations, at the largest n.

    Raises:
        AffscoreError: One size only, or two scores of an activation at the same n.

    >>> rows = pd.DataFrame({"model": "net", "index": [0, 1, 0, 1], "n": [64, 64, 256, 256], "batches": 4})
    >>> rows = rows.assign(score=[0.5, 0.7, 0.53, 0.74], score_std=[0.02, 0.02, 0.01, 0.01])
    >>> effects_of_size(rows).round(3).loc["net"].tolist()
    [0.02, 0.01, 0.035, 0.148]
    """
    repeated = study[study["batches"] > 1]
    if len(set(repeated["n"])) < 2:
        raise AffscoreError("expected two batch sizes or more, with two batches or more of each")
    if repeated.duplicated(["model", "index", "n"]).any():
        raise AffscoreError("there are two scores of an activation at the same n: choose one specification")
    few, many = (
        repeated[repeated["n"] == n].set_index(["model", "index"]) for n in (min(repeated["n"]), max(repeated["n"]))
    )
    squares = {"chance_of_few": few["score_std"], "chance_of_many": many["score_std"]}
    squares["change"] = many["score"] - few["score"]
    table = pd.DataFrame({name: (one**2).groupby("model", sort=False).mean() ** 0.5 for name, one in squares.items()})
    return table.assign(within=many["score"].groupby("model").std())


QUARTER = POINTS // 4
"""Points where the dimension goes up to 4.5 times as much; what counts there is the ratio."""

RATIOS = tuple(np.arange(0.5, 4.6, 0.5))
"""d/n along the axis of the panels of figure 7 that show a growing dimension, from d = 500 to 4500 with n = 1000."""

STEEP = 1.5
"""How fast the spectrum of correlated inputs falls."""

_WIDTHS = [round(ratio * QUARTER) for ratio in RATIOS]
_estimation = partial(estimation_sweep, tuple(ACTIVATIONS), repeats=DRAWS)

SWEEPS: dict[str, Callable[[int], pd.DataFrame]] = {
    "reductions": lambda jobs: in_draws(lambda seed: reduction_scores(points=POINTS, seed=seed).reset_index()),
    "drift": lambda jobs: _estimation(_WIDTHS, [QUARTER], n_jobs=jobs),
    "correlated": lambda jobs: _estimation(_WIDTHS, [QUARTER], ["ledoit-wolf"], exponents=[STEEP], n_jobs=jobs),
    "shrinkage": lambda jobs: _estimation([100, 3000], [POINTS], ["ledoit-wolf"], n_jobs=jobs),
}
"""What comes with the companion (:func:`companion.sweeps.sweep`), with a number of jobs."""
