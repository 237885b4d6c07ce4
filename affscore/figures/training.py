"""Scores and losses of networks while they train; and scores along a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from affscore.errors import AffscoreError
from affscore.figures.style import (
    MARKERS,
    PAGE_WIDTH,
    PALETTE,
    house_style,
    legend_below,
    literal,
    page,
    plt,
    score_axis,
)

_FEW = 12
"""Up to so many measurements are marked by dots, too."""

_LIGHTEST = 0.85
"""Of the colour map; what lies above is too light for a line on white."""


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
    dot = "o" if len(scores) <= _FEW else ""
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


@house_style()
def scores_along(panels: Mapping[str, pd.DataFrame], by: str, xlabel: str, *, doubling: bool = False) -> Figure:
    """Draw the score of each activation along something: a line for its mean, and a band from least to most.

    Args:
        panels: For each title a row for each activation (``index``), value of ``by`` and repetition (a seed), with the
            ``score``.
        by: What is on the horizontal axis, a column of numbers from 0.
        xlabel: What that is called.
        doubling: Whether the axis is logarithmic, with 1 added to every number, as positions of a text are counted.

    Returns:
        The figure, as wide as a page: a panel for each title; the first activation is the darkest.

    Raises:
        AffscoreError: Nothing to draw.

    >>> rows = [(step, index, seed, 0.9 - 0.1 * step) for step in (0, 1) for index in (0, 1) for seed in (1, 2)]
    >>> table = pd.DataFrame(rows, columns=["step", "index", "seed", "score"])
    >>> figure = scores_along({"net": table}, "step", "steps")
    >>> len(figure.axes[0].lines), figure.axes[0].get_xlabel()
    (2, 'steps')
    """
    import seaborn as sns  # slow to load

    if not panels or any(rows.empty for rows in panels.values()):
        raise AffscoreError("there is no score to draw: give a row for each activation at least")
    figure, grid = page(
        len(panels), 0.8, each=2.5, columns=min(len(panels), 3), sharey=True, xlabel=xlabel, ylabel="affinity score"
    )
    numbers = sorted({index for rows in panels.values() for index in rows["index"]})
    colours = mpl.colormaps["viridis"](np.linspace(0, _LIGHTEST, len(numbers)))
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        places = sorted(set(rows[by] + doubling))
        for index, own in rows.groupby("index"):
            place = numbers.index(index)
            marker = MARKERS[place % len(MARKERS)] if len(places) <= _FEW else ""
            look: Any = {"color": colours[place], "marker": marker, "markersize": 3, "markeredgewidth": 0}
            whole: Any = {"errorbar": ("pi", 100), "err_kws": {"linewidth": 0}}  # from the least to the largest
            sns.lineplot(
                x=own[by] + doubling, y=own["score"], ax=axes, linestyle="-", linewidth=1.2, legend=False,
                label=f"activation {own['index'].iloc[0] + 1}", **look, **whole,
            )  # fmt: skip
        axes.set_title(literal(title))
        if doubling:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator(places))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
    score_axis(grid, np.concatenate([rows["score"] for rows in panels.values()]))
    legend_below(figure, min(len(numbers), 7))
    return figure
