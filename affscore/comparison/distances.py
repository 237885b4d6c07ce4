"""How far signatures are apart: dynamic time warping."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from dtaidistance import dtw
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError


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
    return pd.DataFrame(dtw.distance_matrix(scores, use_c=dtw.dtw_cc is not None), names, names)


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
        unknown = f"{name} has no score for {missing} of {len(scores)} activations"
        raise AffscoreError(f"{unknown} (their input is constant); leave these out to compare it")
    if scores.min() < 0 or scores.max() > 1:
        raise AffscoreError(f"{name} must hold scores in [0, 1], got {scores.min():.3g} to {scores.max():.3g}")
    return scores
