"""From feature maps to vectors: what averaging, summing and flattening do to a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.transport import affinity_score
from affscore.transport.covariance import CovarianceName
from companion.experiments.activations import ACTIVATIONS, Activation, named_activations

REDUCTIONS = ("mean", "sum", "flatten", "reduce_first")
"""What :func:`reduction_scores` knows: three ways to a vector after the activation, and the average before it."""


def reduction_scores(
    activations: Sequence[str] | Mapping[str, Activation] = tuple(ACTIVATIONS),
    *,
    points: int = 1000,
    channels: int = 100,
    positions: int = 9,
    covariance: CovarianceName = "ledoit-wolf",
    reductions: Sequence[str] = REDUCTIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Score activations on random feature maps that are averaged, summed or flattened.

    A map has ``channels`` times ``positions`` independent standard normal entries.

    Args:
        activations: Names, or functions of tensors by name.
        points: n, the number of maps.
        channels: Channels of a map.
        positions: Positions of a map.
        covariance: "ledoit-wolf" or "empirical".
        reductions: Which of :data:`REDUCTIONS` to score; "flatten" takes most of the time.
        seed: Seed of the sample.

    Returns:
        One row for each activation, and a column for each reduction: mean, sum and flatten are the scores
        of (r(X), r(s(X))), reduce_first that of (r(X), s(r(X))) with the average as r. All lie in [0, 1].

    Raises:
        AffscoreError: An unknown activation or reduction.

    Source: figure 7, top left (appendix E), and definition 3.1.

    >>> table = reduction_scores(["relu"], points=200, channels=50, positions=4)
    >>> table.round(1).values.tolist()
    [[0.6, 0.6, 0.6, 0.6]]
    """
    if unknown := [name for name in reductions if name not in REDUCTIONS]:
        raise AffscoreError(f"there is no reduction {unknown[0]!r} here; known are {', '.join(REDUCTIONS)}")
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.standard_normal((points, channels, positions)))
    scores = {
        name: {way: affinity_score(*_reduced(x, function, way), covariance).value for way in reductions}
        for name, function in named_activations(activations).items()
    }
    return pd.DataFrame.from_dict(scores, orient="index").rename_axis("activation")


def _reduced(x: Tensor, function: Activation, reduction: str) -> tuple[Tensor, Tensor]:
    """The two clouds of maps (n, channels, positions) under an activation and a reduction."""
    if reduction == "flatten":
        return x.flatten(1), function(x).flatten(1)
    if reduction == "sum":
        return x.sum(dim=2), function(x).sum(dim=2)
    averages = x.mean(dim=2)
    return averages, function(averages) if reduction == "reduce_first" else function(x).mean(dim=2)
