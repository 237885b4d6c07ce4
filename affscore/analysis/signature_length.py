"""What the number of activations alone does to the distance of two signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from affscore.analysis.checks import check_permutations, distances_between
from affscore.errors import AffscoreError

__all__ = ["FamilyLead", "MatrixCorrelation", "family_lead", "length_distances", "matrix_correlation", "per_step"]


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


@dataclass(frozen=True)
class FamilyLead:
    """How much better one clustering finds the families than another.

    Attributes:
        value: The difference of their adjusted Rand indices.
        error: Its standard error over networks.
    """

    value: float
    error: float


def family_lead(
    distances: pd.DataFrame, rival: pd.DataFrame, families: Sequence[str], subsets: int = 200, seed: int = 0
) -> FamilyLead:
    r"""The lead of one clustering over another in finding the families, with its error over networks.

    Both are average-linkage clusterings into as many clusters as there are families. The error is the jackknife that
    leaves out d of k networks at a time, a sixth of them:

    .. math:: s^2 = \frac{k - d}{d} \operatorname{Var}_{\text{subsets}} \text{lead}

    Leaving out one at a time is not enough for what jumps, as the cut of a tree does.

    Args:
        distances: Between the networks.
        rival: Other distances, of the same networks, as :func:`length_distances` makes them.
        families: The family of each.
        subsets: How many subsets to draw.
        seed: Of the drawing.

    Returns:
        The lead and its error; both missing for a single family, and where no family has two members.

    Raises:
        AffscoreError: What is no distance, other networks, or not a family for each.

    Source: the delete-d jackknife (Shao and Wu, 1989); the measure is that of
        :func:`affscore.analysis.family_agreement`.

    >>> near = [[0, 1, 8, 8], [1, 0, 8, 8], [8, 8, 0, 1], [8, 8, 1, 0]]
    >>> names = ["a", "b", "c", "d"]
    >>> wrong = pd.DataFrame(near, ["a", "c", "b", "d"], ["a", "c", "b", "d"]).loc[names, names]
    >>> family_lead(pd.DataFrame(near, names, names), wrong, ["u", "u", "v", "v"]).value
    1.5
    """
    both = [distances_between(table) for table in (distances, rival)]
    if list(distances.index) != list(rival.index) or len(families) != len(distances):
        raise AffscoreError(
            "expected two tables of distances between the same networks, and a family for each of these"
        )
    codes = pd.factorize(pd.Series(list(families)))[0]
    every, count = np.arange(len(codes)), len(codes)
    if not 1 < len(set(codes)) < count:
        return FamilyLead(np.nan, np.nan)

    def lead(kept: NDArray[np.intp]) -> float:
        trees = (hierarchy.linkage(squareform(one[np.ix_(kept, kept)], checks=False), "average") for one in both)
        wanted = len(set(codes[kept]))
        ours, theirs = (
            adjusted_rand_score(codes[kept], hierarchy.fcluster(tree, wanted, "maxclust")) for tree in trees
        )
        return float(ours - theirs)

    out = max(count // 6, 1)
    generator = np.random.default_rng(seed)
    leads = [lead(np.sort(generator.choice(every, count - out, replace=False))) for _ in range(subsets)]
    return FamilyLead(lead(every), float(np.sqrt((count - out) / out) * np.std(leads)))
