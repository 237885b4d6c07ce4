"""The scores of a network while it trains."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.errors import AffscoreError
from affscore.plots.style import PAGE_WIDTH, PALETTE, house_style, legend_below, literal, plt, score_axis

FEW = 12
"""Up to so many measurements are marked by dots, too."""


@house_style()
def scores_over_steps(table: pd.DataFrame, title: str = "") -> Figure:
    """Draw the score of every activation over the optimisation steps: a line each, coloured by its depth.

    The mean over the activations is the dashed black line. Where the accuracy on the probe is known, it has a panel of
    its own below. A line has a gap where the activation has no score, and the mean where one of them has none.

    Args:
        table: A row for each step and activation with ``step``, ``index``, ``depth``, ``score`` and, where it is known,
            ``accuracy``: the table of a :class:`affscore.network.record.TrainingRecord`.
        title: Above the figure.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No rows.

    >>> rows = [(step, index, index + 1, 0.9 - 0.001 * step) for step in (0, 100) for index in range(3)]
    >>> figure = scores_over_steps(pd.DataFrame(rows, columns=["step", "index", "depth", "score"]))
    >>> [axes.get_ylabel() for axes in figure.axes], len(figure.axes[0].lines)
    (['affinity score (axis from 0.75)', 'depth (activations on the longest path)'], 4)
    """
    if table.empty:
        raise AffscoreError("there is no measurement to draw (of several processes only process 0 measures)")
    accuracy = table.groupby("step")["accuracy"].first().dropna() if "accuracy" in table else pd.Series(dtype=float)
    rows = 2 if len(accuracy) else 1
    figure, grid = plt.subplots(
        rows, 1, figsize=(PAGE_WIDTH, 3.4 + 1.1 * (rows - 1)), squeeze=False, sharex=True, layout="constrained",
        height_ratios=[3.4, 1.1][:rows],
    )  # fmt: skip
    scores, depths = table.pivot_table("score", "step", "index", dropna=False), table.groupby("index")["depth"].first()
    colours = ScalarMappable(Normalize(depths.min(), max(depths.max(), depths.min() + 1)), mpl.colormaps["viridis"])
    dot = "o" if len(scores) <= FEW else ""
    top = grid[0, 0]
    for index, depth in depths.items():
        look: Any = {"color": colours.to_rgba(depth), "linestyle": "-", "linewidth": 1.0, "alpha": 0.85}
        top.plot(scores.index, scores[index], marker=dot, markersize=2.5, **look)
    mean: Any = {"color": PALETTE["black"], "linestyle": "--", "linewidth": 2.0}
    means = scores.dropna(axis=1, how="all").mean(axis=1, skipna=False)
    top.plot(scores.index, means, label="mean of the activations", **mean)
    top.set_title(literal(title))
    score_axis(top, table["score"])
    label = "depth (activations on the longest path)"
    figure.colorbar(colours, ax=top, label=label, ticks=MaxNLocator(integer=True), pad=0.01)
    if len(accuracy):
        below = grid[1, 0]
        below.plot(accuracy.index, accuracy, color=PALETTE["vermilion"], linestyle="-", marker=dot, markersize=3)
        below.set(ylabel="accuracy\non the probe", ylim=(0, 1.02))
    grid[-1, 0].set_xlabel("optimisation steps")
    grid[-1, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, 1)
    return figure
