"""Networks that lose their non-linearity: accuracy against what is left of it, and where the rest is."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.plots.style import PALETTE, house_style, legend_below, literal, page, series_style


@house_style()
def accuracy_curves(
    table: pd.DataFrame, x: str, series: str, panels: str, along: str, label: str, columns: int = 2
) -> Figure:
    """Draw accuracy against how much non-linearity is left: a point for each training, a line for their means.

    Args:
        table: A row for each training: ``accuracy``, in [0, 1], and these columns.
        x: The column of what is left.
        series: Of what has a colour and marker of its own.
        panels: Of what has a panel of its own.
        along: Of what was chosen: a line joins the means over the trainings that have it in common.
        label: Of the horizontal axis, with its unit.
        columns: Panels in a row.

    Returns:
        The figure, as wide as a page; each panel has its own axes.

    >>> table = pd.DataFrame({"napl": [0, 1, 2], "accuracy": [0.5, 0.8, 0.9], "when": "late", "task": "digits",
    ...     "omega": [3, 2, 1]})
    >>> figure = accuracy_curves(table, "napl", "when", "task", "omega", "NAPL")
    >>> figure.axes[0].lines[0].get_ydata().tolist(), figure.axes[0].get_ylabel()
    ([50.0, 80.0, 90.0], 'accuracy (%)')
    """
    names = list(dict.fromkeys(table[panels]))
    figure, grid = page(len(names), 0.6, each=2.5, columns=columns, xlabel=label, ylabel="accuracy (%)")
    looks = {name: series_style(number) for number, name in enumerate(dict.fromkeys(table[series]))}
    for axes, name in zip(grid, names, strict=True):
        for group, rows in table[table[panels] == name].groupby(series, sort=False):
            look: Any = looks[group]
            means = rows.groupby(along)[[x, "accuracy"]].mean().sort_values(x)
            axes.plot(means[x], 100 * means["accuracy"], "-", **look, markersize=5, label=literal(str(group)))
            axes.plot(rows[x], 100 * rows["accuracy"], ".", color=look["color"], markersize=3, alpha=0.5)
        axes.set_title(literal(str(name)))
    if len(looks) > 1:
        legend_below(figure, min(len(looks), 4))
    return figure


@house_style()
def core_network(table: pd.DataFrame, panels: str, columns: int = 1) -> Figure:
    """Draw networks by the width of their activations, and within it the channels that are not linear.

    Args:
        table: A row for each activation: ``index`` (its place), ``channels``, ``active``, and this column; several rows
            of an activation are averaged.
        panels: Of what has a panel of its own.
        columns: Panels in a row.

    Returns:
        The figure, as wide as a page; the number over each activation is that of its channels that are not linear.

    >>> table = pd.DataFrame({"index": [0, 1], "channels": [8, 16], "active": [4, 1], "task": "digits"})
    >>> figure = core_network(table, "task")
    >>> [float(bar.get_height()) for bar in figure.axes[0].patches]
    [8.0, 16.0, 4.0, 1.0]
    """
    names = list(dict.fromkeys(table[panels]))
    figure, grid = page(
        len(names), 0.6, each=1.7, columns=columns, sharex=True, sharey=True, ylabel="channels",
        xlabel="activation, in the order of the network",
    )  # fmt: skip
    for axes, name in zip(grid, names, strict=True):
        layers = table[table[panels] == name].groupby("index")[["channels", "active"]].mean()
        for column, colour, label in (("channels", "grey", "all channels"), ("active", "blue", "not linear")):
            high = layers[column].astype(float)
            more: Any = {"alpha": 0.3} if column == "channels" else {}
            axes.bar(layers.index, high, bottom=-high / 2, width=0.8, color=PALETTE[colour], label=label, **more)
        for place, row in layers.iterrows():
            axes.text(place, row["channels"] / 2, f"{row['active']:.0f}", ha="center", va="bottom", fontsize=7)
        axes.set_title(literal(str(name)))
        axes.set_yticks([])
        axes.margins(y=0.2)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, 2)
    return figure
