"""Hierarchical clustering of networks by the distances of their signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from affscore.errors import AffscoreError
from companion.analysis.tables import distances_between

Method: TypeAlias = Literal["average", "single", "complete"]
"""How far two clusters are apart: the mean, the smallest or the largest distance of their members."""


def linkage(distances: pd.DataFrame, method: Method = "average") -> NDArray[np.float64]:
    """Hierarchical clustering: from single networks up, the two nearest clusters are joined again and again.

    Args:
        distances: A symmetric matrix, as :func:`affscore.comparison.distance_matrix` makes it.
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
    return hierarchy.linkage(condensed(distances), method)


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
    turned = hierarchy.optimal_leaf_ordering(_tree_of(tree, len(distances)), condensed(distances))
    order = [str(distances.index[int(leaf)]) for leaf in hierarchy.leaves_list(turned)]
    return order if order[0] <= order[-1] else order[::-1]


def condensed(distances: pd.DataFrame) -> NDArray[np.float64]:
    """The distances of all pairs, (k (k - 1) / 2,), in the order of SciPy.

    >>> condensed(pd.DataFrame([[0, 1], [1, 0]], ["a", "b"], ["a", "b"])).tolist()
    [1.0]
    """
    return squareform(distances_between(distances), checks=False)


def _tree_of(tree: NDArray[np.float64], networks: int) -> NDArray[np.float64]:
    shape = np.shape(tree)
    if shape != (networks - 1, 4):
        raise AffscoreError(f"the clustering of {networks} networks has {networks - 1} joins, got a tree of {shape}")
    return tree
