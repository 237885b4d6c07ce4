"""Clusters of networks by the distances of their signatures, and whether these are the families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from affscore.errors import AffscoreError
from companion.permutation import PermutationTest, permutation_test

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

    Source: figure 5 A of the paper, which does not say how the distance between clusters is taken.

    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 4], [1, 0, 6], [4, 6, 0]], names, names)
    >>> linkage(distances)[:, 2].tolist()
    [1.0, 5.0]
    """
    return hierarchy.linkage(condensed(distances), method)


def condensed(distances: pd.DataFrame) -> NDArray[np.float64]:
    """The distances of all pairs, (k (k - 1) / 2,), in the order of SciPy.

    >>> condensed(pd.DataFrame([[0, 1], [1, 0]], ["a", "b"], ["a", "b"])).tolist()
    [1.0]
    """
    return squareform(distances.to_numpy(dtype=float), checks=False)


_SAME = 1e-9
"""Distances that differ by less, relative to their size, are equally near."""


class Agreement(NamedTuple):
    """How well something agrees with the families, beside what permuted families give.

    Attributes:
        value: The measure of agreement.
        p_value: Share of the permutations of the families that agree at least as well.
        permuted: The mean of the measure over the permutations.
        rare: A value that less than 5 % of the permutations exceed.
    """

    value: float = np.nan
    p_value: float = np.nan
    permuted: float = np.nan
    rare: float = np.nan

    @classmethod
    def of(cls, test: PermutationTest) -> Agreement:
        """The agreement that a permutation test has looked at."""
        return cls(test.observed, test.p_value, float(test.permuted.mean()), float(np.quantile(test.permuted, 0.95)))


def family_agreement(
    distances: pd.DataFrame,
    families: Sequence[str],
    method: Method = "average",
    permutations: int = 9999,
    seed: int = 0,
) -> Agreement:
    """Whether a clustering into as many clusters as there are families finds the families.

    The measure is the adjusted Rand index: over all pairs of networks, how much more often clustering and families
    agree on "together or not" than clusters and families of these sizes are expected to. 1 is the same partition, 0
    what is expected. The p-value is that of permuting the families over the networks.

    Args:
        distances: Between the networks.
        families: The family of each, in the order of the distances.
        method: As for :func:`linkage`.
        permutations: How many; every permutation once, where there are no more.
        seed: Of the permutations.

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
    codes, tree = _codes(families), linkage(distances, method)
    if codes is None:
        return Agreement()
    found = _cut(tree, codes)
    test = permutation_test(codes, lambda labels: _adjusted_rand(found, labels), permutations=permutations, seed=seed)
    return Agreement.of(test)


def nearest_neighbour_accuracy(
    distances: pd.DataFrame, families: Sequence[str], permutations: int = 9999, seed: int = 0
) -> Agreement:
    """The share of networks whose nearest neighbour is of their own family: leave-one-out 1-nearest-neighbour accuracy.

    It needs no clustering, no cut and no number of clusters. Networks that are alone in their family are left out of
    the share, and are there as neighbours.

    Args:
        distances: Between the networks.
        families: The family of each, in the order of the distances.
        permutations: How often to permute the families for the p-value; every permutation once, where there are no
            more.
        seed: Of the permutations.

    Returns:
        The share and its test; NaN for a single family, and where no family has two members. Equally near neighbours
        count in equal parts.

    Raises:
        AffscoreError: What is no distance, not a family for each network, or no permutations.

    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 8], [1, 0, 8], [8, 8, 0]], names, names)
    >>> nearest_neighbour_accuracy(distances, ["u", "u", "v"], permutations=99).value
    1.0
    """
    codes, away = _codes(families), distances.to_numpy(dtype=float).copy()
    if codes is None:
        return Agreement()
    np.fill_diagonal(away, np.inf)
    nearest = away <= away.min(axis=1, keepdims=True) * (1 + _SAME)
    network, neighbour = np.nonzero(nearest)
    sizes = np.bincount(codes)
    count = sizes[sizes > 1].sum()  # a network that is alone has no neighbour of its family
    weights = (nearest / nearest.sum(axis=1, keepdims=True))[network, neighbour]

    def share(labels: NDArray[np.intp]) -> NDArray[np.float64]:
        return (labels[..., network] == labels[..., neighbour]) @ weights / count

    return Agreement.of(permutation_test(codes, share, permutations=permutations, seed=seed))


class FamilyLead(NamedTuple):
    """How much better one clustering finds the families than another.

    Attributes:
        value: The difference of their adjusted Rand indices.
        error: Its standard error over networks.
    """

    value: float
    error: float


def family_lead(
    distances: pd.DataFrame, baseline: pd.DataFrame, families: Sequence[str], subsets: int = 200, seed: int = 0
) -> FamilyLead:
    r"""The lead of one clustering over another in finding the families, with its error over networks.

    Both are average-linkage clusterings into as many clusters as there are families. The error is the jackknife that
    leaves out d of k networks at a time, a sixth of them:

    .. math:: s^2 = \frac{k - d}{d} \operatorname{Var}_{\text{subsets}} \text{lead}

    Leaving out one at a time is not enough for what jumps, as the cut of a tree does.

    Args:
        distances: Between the networks.
        baseline: Other distances, of the same networks, as :func:`companion.chapter_08.length_distances` makes them.
        families: The family of each.
        subsets: How many subsets to draw.
        seed: Of the drawing.

    Returns:
        The lead and its error; both missing for a single family, and where no family has two members.

    Source: the delete-d jackknife (Shao and Wu, 1989); the measure is that of
        :func:`family_agreement`.

    >>> near = [[0, 1, 8, 8], [1, 0, 8, 8], [8, 8, 0, 1], [8, 8, 1, 0]]
    >>> names = ["a", "b", "c", "d"]
    >>> wrong = pd.DataFrame(near, ["a", "c", "b", "d"], ["a", "c", "b", "d"]).loc[names, names]
    >>> family_lead(pd.DataFrame(near, names, names), wrong, ["u", "u", "v", "v"]).value
    1.5
    """
    both = [table.to_numpy(dtype=float) for table in (distances, baseline)]
    codes = _codes(families)
    if codes is None:
        return FamilyLead(np.nan, np.nan)

    def lead(kept: NDArray[np.intp]) -> float:
        pairs = (squareform(one[np.ix_(kept, kept)], checks=False) for one in both)
        cuts = (_cut(hierarchy.linkage(some, "average"), codes[kept]) for some in pairs)
        ours, theirs = (float(_adjusted_rand(cut, codes[kept])) for cut in cuts)
        return ours - theirs

    count, out = len(codes), max(len(codes) // 6, 1)
    generator = np.random.default_rng(seed)
    leads = [lead(np.sort(generator.choice(count, count - out, replace=False))) for _ in range(subsets)]
    return FamilyLead(lead(np.arange(count)), float(np.sqrt((count - out) / out) * np.std(leads)))


def _cut(tree: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.signedinteger]:
    """Clusters, as many as there are families; there may be fewer where pairs are equally far."""
    return hierarchy.fcluster(tree, len(np.unique(codes)), "maxclust")


def _adjusted_rand(found: NDArray[np.signedinteger], labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Of clusters (n,) and families (..., n), by pairs; 1 where both are trivial in the same way."""
    first, second = np.triu_indices(len(found), 1)
    clustered, related = found[first] == found[second], labels[..., first] == labels[..., second]
    expected = clustered.sum() * related.sum(axis=-1) / len(first)
    above = (related & clustered).sum(axis=-1) - expected
    most = (clustered.sum() + related.sum(axis=-1)) / 2 - expected
    return np.divide(above, most, out=np.ones_like(above), where=most > 0)


def _codes(families: Sequence[str]) -> NDArray[np.intp] | None:
    """The families as numbers; None for a single one, and where none has two members: there is nothing to find."""
    codes = pd.factorize(pd.Series(list(families), dtype=object))[0]
    if (codes < 0).any():
        raise AffscoreError("a network has no family; leave it out, or give it a family of its own")
    return codes if 1 < len(set(codes)) < len(codes) else None
