"""The numbers by which signatures are compared: their distances by dynamic time warping, and their statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError, guarded

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

    Source: section 4, figure 5 of the paper; the number is that of dtaidistance's ``distance``.

    >>> signature_distance([0.5, 0.9], [0.5, 0.5, 0.9]), signature_distance([0.5], [0.8, 0.9])
    (0.0, 0.5)
    """
    return float(_distances([check_scores(one)], [check_scores(other)])[0])


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
    scores = [check_scores(signature, name) for name, signature in signatures.items()]
    ones, others = np.triu_indices(len(scores), 1)
    distances = np.zeros((len(scores), len(scores)))
    distances[ones, others] = _distances([scores[place] for place in ones], [scores[place] for place in others])
    return pd.DataFrame(distances + distances.T, list(signatures), list(signatures))


def _distances(ones: Sequence[NDArray[np.float64]], others: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The distances of the first to the first, the second to the second, ...: each cell for all pairs at once."""
    # (longest, pairs); what follows the end of a signature has no part in the cell of the ends
    first, second = (np.array(list(zip_longest(*some, fillvalue=0.0))) for some in (ones, others))
    lengths, ends = (np.array([len(scores) for scores in some], dtype=int) for some in (ones, others))
    found, above = np.empty(len(ones)), np.full((len(second) + 1, len(ones)), np.inf)
    above[0] = 0
    for length, scores in enumerate(first, 1):
        costs, entered = (scores - second) ** 2, np.minimum(above[1:], above[:-1])
        above = np.full_like(above, np.inf)
        for place, cost in enumerate(costs):
            above[place + 1] = np.minimum(entered[place], above[place]) + cost
        ended = np.flatnonzero(lengths == length)
        found[ended] = above[ends[ended], ended]
    return np.sqrt(found)


def signature_statistics(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """The statistics of signatures that the paper compares networks by.

    Args:
        signatures: Scores by name.

    Returns:
        A row for each name; columns ``activations`` (how many) and those of :data:`STATISTICS` (the
        standard deviation with n in the denominator).

    Raises:
        AffscoreError: What is no signature.

    Source: figure 4 of the paper.

    >>> signature_statistics({"a": [0.25, 0.5, 0.75]}).loc["a", ["mean", "max/mean"]].tolist()
    [0.5, 1.5]
    """
    checked = {name: check_scores(signature, name) for name, signature in signatures.items()}
    numbers = (len, np.mean, np.std, np.min, np.median, np.max)
    rows = {name: [float(of(scores)) for of in numbers] for name, scores in checked.items()}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["activations", *STATISTICS[:5]])
    ratios = {f"max/{name}": table["max"] / table[name].where(table[name] > 0) for name in ("mean", "median")}
    return table.assign(**ratios).astype({"activations": int})


def check_scores(values: ArrayLike, name: str = "a signature") -> NDArray[np.float64]:
    """The scores of a signature as an array, (k,).

    Raises:
        AffscoreError: No list of numbers, none at all, missing ones, or some outside [0, 1].

    >>> check_scores([0.5, 1.5])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: a signature must hold scores in [0, 1], got 0.5 to 1.5
    """
    scores = guarded(partial(np.asarray, values, dtype=float), f"{name} must hold numbers, a score for each activation")
    if scores.ndim != 1 or len(scores) == 0:
        raise AffscoreError(f"{name} must be one score for each activation, got shape {scores.shape}")
    if missing := int(np.isnan(scores).sum()):
        raise AffscoreError(f"{name} has no score for {missing} of {len(scores)} activations (constant?): omit them")
    if scores.min() < 0 or scores.max() > 1:
        raise AffscoreError(f"{name} must hold scores in [0, 1], got {scores.min():.3g} to {scores.max():.3g}")
    return scores
