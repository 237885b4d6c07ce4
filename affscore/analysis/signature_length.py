"""What the number of activations alone does to the distance of two signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.analysis.checks import check_permutations, distances_between
from affscore.errors import AffscoreError

__all__ = ["MatrixCorrelation", "length_distances", "matrix_correlation", "per_step"]


def length_distances(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Distances that know of each signature nothing but how many scores it has.

    Args:
        signatures: Scores by name.

    Returns:
        The difference of the lengths, as a matrix like that of :func:`affscore.analysis.distance_matrix`.

    Source: a null model for figure 5 A; not in the papers.

    >>> length_distances({"a": [0.5], "b": [0.5, 0.6, 0.7]}).to_numpy().tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    lengths = np.array([len(np.asarray(scores)) for scores in signatures.values()], dtype=float)
    names = list(signatures)
    return pd.DataFrame(np.abs(lengths[:, None] - lengths), index=names, columns=names)


def per_step(distances: pd.DataFrame, signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    r"""Warping distances as a root mean square over the steps of the alignment.

    The distance is the root of a **sum** over aligned pairs, of which there are at least as many as the longer of the
    two signatures has scores. Dividing by the root of that number takes the length out, up to the steps in which both
    signatures wait in turn:

    .. math:: D'(a, b) = D(a, b) / \sqrt{\max(|a|, |b|)}

    Args:
        distances: As :func:`affscore.analysis.distance_matrix` makes it.
        signatures: The scores, with the same names.

    Returns:
        The matrix of D'.

    Raises:
        AffscoreError: Other names.

    >>> from affscore.analysis import distance_matrix
    >>> signatures = {"a": [0.5] * 4, "b": [0.75] * 100}
    >>> distances = distance_matrix(signatures)
    >>> distances.to_numpy().tolist(), per_step(distances, signatures).to_numpy().tolist()
    ([[0.0, 2.5], [2.5, 0.0]], [[0.0, 0.25], [0.25, 0.0]])
    """
    distances_between(distances)
    if list(distances.index) != list(signatures):
        raise AffscoreError("the distances must have the names of the signatures, in their order")
    lengths = np.array([len(np.asarray(scores)) for scores in signatures.values()], dtype=float)
    return distances / np.sqrt(np.maximum(lengths[:, None], lengths))


@dataclass(frozen=True)
class MatrixCorrelation:
    """How two matrices of distances between the same networks go together.

    Attributes:
        correlation: Spearman's rank correlation over all pairs.
        p_value: Share of the shuffled networks with as large a correlation (one-sided), the true order counted.
    """

    correlation: float
    p_value: float


def matrix_correlation(
    one: pd.DataFrame, other: pd.DataFrame, permutations: int = 9999, seed: int = 0
) -> MatrixCorrelation:
    """The correlation of two matrices of distances, tested as Mantel did.

    The pairs of one network are not independent of each other, so that the usual test of a correlation does not
    hold; rows and columns of one matrix are shuffled together instead.

    Args:
        one: A symmetric matrix of distances.
        other: Another, with the same names in the same order.
        permutations: How often to shuffle.
        seed: Of the shuffling.

    Returns:
        The correlation and its test; NaN for fewer than three networks, or where all distances are the same.

    Raises:
        AffscoreError: Other names, what is no distance, or no permutations.

    Source: Mantel (1967); not in the papers.

    >>> names = list("abcdef")
    >>> places = np.array([0, 1, 3, 7, 12, 20])
    >>> distances = pd.DataFrame(abs(places[:, None] - places), names, names)
    >>> matrix_correlation(distances, distances**2, permutations=99).correlation
    1.0
    """
    fixed, moving = distances_between(one), distances_between(other)
    if list(one.index) != list(other.index):
        raise AffscoreError("both matrices must have the same names in the same order")
    check_permutations(permutations)
    first, second = np.triu_indices(len(one), 1)
    if len(first) < 3 or np.ptp(fixed[first, second]) == 0 or np.ptp(moving[first, second]) == 0:
        return MatrixCorrelation(np.nan, np.nan)
    ranks = np.zeros_like(moving)
    ranks[first, second] = _standardized(moving[first, second])
    ranks += ranks.T
    aim = _standardized(fixed[first, second])
    value = float(aim @ ranks[first, second])
    generator = np.random.default_rng(seed)
    as_large = 0
    for _ in range(permutations):
        order = generator.permutation(len(one))
        as_large += bool(aim @ ranks[order[first], order[second]] >= value - 1e-12)
    return MatrixCorrelation(round(value, 12), (1 + as_large) / (1 + permutations))


def _standardized(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ranks = stats.rankdata(values)
    centred = ranks - ranks.mean()
    return centred / np.linalg.norm(centred)
