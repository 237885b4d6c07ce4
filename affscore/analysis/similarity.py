"""How alike two networks are: statistics of their signatures, and the distance between these."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from dtaidistance import dtw
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError

__all__ = ["STATISTICS", "check_scores", "deviations", "distance_matrix", "signature_distance", "signature_statistics"]

STATISTICS = ("mean", "std", "min", "median", "max", "max/mean", "max/median")
"""The seven statistics of a signature that section 4 of the paper holds against accuracy."""


def signature_distance(one: ArrayLike, other: ArrayLike) -> float:
    r"""Dynamic time warping distance between two signatures, which may differ in length.

    .. math:: D(a, b) = \min_{\pi} \sqrt{\sum_{(i, j) \in \pi} (a_i - b_j)^2}

    over all monotone alignments :math:`\pi` of the activations of one network with those of the other,
    without a window.

    Args:
        one: Scores in the order of the activations, (k,).
        other: Scores, (m,).

    Returns:
        The distance, >= 0, and 0 for the same signature; it is no metric (the triangle inequality does
        not hold).

    Raises:
        AffscoreError: No scores, or missing ones.

    Source: section 4, figure 5 of the paper, with dtaidistance's ``distance``.

    >>> signature_distance([0.5, 0.9], [0.5, 0.5, 0.9]), signature_distance([0.5], [0.8, 0.9])
    (0.0, 0.5)
    """
    return float(dtw.distance(check_scores(one), check_scores(other)))


def distance_matrix(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Dynamic time warping distances (:func:`signature_distance`) between all pairs of signatures.

    Args:
        signatures: Scores by name.

    Returns:
        A symmetric table, zero on the diagonal, with the names as rows and columns.

    Source: figure 5 A.

    >>> distance_matrix({"a": [0.5, 0.5], "b": [0.75, 0.75]}).round(3).to_numpy().tolist()
    [[0.0, 0.354], [0.354, 0.0]]
    """
    names = list(signatures)
    scores = [check_scores(signatures[name], name) for name in names]
    distances = np.zeros((len(names), len(names)))
    for i, one in enumerate(scores):
        for j in range(i):
            distances[i, j] = distances[j, i] = dtw.distance(one, scores[j])
    return pd.DataFrame(distances, index=names, columns=names)


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


def signature_statistics(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """The statistics of signatures that the paper compares networks by.

    Args:
        signatures: Scores by name.

    Returns:
        A row for each name; columns ``activations`` (how many) and those of :data:`STATISTICS` (the
        standard deviation with n in the denominator).

    Raises:
        AffscoreError: No signatures, or what is none.

    Source: figure 4 of the paper.

    >>> signature_statistics({"a": [0.25, 0.5, 0.75]}).loc["a", ["mean", "max/mean"]].tolist()
    [0.5, 1.5]
    """
    if not isinstance(signatures, Mapping):
        raise AffscoreError(f"expected signatures by name (a dict), got {type(signatures).__name__}")
    if not signatures:
        raise AffscoreError("expected at least one signature, got none")
    rows = {}
    for name, values in signatures.items():
        scores = check_scores(values, name)
        mean, median, largest = scores.mean(), np.median(scores), scores.max()
        figures = (mean, scores.std(), scores.min(), median, largest, _ratio(largest, mean), _ratio(largest, median))
        rows[name] = {"activations": len(scores), **dict(zip(STATISTICS, map(float, figures), strict=True))}
    return pd.DataFrame.from_dict(rows, orient="index")


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else np.nan


def check_scores(values: ArrayLike, name: str = "a signature") -> NDArray[np.float64]:
    """The scores of a signature as an array, (k,).

    Raises:
        AffscoreError: No list of numbers, none at all, missing ones, or some outside [0, 1].

    >>> check_scores([0.5, 1.5])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: a signature must hold scores in [0, 1], got 0.5 to 1.5
    """
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise AffscoreError(f"{name} must hold numbers, a score for each activation") from error
    if scores.ndim != 1 or len(scores) == 0:
        raise AffscoreError(f"{name} must be one score for each activation, got shape {scores.shape}")
    if missing := int(np.isnan(scores).sum()):
        raise AffscoreError(
            f"{name} has no score for {missing} of {len(scores)} activations (their input is constant); "
            "leave these out to compare it"
        )
    if scores.min() < 0 or scores.max() > 1:
        raise AffscoreError(f"{name} must hold scores in [0, 1], got {scores.min():.3g} to {scores.max():.3g}")
    return scores
