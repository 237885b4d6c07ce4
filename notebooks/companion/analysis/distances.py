"""What the number of activations does to distances of signatures, and how far a network is from itself elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError
from companion.analysis.tables import distances_between


def length_distances(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Distances that know of each signature nothing but how many scores it has.

    Args:
        signatures: Scores by name.

    Returns:
        The difference of the lengths, as a matrix like that of :func:`affscore.comparison.distance_matrix`.

    Source: a baseline for figure 5 A; not in the papers.

    >>> length_distances({"a": [0.5], "b": [0.5, 0.6, 0.7]}).to_numpy().tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    lengths, names = _lengths(signatures), list(signatures)
    return pd.DataFrame(np.abs(lengths[:, None] - lengths), index=names, columns=names)


def per_step(distances: pd.DataFrame, signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    r"""DTW distances as a root mean square over the steps of the alignment.

    The distance is the root of a **sum** over aligned pairs, of which there are at least as many as the longer of the
    two signatures has scores. Dividing by the root of that number takes the length out, up to the steps in which both
    signatures wait in turn:

    .. math:: D'(a, b) = D(a, b) / \sqrt{\max(|a|, |b|)}

    Args:
        distances: As :func:`distance_matrix` makes it.
        signatures: The scores, with the same names.

    Returns:
        The matrix of D'.

    Raises:
        AffscoreError: Other names.

    >>> from affscore.comparison import distance_matrix
    >>> signatures = {"a": [0.5] * 4, "b": [0.75] * 100}
    >>> distances = distance_matrix(signatures)
    >>> distances.to_numpy().tolist(), per_step(distances, signatures).to_numpy().tolist()
    ([[0.0, 2.5], [2.5, 0.0]], [[0.0, 0.25], [0.25, 0.0]])
    """
    distances_between(distances)
    if list(distances.index) != list(signatures):
        raise AffscoreError("the distances must have the names of the signatures, in their order")
    lengths = _lengths(signatures)
    return distances.div(np.sqrt(np.maximum(lengths[:, None], lengths)))


def deviations(here: Mapping[str, ArrayLike], there: Mapping[str, ArrayLike]) -> pd.Series:
    r"""How far the signature of each network on one data set is from that on another.

    .. math:: \lVert a - b \rVert_2 = \sqrt{\sum_i (a_i - b_i)^2}

    Args:
        here: Scores on one data set, by name.
        there: Scores on another.

    Returns:
        The Euclidean distance for each network that has as many activations in both (one whose architecture
        changes with the data has no distance); missing where a score is.

    Source: figure 15, by its caption.

    >>> deviations({"a": [0.5, 0.5], "b": [0.9]}, {"a": [0.8, 0.9]}).round(3).to_dict()
    {'a': 0.5}
    """
    pairs = {name: (np.asarray(here[name]), np.asarray(there[name])) for name in here if name in there}
    return pd.Series(
        {name: float(np.linalg.norm(one - other)) for name, (one, other) in pairs.items() if len(one) == len(other)},
        dtype=float,
    )


def _lengths(signatures: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
    return np.array([len(np.asarray(scores)) for scores in signatures.values()], dtype=float)
