"""The numbers of figures 6 and 7 for nine activation functions, computed in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from affscore.analysis.activation_domain import domain_summary, domain_sweep
from affscore.analysis.activations import ACTIVATIONS
from affscore.analysis.estimation import estimation_sweep
from affscore.analysis.reductions import reduction_scores

__all__ = ["ActivationNumbers", "activation_numbers"]

_THREE = ("mean", "sum", "flatten")
_RATIOS = tuple(np.arange(0.5, 4.6, 0.5))
"""d/n along the axis of the panels of figure 7 that show a growing dimension, from d = 500 to 4500 with n = 1000."""


@dataclass(frozen=True)
class ActivationNumbers:
    """Scores of activation functions on random inputs.

    Attributes:
        reductions: A row for each activation; columns ``mean``, ``sum`` and ``flatten``: scores of feature maps under
            each reduction, averaged over draws; ``score`` and ``std`` over reductions and draws together, and
            ``score_error`` and ``std_error``, their standard errors.
        shrinkage: A row for each activation, a column for each dimension: scores with Ledoit and Wolf's covariance.
        shrinkage_error: The standard error of the mean of a row.
        shrinkage_drift: The same over ratios of dimension and number of points, of fewer points.
        empirical: The same with the sample covariance.
        empirical_error: The standard error of the mean of a row.
        domain: What :func:`affscore.analysis.domain_summary` says of the inputs of figure 6.
        points: How many points ``reductions`` and ``shrinkage`` had.
    """

    reductions: pd.DataFrame
    shrinkage: pd.DataFrame
    shrinkage_error: pd.Series
    shrinkage_drift: pd.DataFrame
    empirical: pd.DataFrame
    empirical_error: pd.Series
    domain: pd.DataFrame
    points: int


@cache
def activation_numbers(
    points: int = 1000, channels: int = 50, positions: int = 2, draws: int = 8, fewer: int = 100, seed: int = 0
) -> ActivationNumbers:
    """Compute what figures 6 and 7 print or show, for all nine activations.

    Args:
        points: n of the reductions and of the shrinkage, as in figure 6; figure 7 does not say.
        channels: Of a feature map.
        positions: Of a feature map.
        draws: Fresh samples of each kind, at least two.
        fewer: n where the dimension goes up to 4.5 n, and of figure 6; what counts there is the ratio.
        seed: Fixes the samples.

    Returns:
        The tables; they are computed once in a process.

    Source: figures 6 and 7.

    >>> numbers = activation_numbers(points=60, channels=20, positions=2, draws=2, fewer=20)
    >>> numbers.reductions.loc["relu", ["mean", "sum", "flatten"]].between(0.6, 0.8).all()
    np.True_
    """
    rows = [
        reduction_scores(
            points=points, channels=channels, positions=positions, reductions=_THREE, seed=seed + number
        ).assign(draw=number)
        for number in range(draws)
    ]
    maps = pd.concat(rows).set_index("draw", append=True)
    reductions = maps.groupby("activation")[list(_THREE)].mean()
    by_draw, together = (
        maps.mean(axis=1).groupby("activation"),
        maps.melt(ignore_index=False)["value"].groupby("activation"),
    )
    reductions["score"], reductions["std"] = together.mean(), together.std()
    reductions["score_error"] = by_draw.std() / draws**0.5
    # the three reductions of one draw are nearly the same number: there are as many as there are draws
    reductions["std_error"] = reductions["std"] / (2 * (draws - 1)) ** 0.5

    of_all, widths = tuple(ACTIVATIONS), [round(ratio * fewer) for ratio in _RATIOS]
    shrunk = estimation_sweep(of_all, [points // 10, points // 4], [points], ["ledoit-wolf"], repeats=2, seed=seed)
    drift = estimation_sweep(of_all, widths, [fewer], repeats=2, seed=seed).assign(
        ratio=lambda t: t["width"] / t["points"]
    )
    sample, shrunk_too = (drift[drift["covariance"] == name] for name in ("empirical", "ledoit-wolf"))
    order = list(ACTIVATIONS)
    return ActivationNumbers(
        reductions.loc[order],
        _along(shrunk, "width").loc[order],
        _error(shrunk).loc[order],
        _along(shrunk_too, "ratio").loc[order],
        _along(sample, "ratio").loc[order],
        _error(sample).loc[order],
        domain_summary(domain_sweep(points=fewer, width=fewer // 2, seed=seed)),
        points,
    )


def _along(sweep: pd.DataFrame, column: str) -> pd.DataFrame:
    return sweep.pivot_table(index="activation", columns=column, values="score")


def _error(sweep: pd.DataFrame) -> pd.Series:
    """Standard error of the mean over all widths, from how the repeats differ."""
    means = sweep.groupby(["activation", "repeat"])["score"].mean().groupby("activation")
    return means.std() / means.size() ** 0.5
