"""How far a score is from its limit: bias and spread over width, number of points and kind of input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch

from affscore.errors import AffscoreError
from affscore.transport import affinity_score
from affscore.transport.covariance import CovarianceName
from companion.experiments.activations import Activation, named_activations, score_row
from companion.experiments.limits import limit_score, paired_limit
from companion.experiments.parallel import run_all
from companion.experiments.random_inputs import power_law_correlation

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
    progress: bool = False,
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
        progress: Whether to show a bar.

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
    _check_some(widths=widths, points=points, covariances=covariances, repeats=range(repeats))

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
    table = run_all(scores_of_one_draw, tasks, n_jobs, progress)
    limits = {}
    for exponent, width, (name, function) in product(exponents, widths, functions.items()):
        # that of independent coordinates has a closed form for every width
        limit = paired_limit(function, power_law_correlation(width, exponent)) if exponent else limit_score(function)
        limits[name, exponent, width] = limit
    table = table.join(pd.Series(limits, name="limit"), on=["activation", "exponent", "width"])
    return table.assign(error=table["raw"] - table["limit"])


def _check_some(**wanted: Sequence[Any]) -> None:
    """Raise an AffscoreError unless there is at least one of each."""
    if missing := [what for what, values in wanted.items() if not len(values)]:
        raise AffscoreError(f"expected at least one of {missing[0]}, got none")


def bias_and_spread(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of the error of :func:`estimation_sweep` over the repeats.

    Args:
        table: What :func:`estimation_sweep` returns, with at least two repeats.

    Returns:
        One row for each activation, exponent, width, points, ratio and covariance, with bias, spread
        (standard deviation of one score), standard_error (of the bias), paired (share of the samples whose
        pairs were the optimal coupling) and limit.

    >>> sweep = estimation_sweep(["relu"], [50], [400], ["empirical"], repeats=4)
    >>> bias_and_spread(sweep)[["ratio", "bias", "paired"]].round(2).values.tolist()
    [[8.0, 0.01, 1.0]]
    """
    keys = ["activation", "exponent", "width", "points", "ratio", "covariance"]
    grouped = table.groupby(keys, sort=False)
    summary = grouped.agg(
        limit=("limit", "first"),
        bias=("error", "mean"),
        spread=("error", "std"),
        repeats=("error", "size"),
        paired=("pairing_optimal", "mean"),
    )
    return summary.assign(standard_error=summary["spread"] / summary["repeats"] ** 0.5).reset_index()
