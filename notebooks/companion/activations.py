"""Activation functions by name, and the limits that their scores tend to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from joblib import Parallel, delayed
from numpy.polynomial.hermite_e import hermevander
from numpy.typing import NDArray
from scipy.special import factorial
from torch import Tensor

from affscore import transport
from affscore.errors import AffscoreError
from affscore.transport import AffinityScore
from affscore.transport.samples import CONSTANT_TOLERANCE

Matrix = NDArray[np.float64]

DEGREE = 60
"""Hermite polynomials up to this degree: enough for correlations between coordinates up to about 0.9."""


def limit_score(function: Activation, mean: float = 0.0, std: float = 1.0) -> float:
    r"""The score of a function of independent normal coordinates in high dimension.

    .. math:: \lim_{d \to \infty} \rho(X, \sigma(X)) = 1 - \sqrt{1 - \max(c, 0)},\qquad
       c = \operatorname{corr}(x, \sigma(x)),\quad x \sim \mathcal{N}(m, s^2),

    for a fixed number of points. There the points are all equally far from each other: where c > 0 the
    pairs are the cheapest coupling, and where c < 0 any other one is cheaper, but none is better than
    chance. For an increasing function the limit is also the score of the two distributions on a line.

    Args:
        function: A function of tensors that acts on each entry.
        mean: m.
        std: s > 0.

    Returns:
        A number in [0, 1], by quadrature with an error of about 1e-6; 1 where the function is constant up
        to rounding.

    Raises:
        AffscoreError: A standard deviation that is not positive, or a function that does not act entrywise.

    >>> round(limit_score(torch.relu), 6)  # corr = sqrt(pi / (2 (pi - 1)))
    0.621093
    >>> [round(limit_score(function), 6) for function in (lambda x: 2 * x + 1, torch.neg, torch.ones_like)]
    [1.0, 0.0, 1.0]
    """
    correlation = correlation_with_input(function, mean, std)
    return 1.0 if correlation is None else 1.0 - (1.0 - max(correlation, 0.0)) ** 0.5


def paired_limit(function: Activation, covariance: Matrix) -> float:
    r"""The score of the true covariances, with the pairs as the coupling, for normal coordinates of mean zero.

    .. math:: 1 - \sqrt{1 - \frac{\operatorname{tr}(A\, S_{XY})}{\operatorname{tr} S_Y}}

    It is what both estimates of the covariance converge to with the number of points, as long as the pairs
    stay the optimal coupling. With the orthonormal Hermite polynomials, :math:`x_i = s_i z_i`, the correlations r and
    :math:`\sigma(s_i z) = \sum_k a_{ik} h_k(z)` the covariances of y are known (Mehler): the entry (i, j) of
    :math:`S_Y` is :math:`\sum_{k \ge 1} a_{ik} a_{jk} r_{ij}^k` and that of :math:`S_{XY}` is
    :math:`s_i a_{j1} r_{ij}`.

    Args:
        function: A function of tensors that acts on each entry.
        covariance: Array (d, d), the covariance matrix of the input, positive definite.

    Returns:
        A number, at most 1.

    Raises:
        AffscoreError: A matrix that is no positive definite covariance matrix, or a constant function.

    >>> round(paired_limit(torch.relu, np.eye(2)), 3)  # the closed form of independent coordinates
    0.621
    """
    covariance = np.asarray(covariance, dtype=np.float64)
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= 0:
        raise AffscoreError(f"the covariance matrix must be positive definite, its smallest eigenvalue is {values[0]}")
    stds = np.diag(covariance) ** 0.5
    correlation = covariance / stds / stds[:, None]
    distinct, which = np.unique(stds, return_inverse=True)
    expansions, variances = zip(*(_hermite_coefficients(function, float(std)) for std in distinct), strict=True)
    coefficients, variance = np.stack(expansions)[which], np.array(variances)[which]
    if not variance.any():
        raise AffscoreError("the function is constant, so that its outputs have no covariance")
    # Horner; on the diagonal the series converges slowly for functions with kinks, but its sum is known
    spread = np.zeros_like(correlation)
    for coefficient in coefficients.T[:0:-1]:
        spread = (spread + np.outer(coefficient, coefficient)) * correlation
    np.fill_diagonal(spread, variance)
    root = (vectors * values**0.5) @ vectors.T
    inverse_root = (vectors / values**0.5) @ vectors.T
    middle_values, middle = np.linalg.eigh(root @ spread @ root)
    matrix = inverse_root @ (middle * middle_values.clip(min=0) ** 0.5) @ middle.T @ inverse_root
    cross = stds[:, None] * correlation * coefficients[:, 1]
    explained = np.sum(matrix * cross) / np.trace(spread)
    return float(1 - max(1 - explained, 0.0) ** 0.5)


def correlation_with_input(function: Activation, mean: float = 0.0, std: float = 1.0) -> float | None:
    """The correlation of x and function(x) for a normal x; None where the function is constant up to rounding.

    >>> round(correlation_with_input(torch.neg), 9)
    -1.0
    """
    z, weights, y = _on_normal_input(function, mean, std)
    centre = float(weights @ y)
    spread = float(weights @ (y - centre) ** 2) ** 0.5
    if spread <= CONSTANT_TOLERANCE * float(np.finfo(np.float64).eps) * abs(centre):
        return None
    return float(np.clip(weights @ (z * (y - centre)) / spread, -1.0, 1.0))


def points_needed(width: int, tolerance: float = 0.01, activation: Activation | None = None) -> int:
    """As :func:`affscore.transport.points_needed`, for an activation of standard normal inputs.

    Args:
        width: d.
        tolerance: The bias that one is willing to accept, > 0.
        activation: The activation; None for the worst case of all correlations.

    Returns:
        n.

    Raises:
        AffscoreError: A width or a tolerance that is not positive.

    >>> points_needed(100), points_needed(100, activation=torch.relu)
    (821, 754)
    """
    correlation = None if activation is None else max(correlation_with_input(activation) or 0.0, 0.0)
    return transport.points_needed(width, tolerance, correlation)


@cache
def normal_quadrature() -> tuple[Matrix, Matrix]:
    """Nodes z and weights of the standard normal distribution: a fine grid, good for functions with kinks.

    >>> z, weights = normal_quadrature()
    >>> round(float(weights.sum()), 12), round(float(weights @ z**2), 12)
    (1.0, 1.0)
    """
    z = np.linspace(-16.0, 16.0, 32001)
    density = np.exp(-(z**2) / 2)
    weights = density / density.sum()
    z.flags.writeable = weights.flags.writeable = False  # everybody gets the same arrays
    return z, weights


def _on_normal_input(function: Activation, mean: float, std: float) -> tuple[Matrix, Matrix, Matrix]:
    """Nodes and weights of the quadrature, and the values of the function there."""
    z, weights = normal_quadrature()
    x = torch.from_numpy(mean + std * z)
    y = function(x)
    if not isinstance(y, Tensor) or y.shape != x.shape:
        raise AffscoreError("the function must map a tensor to a tensor of the same shape, entry by entry")
    return z, weights, y.to(torch.float64).numpy()


def _hermite_coefficients(function: Activation, std: float) -> tuple[Matrix, float]:
    """Coefficients of function(std z), z standard normal, in orthonormal Hermite polynomials of z, and its variance."""
    _, weights, y = _on_normal_input(function, 0.0, std)
    coefficients = (weights * y) @ _hermite_polynomials()
    return coefficients, float(weights @ (y - coefficients[0]) ** 2)


@cache
def _hermite_polynomials() -> Matrix:
    """The orthonormal Hermite polynomials at the nodes of the quadrature, array (nodes, DEGREE + 1)."""
    return hermevander(normal_quadrature()[0], DEGREE) / factorial(np.arange(DEGREE + 1)) ** 0.5


Activation: TypeAlias = Callable[[Tensor], Tensor]
"""A function that acts on each entry of a tensor."""

ACTIVATIONS: Mapping[str, Activation] = MappingProxyType({
    "gelu": F.gelu, "hardswish": F.hardswish, "hardtanh": F.hardtanh, "leaky_relu": F.leaky_relu, "relu": F.relu,
    "relu6": F.relu6, "sigmoid": torch.sigmoid, "silu": F.silu, "tanh": torch.tanh,
})  # fmt: skip
"""The nine activations of figures 6 and 7, as PyTorch computes them; the slope of LeakyReLU is 0.01."""


NAMES = {
    "gelu": "GELU", "hardswish": "HardSwish", "hardtanh": "HardTanh", "leaky_relu": "LeakyReLU", "relu": "ReLU",
    "relu6": "ReLU6", "sigmoid": "Sigmoid", "silu": "SiLU", "tanh": "Tanh",
}  # fmt: skip
"""How the activations are written."""


def named_activations(activations: Sequence[str] | Mapping[str, Activation]) -> dict[str, Activation]:
    """The functions that are meant by names or by a mapping.

    >>> list(named_activations(["relu", "tanh"]))
    ['relu', 'tanh']
    """
    if not isinstance(activations, Mapping):
        names = [activations] if isinstance(activations, str) else list(activations)
        if unknown := [name for name in names if name not in ACTIVATIONS]:
            raise AffscoreError(f"there is no activation {unknown[0]!r}; known are {', '.join(ACTIVATIONS)}")
        activations = {name: ACTIVATIONS[name] for name in names}
    if not activations:
        raise AffscoreError("expected at least one activation, got none")
    return dict(activations)


def activation_graphs(
    activations: Sequence[str] | Mapping[str, Activation] = tuple(ACTIVATIONS),
    low: float = -21.0,
    high: float = 21.0,
    points: int = 801,
) -> pd.DataFrame:
    """The values of activations on an interval.

    Args:
        activations: Names from :data:`ACTIVATIONS`, or functions of tensors by name.
        low: Lower end of the interval.
        high: Upper end.
        points: At how many places, equally spaced.

    Returns:
        A row for each place (the index), a column for each activation.

    Raises:
        AffscoreError: An unknown activation.

    >>> activation_graphs(["relu"], -1, 1, points=3)["relu"].tolist()
    [0.0, 0.0, 1.0]
    """
    x = torch.linspace(low, high, points, dtype=torch.float64)
    graphs = {name: function(x).numpy() for name, function in named_activations(activations).items()}
    return pd.DataFrame(graphs, index=x.numpy())


def score_row(score: AffinityScore) -> dict[str, Any]:
    """The columns that tables of scores share: score, raw, pairing_optimal, bound_exceeded."""
    others = ("raw", "pairing_optimal", "bound_exceeded")
    return {"score": score.value, **{name: getattr(score, name) for name in others}}


def run_all(
    function: Callable[..., list[dict[str, Any]]], tasks: Sequence[tuple[Any, ...]], n_jobs: int
) -> pd.DataFrame:
    """Call ``function(*task)`` for each task; the rows that the calls return, in the order of the tasks, as a table.

    With several jobs each is a process of its own that computes on one thread: for scores of small clouds
    that is faster than one process with many threads. The results do not depend on the number of jobs.

    Args:
        function: What to call.
        tasks: The arguments of the calls.
        n_jobs: Processes; 1 for none but this one, -1 for one per core.

    >>> run_all(lambda x: [{"x": x, "square": x**2}], [(2,), (3,)], n_jobs=1)["square"].tolist()
    [4, 9]
    """
    options = {"backend": "loky", "inner_max_num_threads": 1} if n_jobs != 1 else {}
    results = Parallel(n_jobs=n_jobs, return_as="generator", **options)(delayed(function)(*task) for task in tasks)
    with warnings.catch_warnings():
        # loky replaces a worker whose memory has grown, loses nothing by it, and warns all the same
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        return pd.DataFrame(list(chain.from_iterable(results)))
