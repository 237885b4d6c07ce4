"""Estimating the affinity score well: what the number of points, the covariance and the reduction do to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.analysis.activation_domain import (
    ACTIVATIONS,
    Activation,
    correlation_with_input,
    limit_score,
    named_activations,
    normal_quadrature,
)
from affscore.analysis.parallel import run_all
from affscore.errors import AffscoreError
from affscore.transport import affinity_score
from affscore.transport.covariance import CovarianceName

__all__ = [
    "bias_and_spread",
    "estimation_sweep",
    "first_order_bias",
    "heavy_tailed_sample",
    "paired_limit",
    "points_needed",
    "power_law_correlation",
    "reduction_scores",
]

Matrix = NDArray[np.float64]

DEGREE = 60
"""Hermite polynomials up to this degree: enough for correlations between coordinates up to about 0.9."""


def reduction_scores(
    activations: Sequence[str] | Mapping[str, Activation] = tuple(ACTIVATIONS),
    *,
    points: int = 1000,
    channels: int = 100,
    positions: int = 9,
    shared: float = 0.0,
    covariance: CovarianceName = "ledoit-wolf",
    seed: int = 0,
) -> pd.DataFrame:
    r"""Score activations on random feature maps that are averaged, summed or flattened.

    A map has ``channels`` times ``positions`` standard normal entries. Entries of different channels are
    independent; two positions of the same channel have the correlation ``shared``:

    .. math:: x_{icp} = \sqrt{r}\, g_{ic} + \sqrt{1 - r}\, z_{icp}.

    Args:
        activations: Names, or functions of tensors by name.
        points: n, the number of maps.
        channels: Channels of a map.
        positions: Positions of a map.
        shared: r in [0, 1]: 0 for independent positions, 1 for maps that are constant over the positions.
        covariance: "ledoit-wolf" or "empirical".
        seed: Seed of the sample.

    Returns:
        One row for each activation, and the columns mean, sum and flatten, the scores of (r(X), r(s(X))),
        and reduce_first, that of (r(X), s(r(X))) with the average as r. All lie in [0, 1].

    Raises:
        AffscoreError: An unknown activation, or a correlation outside [0, 1].

    Source: figure 7, top left (appendix E), and definition 3.1.

    >>> table = reduction_scores(["relu"], points=200, channels=50, positions=4)
    >>> table.round(1).values.tolist()
    [[0.6, 0.6, 0.6, 0.6]]
    """
    if not 0 <= shared <= 1:
        raise AffscoreError(f"the correlation of two positions must be in [0, 1], got {shared}")
    rng = np.random.default_rng(seed)
    own, common = rng.standard_normal((points, channels, positions)), rng.standard_normal((points, channels, 1))
    x = torch.from_numpy(shared**0.5 * common + (1 - shared) ** 0.5 * own)
    rows = {}
    for name, function in named_activations(activations).items():
        y = function(x)
        averages = x.mean(dim=2)
        pairs = {
            "mean": (averages, y.mean(dim=2)),
            "sum": (x.sum(dim=2), y.sum(dim=2)),
            "flatten": (x.flatten(1), y.flatten(1)),
            "reduce_first": (averages, function(averages)),
        }
        rows[name] = {key: affinity_score(*pair, covariance).value for key, pair in pairs.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("activation")


def estimation_sweep(
    activations: Sequence[str] | Mapping[str, Activation],
    widths: Sequence[int],
    points: Sequence[int],
    covariances: Sequence[CovarianceName] = ("empirical", "ledoit-wolf"),
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
    for what, numbers in (("widths", widths), ("points", points), ("covariances", covariances)):
        if not len(numbers):
            raise AffscoreError(f"expected at least one of {what}, got none")
    if repeats < 1:
        raise AffscoreError(f"expected at least one repeat, got {repeats}")
    tasks = [
        (name, function, width, n, tuple(covariances), exponent, repeat, seed)
        for exponent, width, n, repeat in product(exponents, widths, points, range(repeats))
        for name, function in functions.items()
    ]
    rows = run_all(_scores_of_one_draw, tasks, n_jobs=n_jobs, progress=progress, description="samples")
    table = pd.DataFrame([row for some in rows for row in some])
    limits = {
        (name, exponent, width): _limit(function, exponent, width)
        for (name, function), exponent, width in product(functions.items(), exponents, widths)
    }
    keys = zip(table["activation"], table["exponent"], table["width"], strict=True)
    table["limit"] = [limits[key] for key in keys]
    table["error"] = table["raw"] - table["limit"]
    return table


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
    summary["standard_error"] = summary["spread"] / summary["repeats"] ** 0.5
    return summary.reset_index()


def first_order_bias(correlation: float, ratio: float) -> float:
    r"""How much too high the score with the empirical covariance is, to first order in d/n.

    .. math:: \frac{c\,(1 + c)\sqrt{1 - c}}{8} \cdot \frac{d}{n},\qquad c = \operatorname{corr}(x, \sigma(x)).

    Derived for independent coordinates: expand :math:`A`, :math:`S_Y` and the cross covariance around their
    expectations; the terms of first order have mean zero, those of second order leave
    :math:`\mathbb{E} \operatorname{tr}(A S_{XY}) / \operatorname{tr} S_Y = c + \frac14 c (1 - c^2) \frac{d}{n}`.
    Measured values are up to a tenth larger at widths near 100. Where the pairs are not the optimal coupling
    (a low correlation, many points in few dimensions), the coupling adds a bias of its own.

    Args:
        correlation: c, in [0, 1].
        ratio: n/d > 0; the formula is good where it is 2 or more.

    Returns:
        The bias, >= 0. No correlation makes it larger than 0.083 d/n.

    Raises:
        AffscoreError: A correlation outside [0, 1] or a ratio that is not positive.

    >>> round(first_order_bias(0.8564, 1.0), 3)  # ReLU
    0.075
    >>> first_order_bias(1.0, 1.0)  # an affine map is found from any sample
    0.0
    """
    if not 0 <= correlation <= 1 or ratio <= 0:
        raise AffscoreError(f"expected a correlation in [0, 1] and n/d > 0, got {correlation} and {ratio}")
    return correlation * (1 + correlation) * (1 - correlation) ** 0.5 / 8 / ratio


def points_needed(width: int, tolerance: float = 0.01, activation: Activation | None = None) -> int:
    """How many points keep the bias of the empirical covariance below a tolerance, to first order.

    The rule of :func:`first_order_bias`, solved for n. What it costs to be wrong: shrinkage needs fewer
    points where the coordinates are independent and of equal variance, and up to twice as many where a few
    directions dominate.

    Args:
        width: d.
        tolerance: The bias that one is willing to accept, > 0.
        activation: The activation, on standard normal inputs; None for the worst case of all correlations.

    Returns:
        n.

    Raises:
        AffscoreError: A width or a tolerance that is not positive.

    >>> points_needed(100), points_needed(100, activation=torch.relu)
    (821, 754)
    """
    if width < 1 or tolerance <= 0:
        raise AffscoreError(f"expected a width and a tolerance above 0, got {width} and {tolerance}")
    # the derivative of c (1 + c) sqrt(1 - c) vanishes where 5 c^2 - c - 2 = 0
    worst = (1 + 41**0.5) / 10
    correlation = worst if activation is None else max(correlation_with_input(activation) or 0.0, 0.0)
    return max(ceil(width * first_order_bias(correlation, 1.0) / tolerance), 2)


def paired_limit(function: Activation, correlation: Matrix) -> float:
    r"""The score of the true covariances, with the pairs as the coupling, for standard normal coordinates.

    .. math:: 1 - \sqrt{1 - \frac{\operatorname{tr}(A\, S_{XY})}{\operatorname{tr} S_Y}}

    It is what both estimates of the covariance converge to with the number of points, as long as the pairs
    stay the optimal coupling. With the orthonormal Hermite polynomials and
    :math:`\sigma = \sum_k a_k h_k` the covariances of y are known (Mehler): the entry (i, j) of
    :math:`S_Y` is :math:`\sum_{k \ge 1} a_k^2 r_{ij}^k` and that of :math:`S_{XY}` is :math:`a_1 r_{ij}`.

    Args:
        function: A function of tensors that acts on each entry.
        correlation: Array (d, d), the correlation matrix of the input, positive definite.

    Returns:
        A number, at most 1.

    Raises:
        AffscoreError: A matrix that is no positive definite correlation matrix, or a constant function.

    >>> round(paired_limit(torch.relu, np.eye(2)), 3)  # the closed form of independent coordinates
    0.621
    """
    correlation = np.asarray(correlation, dtype=np.float64)
    if correlation.ndim != 2 or not np.allclose(correlation, correlation.T) or not np.allclose(np.diag(correlation), 1):
        raise AffscoreError("expected a symmetric matrix with ones on the diagonal")
    values, vectors = np.linalg.eigh(correlation)
    if values[0] <= 0:
        raise AffscoreError(f"the correlation matrix must be positive definite, its smallest eigenvalue is {values[0]}")
    coefficients, variance = _hermite_coefficients(function)
    if variance == 0:
        raise AffscoreError("the function is constant, so that its outputs have no covariance")
    # Horner; on the diagonal the series converges slowly for functions with kinks, but its sum is known
    spread = np.zeros_like(correlation)
    for coefficient in coefficients[:0:-1]:
        spread = (spread + coefficient**2) * correlation
    np.fill_diagonal(spread, variance)
    root = (vectors * values**0.5) @ vectors.T
    inverse_root = (vectors / values**0.5) @ vectors.T
    middle_values, middle = np.linalg.eigh(root @ spread @ root)
    matrix = inverse_root @ (middle * middle_values.clip(min=0) ** 0.5) @ middle.T @ inverse_root
    explained = coefficients[1] * np.sum(matrix * correlation) / np.trace(spread)
    return float(1 - max(1 - explained, 0.0) ** 0.5)


def power_law_correlation(width: int, exponent: float, seed: int = 0) -> Matrix:
    """A correlation matrix with a spectrum that decays like k**-exponent, in random directions.

    The spectrum is imposed on a covariance in a random orthonormal basis, which is then scaled to ones on
    the diagonal; that changes the spectrum a little.

    Args:
        width: d.
        exponent: >= 0; 0 gives the identity, and with 1.5 few directions hold most of the variance.
        seed: Seed of the basis.

    Returns:
        Array (d, d).

    Raises:
        AffscoreError: A negative exponent.

    >>> power_law_correlation(3, 0.0).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if exponent < 0:
        raise AffscoreError(f"the exponent must be at least 0, got {exponent}")
    if exponent == 0:
        return np.eye(width)
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((width, width)))
    matrix = (basis * np.arange(1, width + 1.0) ** -exponent) @ basis.T
    scale = np.diag(matrix) ** -0.5
    matrix = matrix * scale * scale[:, None]
    np.fill_diagonal(matrix, 1.0)
    return (matrix + matrix.T) / 2


def heavy_tailed_sample(
    points: int = 512,
    width: int = 2048,
    *,
    degrees: float = 1.0,
    large: int = 200,
    small: float = 1e-3,
    seed: int = 0,
) -> Tensor:
    """Normal samples whose rows have random sizes, a few large coordinates and many tiny ones.

    Each row is multiplied by the magnitude of a Student t variable: the fewer degrees of freedom, the
    heavier the tails. With one degree a few rows hold nearly all of the variance.

    Args:
        points: n.
        width: d.
        degrees: Degrees of freedom of Student's t; infinity for rows of one size.
        large: Coordinates of scale 1.
        small: Scale of the others.
        seed: Seed of the sample.

    Returns:
        Tensor (n, d), float64.

    >>> sample = heavy_tailed_sample(4, 10, large=2)
    >>> tuple(sample.shape), bool(sample[:, 2:].abs().max() < 0.1 * sample[:, :2].abs().max())
    ((4, 10), True)
    """
    rng = np.random.default_rng(seed)
    sizes = np.abs(rng.standard_t(degrees, size=(points, 1))) if np.isfinite(degrees) else np.ones((points, 1))
    scale = np.where(np.arange(width) < large, 1.0, small)
    return torch.from_numpy(rng.standard_normal((points, width)) * scale * sizes)


def _scores_of_one_draw(
    name: str,
    function: Activation,
    width: int,
    points: int,
    covariances: tuple[CovarianceName, ...],
    exponent: float,
    repeat: int,
    seed: int,
) -> list[dict[str, Any]]:
    """The rows of the table for one activation on one sample, which is the same for all activations."""
    noise = np.random.default_rng([seed, repeat, points, width]).standard_normal((points, width))
    if exponent != 0:
        noise = noise @ np.linalg.cholesky(power_law_correlation(width, exponent)).T
    x = torch.from_numpy(noise)
    y = function(x)
    rows = []
    for covariance in covariances:
        score = affinity_score(x, y, covariance)
        rows.append(
            {
                "activation": name,
                "exponent": exponent,
                "width": width,
                "points": points,
                "ratio": points / width,
                "covariance": covariance,
                "repeat": repeat,
                "score": score.value,
                "raw": score.raw,
                "pairing_optimal": score.pairing_optimal,
                "bound_exceeded": score.bound_exceeded,
            }
        )
    return rows


def _limit(function: Activation, exponent: float, width: int) -> float:
    """The limit of the score; for independent coordinates it has a closed form for every width."""
    if exponent == 0:
        return limit_score(function)
    return paired_limit(function, power_law_correlation(width, exponent))


def _hermite_coefficients(function: Activation) -> tuple[Matrix, float]:
    """Coefficients of a function of a standard normal variable in orthonormal Hermite polynomials, and its variance."""
    z, weights = normal_quadrature()
    y = function(torch.from_numpy(z)).to(torch.float64).numpy()
    before, current = np.zeros_like(z), np.ones_like(z)
    coefficients = []
    for degree in range(DEGREE + 1):
        coefficients.append(float(weights @ (y * current)))
        before, current = current, (z * current - degree**0.5 * before) / (degree + 1) ** 0.5
    return np.array(coefficients), float(weights @ (y - coefficients[0]) ** 2)
