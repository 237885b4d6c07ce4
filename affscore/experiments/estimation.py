"""How far a score is from its limit: bias and spread over width, number of points and kind of input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import torch

from affscore.errors import AffscoreError
from affscore.experiments.activations import Activation, named_activations, score_row
from affscore.experiments.limits import Matrix, limit_score, paired_limit
from affscore.experiments.parallel import run_all
from affscore.experiments.random_inputs import power_law_correlation
from affscore.transport import affinity_score
from affscore.transport.covariance import CovarianceName
from affscore.transport.extrapolation import extrapolated_affinity_scores

COVARIANCES: tuple[CovarianceName, ...] = ("empirical", "ledoit-wolf")

DISTRIBUTIONS: Mapping[str, Callable[[int], Matrix]] = MappingProxyType({
    "independent": np.eye,
    "power law": lambda width: np.diag(1.0 / np.arange(1, width + 1)),
    "power law, rotated": lambda width: power_law_correlation(width, 1.0),
})  # fmt: skip
"""Covariance matrices of normal inputs by their width: of equal variance, and with a spectrum like 1/k, along the axes
or in random directions (scaled to equal variances)."""


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


def extrapolation_errors(
    activations: Sequence[str] | Mapping[str, Activation] = ("relu",),
    ratios: Sequence[float] = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8),
    covariances: Sequence[CovarianceName] = COVARIANCES,
    *,
    width: int = 64,
    distributions: Sequence[str] = tuple(DISTRIBUTIONS),
    repeats: int = 8,
    seed: int = 0,
    n_jobs: int = 1,
    progress: bool = False,
) -> pd.DataFrame:
    """How far scores are from their limit as measured, and after :func:`extrapolated_affinity_scores`.

    Args:
        activations: Names, or functions of tensors by name.
        ratios: n/d; n is rounded down.
        covariances: "ledoit-wolf" and "empirical", or one of them.
        width: d.
        distributions: Names from :data:`DISTRIBUTIONS`.
        repeats: Fresh samples for each combination, which covariances and activations share.
        seed: Seed of all samples, >= 0.
        n_jobs: Processes; -1 for one per core.
        progress: Whether to show a bar.

    Returns:
        One row for each distribution, activation, covariance and n, with d, limit (:func:`paired_limit`), and the
        root mean square errors as_measured and extrapolated of the exact score.

    Raises:
        AffscoreError: An unknown activation, distribution or covariance, fewer than 4 samples, or bad numbers.

    >>> table = extrapolation_errors(ratios=[1 / 2], distributions=["independent"], repeats=4)
    >>> table.set_index("covariance")[["as_measured", "extrapolated"]].round(1).T.to_dict("list")
    {'empirical': [0.2, 0.1], 'ledoit-wolf': [0.0, 0.0]}
    """
    functions = named_activations(activations)
    _check_some(ratios=ratios, covariances=covariances, distributions=distributions, repeats=range(repeats))
    if unknown := [name for name in distributions if name not in DISTRIBUTIONS]:
        raise AffscoreError(f"there is no distribution {unknown[0]!r}; known are {', '.join(DISTRIBUTIONS)}")
    points = [int(ratio * width) for ratio in ratios]
    if min(points) < 4:
        raise AffscoreError(f"an extrapolation needs at least 4 samples, got {min(points)}")
    matrices = {name: DISTRIBUTIONS[name](width) for name in distributions}
    limits = {
        (distribution, name): paired_limit(function, matrices[distribution])
        for distribution, (name, function) in product(distributions, functions.items())
    }

    def errors_of_one_draw(distribution: str, name: str, n: int, repeat: int) -> list[dict[str, Any]]:
        noise = np.random.default_rng([seed, repeat, n, width]).standard_normal((n, width))
        x = torch.from_numpy(noise @ np.linalg.cholesky(matrices[distribution]).T)
        y, limit = functions[name](x), limits[distribution, name]
        rows = []
        for covariance in covariances:
            score = affinity_score(x, y, covariance)
            exact, _ = extrapolated_affinity_scores(x, y, score)
            sample = {"distribution": distribution, "activation": name, "covariance": covariance, "n": n, "d": width}
            rows.append({**sample, "limit": limit, "as_measured": score.value - limit, "extrapolated": exact - limit})
        return rows

    table = run_all(
        errors_of_one_draw, list(product(distributions, functions, points, range(repeats))), n_jobs, progress
    )
    squares = table.assign(**{name: table[name] ** 2 for name in ("as_measured", "extrapolated")})
    keys = ["distribution", "activation", "covariance", "n", "d", "limit"]
    return squares.groupby(keys, sort=False).mean().pow(0.5).reset_index()
