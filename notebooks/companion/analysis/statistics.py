"""Statistics of a signature beside those of the paper: its spread, made comparable, and its course along the depth."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.comparison.distances import check_scores, signature_statistics
from affscore.errors import AffscoreError


def rarefied_range(scores: ArrayLike, size: int) -> float:
    r"""The expected difference of the largest and the smallest of a few scores drawn from a signature.

    Minimum and maximum of many scores lie further apart than those of a few, whatever the network. Drawing the same
    number from each signature, without replacement, makes networks of different depths comparable. Over all subsets
    of size m of the sorted scores :math:`s_{(1)} \le \dots \le s_{(k)}` it is

    .. math:: \sum_{i} \frac{\binom{i - 1}{m - 1} - \binom{k - i}{m - 1}}{\binom{k}{m}} s_{(i)} .

    Args:
        scores: A signature, (k,).
        size: How many scores to draw, m, from 1 to k.

    Returns:
        The expectation, in [0, 1].

    Raises:
        AffscoreError: No scores, or a size that is none of a subset.

    Source: rarefaction, as it is known from counting species (Hurlbert, 1971); not in the papers.

    >>> rarefied_range([0.25, 0.5, 0.75], 3), round(rarefied_range([0.25, 0.5, 0.75], 2), 4)
    (0.5, 0.3333)
    """
    ordered = np.sort(check_scores(scores))
    k = len(ordered)
    if not 1 <= size <= k:
        raise AffscoreError(f"the size of a subset of {k} scores must be from 1 to {k}, got {size}")
    whole = comb(k, size)  # exact integers: these overflow a double
    return float([(comb(i, size - 1) - comb(k - 1 - i, size - 1)) / whole for i in range(k)] @ ordered)


def shape_statistics(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """The statistics of signatures, and what describes their shape.

    Args:
        signatures: Scores by name.

    Returns:
        The columns of :func:`signature_statistics`, ``spread`` (largest minus smallest), ``rarefied range``
        (:func:`rarefied_range` of as many scores as the shortest signature has) and ``skewness``, missing where all
        scores are the same.

    Raises:
        AffscoreError: No signatures, or what is none.

    >>> shape_statistics({"a": [0.3, 0.5, 0.4], "b": [0.6, 0.7]})["spread"].round(2).tolist()
    [0.2, 0.1]
    """
    table = signature_statistics(signatures)
    few, scores = int(table["activations"].min()), {name: np.asarray(one) for name, one in signatures.items()}
    table["spread"] = table["max"] - table["min"]
    table["rarefied range"] = [rarefied_range(one, few) for one in scores.values()]
    table["skewness"] = [stats.skew(one) if np.ptp(one) >= 1e-9 else np.nan for one in scores.values()]
    return table


def mean_or_deviation(values: ArrayLike, what: str) -> float:
    """What a table of means and standard deviations (n in the denominator) prints of these values, missing ones apart.

    Args:
        values: Of one quantity, a value for each network.
        what: "mean" or "std".

    >>> mean_or_deviation([1.0, 3.0], "mean"), mean_or_deviation([1.0, 3.0], "std")
    (2.0, 1.0)
    """
    sample = pd.Series(np.asarray(values, dtype=float))
    return float(sample.mean() if what == "mean" else sample.std(ddof=0))


def mean_step(scores: ArrayLike, depth: ArrayLike | None = None) -> float:
    r"""How much a signature changes from one depth to the next: the mean absolute difference of scores.

    With :math:`\bar d_k` the mean of :math:`|s_i - s_j|` over the activations i at the k-th depth and j at the next,

    .. math:: \frac{1}{D - 1} \sum_{k=1}^{D-1} \bar d_k .

    Args:
        scores: A signature, (k,).
        depth: Of each activation, (k,); parallel branches share one. None for a chain: each has a depth of its own.

    Raises:
        AffscoreError: What is no signature, not a depth for each score, or a single depth.

    Source: section 4.1 of the paper's first version says that signatures are "shaken", and has no number for it.

    >>> mean_step([0.5, 0.9, 0.5, 0.9]), round(mean_step([0.5, 0.7, 0.9], [1, 2, 2]), 3)
    (0.4, 0.3)
    """
    values = check_scores(scores)
    first, second, weights = _pairs(values, depth)
    return float(np.abs(values[first] - values[second]) @ weights)


def _pairs(
    scores: NDArray[np.float64], depth: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """The pairs of activations at neighbouring depths, and their weights: each step counts the same."""
    depths = np.arange(len(scores)) if depth is None else np.asarray(depth)
    if depths.shape != scores.shape or not np.isfinite(depths).all():
        raise AffscoreError(f"expected a finite depth for each of {len(scores)} scores, got shape {depths.shape}")
    levels, at = np.unique(depths, return_inverse=True)
    if len(levels) < 2:
        raise AffscoreError("expected activations at two depths or more: there is no step from one depth to the next")
    first, second = np.nonzero(at[:, None] + 1 == at)
    counts = np.bincount(at)
    return first, second, 1 / ((len(levels) - 1) * counts[at[first]] * counts[at[second]])
