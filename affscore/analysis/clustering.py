"""Do signatures tell the family of a network? Clusterings of distances, and tests against chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from affscore.analysis.checks import check_permutations, distances_between
from affscore.errors import AffscoreError

__all__ = ["Agreement", "clusters", "cophenetic_correlation", "family_agreement", "leaf_order", "linkage", "relatives"]

_SAME = 1e-9
"""Distances that differ by less, relative to their size, are equally near."""

Method: TypeAlias = Literal["average", "single", "complete"]
"""How far two clusters are apart: the mean, the smallest or the largest distance of their members."""


def linkage(distances: pd.DataFrame, method: Method = "average") -> NDArray[np.float64]:
    """Hierarchical clustering: from single networks up, the two nearest clusters are joined again and again.

    Args:
        distances: A symmetric matrix, as :func:`affscore.analysis.distance_matrix` makes it.
        method: How far two clusters are apart: ``average`` (the mean distance of their members), ``single`` (the
            smallest) or ``complete`` (the largest).

    Returns:
        SciPy's linkage matrix, (k - 1, 4): which clusters were joined, at which height, and their size.

    Raises:
        AffscoreError: Fewer than two networks, no distances, or another method.

    Source: figure 5 A of the paper, which does not say how the distance between clusters is taken.

    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 4], [1, 0, 6], [4, 6, 0]], names, names)
    >>> linkage(distances)[:, 2].tolist()
    [1.0, 5.0]
    """
    if method not in get_args(Method):
        raise AffscoreError(f"the method must be average, single or complete, got {method!r}")
    return hierarchy.linkage(_condensed(distances), method)


def cophenetic_correlation(distances: pd.DataFrame, tree: NDArray[np.float64]) -> float:
    """How faithful a clustering is: the correlation of distances with the heights at which pairs are joined.

    Args:
        distances: What was clustered.
        tree: Its clustering (:func:`linkage`).

    Returns:
        Pearson's correlation over all pairs, 1 where the tree reproduces the distances; NaN for two networks.

    Raises:
        AffscoreError: What is no distance, or the tree of other networks.

    Source: Sokal and Rohlf (1962); not in the papers.

    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 4], [1, 0, 4], [4, 4, 0]], names, names)
    >>> round(cophenetic_correlation(distances, linkage(distances)), 6)
    1.0
    """
    condensed = _condensed(distances)
    heights = hierarchy.cophenet(_tree_of(tree, len(distances)))
    if np.ptp(condensed) == 0 or np.ptp(heights) == 0:
        return np.nan
    return float(np.corrcoef(condensed, heights)[0, 1])


def clusters(tree: NDArray[np.float64], names: Sequence[str], count: int) -> pd.Series[int]:
    """The clusters that are left when a tree is cut so that there are as many as wanted.

    Args:
        tree: A clustering (:func:`linkage`).
        names: Of the networks, in the order of the distances.
        count: How many clusters.

    Returns:
        The number of its cluster for each name. Where pairs are equally far there may be fewer clusters.

    Raises:
        AffscoreError: A number of clusters that cannot be, or the tree of other networks.

    >>> names = ["a", "b", "c"]
    >>> tree = linkage(pd.DataFrame([[0, 1, 4], [1, 0, 4], [4, 4, 0]], names, names))
    >>> clusters(tree, names, 2).tolist()
    [1, 1, 2]
    """
    if int(count) != count or not 1 <= count <= len(names):
        raise AffscoreError(f"{len(names)} networks can be cut into 1 to {len(names)} clusters, got {count}")
    cut = hierarchy.fcluster(_tree_of(tree, len(names)), int(count), "maxclust")
    return pd.Series(cut, index=list(names), name="cluster")


def leaf_order(distances: pd.DataFrame, tree: NDArray[np.float64]) -> list[str]:
    """The names in the order of a dendrogram's leaves, turned so that neighbours are alike.

    Args:
        distances: What was clustered.
        tree: Its clustering (:func:`linkage`).

    Raises:
        AffscoreError: What is no distance, or the tree of other networks.

    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 4, 1], [4, 0, 3], [1, 3, 0]], names, names)
    >>> leaf_order(distances, linkage(distances))
    ['a', 'c', 'b']
    """
    turned = hierarchy.optimal_leaf_ordering(_tree_of(tree, len(distances)), _condensed(distances))
    order = [str(distances.index[int(leaf)]) for leaf in hierarchy.leaves_list(turned)]
    return order if order[0] <= order[-1] else order[::-1]


@dataclass(frozen=True)
class Agreement:
    """How well something agrees with the families, beside what chance gives.

    Attributes:
        value: The measure of agreement.
        p_value: Share of the shuffled families that agree at least as well, the families themselves counted.
        chance: The mean of the measure over shuffled families.
    """

    value: float
    p_value: float
    chance: float


def family_agreement(
    distances: pd.DataFrame,
    families: Sequence[str],
    method: Method = "average",
    permutations: int = 9999,
    seed: int = 0,
) -> Agreement:
    """Whether a clustering into as many clusters as there are families finds the families.

    The measure is the adjusted Rand index: over all pairs of networks, how much more often clustering and families
    agree on "together or not" than clusters and families of these sizes do by chance. 1 is the same partition, 0 is
    chance. The p-value is that of shuffling the families over the networks.

    Args:
        distances: Between the networks.
        families: The family of each, in the order of the distances.
        method: As for :func:`linkage`.
        permutations: How often to shuffle.
        seed: Of the shuffling.

    Returns:
        The agreement; NaN for a single family, and where no family has two members.

    Raises:
        AffscoreError: What is no distance, not a family for each network, or no permutations.

    Source: section 4 of the paper says that similar models are clustered correctly; the measure (Hubert and Arabie,
        1985) and the test are ours.

    >>> names = ["a", "b", "c", "d"]
    >>> distances = pd.DataFrame([[0, 1, 8, 8], [1, 0, 8, 8], [8, 8, 0, 1], [8, 8, 1, 0]], names, names)
    >>> family_agreement(distances, ["u", "u", "v", "v"], permutations=99).value
    1.0
    """
    codes = _codes(distances, families)
    if not 1 < len(set(families)) < len(families):
        return Agreement(np.nan, np.nan, np.nan)
    found = clusters(linkage(distances, method), list(distances.index), len(set(families))).to_numpy()
    first, second = np.triu_indices(len(codes), 1)
    in_cluster = found[first] == found[second]
    together, relatives_in_all = in_cluster.sum(), (codes[first] == codes[second]).sum()
    expected = together * relatives_in_all / len(first)
    largest = (together + relatives_in_all) / 2

    def adjusted_rand(labels: NDArray[np.intp]) -> float:
        # sizes stay as they are when families are shuffled, and so do all terms but one
        in_both = (labels[first] == labels[second])[in_cluster].sum()
        return float((in_both - expected) / (largest - expected))

    return _against_chance(adjusted_rand, codes, permutations, seed)


def relatives(distances: pd.DataFrame, families: Sequence[str], permutations: int = 9999, seed: int = 0) -> Agreement:
    """The share of networks whose nearest neighbour is of their own family.

    It needs no clustering, no cut and no number of clusters. Networks without a relative are left out of the share,
    and are there as neighbours.

    Args:
        distances: Between the networks.
        families: The family of each, in the order of the distances.
        permutations: How often to shuffle the families for the p-value.
        seed: Of the shuffling.

    Returns:
        The share and its test; NaN for a single family, and where no family has two members. Equally near neighbours
        count in equal parts.

    Raises:
        AffscoreError: What is no distance, not a family for each network, or no permutations.

    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 8], [1, 0, 8], [8, 8, 0]], names, names)
    >>> relatives(distances, ["u", "u", "v"], permutations=99).value
    1.0
    """
    codes = _codes(distances, families)
    away = distances_between(distances).copy()
    np.fill_diagonal(away, np.inf)
    nearest = away <= away.min(axis=1, keepdims=True) * (1 + _SAME)
    weights = nearest / nearest.sum(axis=1, keepdims=True)
    sizes = np.bincount(codes)
    if not 1 < len(sizes) < len(codes):
        return Agreement(np.nan, np.nan, np.nan)

    def share(labels: NDArray[np.intp]) -> float:
        alike = labels[:, None] == labels
        return float((weights * alike).sum(axis=1)[sizes[labels] > 1].mean())

    return _against_chance(share, codes, permutations, seed)


def _against_chance(
    measure: Callable[[NDArray[np.intp]], float], codes: NDArray[np.intp], permutations: int, seed: int
) -> Agreement:
    check_permutations(permutations)
    generator = np.random.default_rng(seed)
    value = measure(codes)
    by_chance = np.array([measure(generator.permutation(codes)) for _ in range(permutations)])
    # shuffled families that are the same partition give the same value up to rounding
    as_good = int((by_chance >= value - 1e-12).sum())
    return Agreement(value, (1 + as_good) / (1 + permutations), float(by_chance.mean()))


def _codes(distances: pd.DataFrame, families: Sequence[str]) -> NDArray[np.intp]:
    if len(families) != len(distances):
        raise AffscoreError(f"expected a family for each of {len(distances)} networks, got {len(families)}")
    if pd.isna(pd.Series(list(families), dtype=object)).any():
        raise AffscoreError("a network has no family; leave it out, or give it a family of its own")
    return pd.factorize(pd.Series(list(families)))[0]


def _condensed(distances: pd.DataFrame) -> NDArray[np.float64]:
    return squareform(distances_between(distances), checks=False)


def _tree_of(tree: NDArray[np.float64], networks: int) -> NDArray[np.float64]:
    shape = np.shape(tree)
    if shape != (networks - 1, 4):
        raise AffscoreError(f"the clustering of {networks} networks has {networks - 1} joins, got a tree of {shape}")
    return tree
