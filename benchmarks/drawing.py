"""What a score and a signature cost: times over sizes, speed-ups, memory, and ratios to the plain forward pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from reading import Benchmark

from affscore.figures.style import PALETTE, house_style, legend_below, name_rows, page, series_style

_ROUTES = {"affscore": "affscore", "textbook": "reference"}
_GOAL: Any = {"color": "black", "linestyle": "", "markeredgewidth": 2, "zorder": 4}


@house_style()
def score_times(benchmark: Benchmark) -> Figure:
    """Draw the time of one score over the width, a line for each number of points, one panel for each route.

    Bars reach from the best time of the rounds to the largest.

    Args:
        benchmark: The benchmark "affinity"; where its file is missing, the figure says so.

    Returns:
        The figure, as wide as a page.

    """
    panels = {title: (f"{route}_best", f"{route}_largest") for route, title in _ROUTES.items()}
    return _over_widths(benchmark, panels, "seconds")


@house_style()
def score_memory(benchmark: Benchmark) -> Figure:
    """Draw the peak memory of one score over the width, as :func:`score_times` does the time.

    Args:
        benchmark: The benchmark "affinity"; where its file is missing, the figure says so.

    Returns:
        The figure, as wide as a page.
    """
    panels = {title: (f"memory_mb_{route}", "") for route, title in _ROUTES.items()}
    return _over_widths(benchmark, panels, "peak memory, MB")


@house_style()
def speed_ups(benchmark: Benchmark, goals: Mapping[int, float] | None = None) -> Figure:
    """Draw how many times faster than the reference a score is, over the width, a line for each n.

    Args:
        benchmark: The benchmark "affinity"; where its file is missing, the figure says so.
        goals: Width -> the speed-up that was aimed at; none by default.

    Returns:
        The figure, as wide as a page.
    """
    figure = _over_widths(benchmark, {"": ("ratio", "")}, "times faster than the reference", goals)
    figure.axes[0].axhline(1, color=PALETTE["black"], linewidth=0.7, linestyle="-")
    figure.axes[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return figure


@house_style()
def signature_ratios(benchmark: Benchmark, goals: Mapping[str, tuple[float, float]] | None = None) -> Figure:
    """Draw what a signature costs in units of the plain forward pass of the same network on the same images.

    Bars are medians over pairs of runs, lines reach from the smallest ratio to the largest.

    Args:
        benchmark: The benchmark "signature" or "gpu"; where its file is missing, the figure says so.
        goals: Model -> the ratios that were aimed at, for the scores alone and with all criteria.

    Returns:
        The figure, as wide as a page.
    """
    table = benchmark.table
    figure, (axes,) = page(1, 1.3 + 0.55 * max(len(table), 1), xlabel="time over that of the plain forward pass")
    if table.empty:
        _say(axes, benchmark.note)
        return figure
    parts = (("scores", "scores only", "blue", "white"), ("criteria", "with all default criteria", "orange", "black"))
    for k, (column, label, colour, ink) in enumerate(parts):
        below = np.arange(len(table)) + 0.4 * k - 0.2
        ratios = table[f"ratio_{column}"].to_numpy()
        axes.barh(below, ratios, height=0.36, color=PALETTE[colour], label=label, zorder=2)
        smallest, largest = (table[f"spread_{column}_{which}"].to_numpy() for which in ("smallest", "largest"))
        axes.hlines(below, smallest, largest, color=PALETTE["black"], linewidth=0.8, zorder=3)
        for place, ratio, model in zip(below, ratios, table["model"], strict=True):
            axes.text(0.02, place, f"{ratio:.2f}", va="center", fontsize=8, color=ink)
            if goals and model in goals:
                axes.plot(goals[model][k], place, marker="|", markersize=13, label="goal", **_GOAL)
    axes.axvline(1, color=PALETTE["black"], linewidth=1.0, linestyle="-", zorder=3)
    name_rows(axes, list(table["model"]))
    legend_below(figure, 3)
    return figure


def _over_widths(
    benchmark: Benchmark, panels: Mapping[str, tuple[str, str]], label: str, goals: Mapping[int, float] | None = None
) -> Figure:
    """Panels on one scale, in double logarithms: a column over the width, a line for each number of points.

    Args:
        benchmark: The benchmark "affinity".
        panels: For each title the column, and the one to whose value its bars reach; empty for no bars.
        label: What is on the vertical axis.
        goals: Width -> what was aimed at for 512 points.
    """
    table = benchmark.table
    figure, grid = page(len(panels), 3.6, sharey=True, xlabel="width $d$", ylabel=label)
    for axes, (title, (column, largest)) in zip(grid, panels.items(), strict=True):
        axes.set(title=title, xlabel="width $d$")
        if not (table[column] > 0).any():
            _say(axes, benchmark.note or "not measured")
            continue
        for k, (n, rows) in enumerate(table.groupby("n")):
            measured = rows[rows[column] > 0].sort_values("d")
            up = (measured[largest or column] - measured[column]).clip(lower=0)
            bars: Any = {"yerr": [0 * up, up], "elinewidth": 0.8, "linestyle": "-", "linewidth": 1.1}
            axes.errorbar(measured["d"], measured[column], label=f"n = {n}", **bars, **series_style(k))
        for width, goal in (goals or {}).items():
            axes.plot(width, goal, marker="_", markersize=18, label="goal for n = 512", **_GOAL)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        widths = sorted(table.loc[table[column] > 0, "d"].unique())
        axes.set_xticks(widths, [f"{width:g}" for width in widths])
        axes.xaxis.set_minor_locator(NullLocator())
    legend_below(figure, 6)
    return figure


def _say(axes: Axes, sentence: str) -> None:
    """A panel that says why it is empty."""
    axes.set(xticks=[], yticks=[])
    axes.text(0.5, 0.5, sentence, ha="center", va="center", wrap=True, transform=axes.transAxes)
