"""Networks that lose their non-linearity: accuracy against what is left of it, and where the rest is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.plots.style import PALETTE, house_style, kind_style, legend_below, literal, page, series_style
from companion.style import narrow


@house_style()
def accuracy_by_share(table: pd.DataFrame) -> Figure:
    """Draw accuracy against the share of channels that became linear, a line for each order in which they did.

    Args:
        table: A row for each share, in [0, 1]; a column for each order, of accuracies in per cent.

    >>> figure = accuracy_by_share(pd.DataFrame({"random": [90, 20], "variance": [90, 50]}, [0, 0.5]))
    >>> [line.get_label() for line in figure.axes[0].lines]  # the best one first
    ['variance', 'random']
    """
    labels: Any = {"xlabel": "channels that became linear (%)", "ylabel": "mean accuracy (%)"}
    figure, (axes,) = page(1, 2.9, **labels)
    narrow(figure)
    for number, order in enumerate(table.mean().sort_values(ascending=False).index):
        axes.plot(100 * table.index, table[order], "-", **series_style(number), markersize=5, label=literal(str(order)))
    axes.set(xticks=100 * table.index, ylim=(0, None))
    legend_below(figure, 3)
    return figure


@house_style()
def accuracy_curves(table: pd.DataFrame) -> Figure:
    """Draw accuracy against the path length that is left: a point for each training, a line for their means.

    Args:
        table: A row for each training: ``task``, ``when``, ``omega``, ``napl`` and ``accuracy``, in [0, 1].

    Returns:
        The figure, its panels below each other: one a task; a line joins the means over the trainings of one omega.

    >>> table = pd.DataFrame({"napl": [0, 1, 2], "accuracy": [0.5, 0.8, 0.9], "when": "late", "task": "sum",
    ...     "omega": [3, 2, 1]})
    >>> figure = accuracy_curves(table)
    >>> figure.axes[0].lines[0].get_ydata().tolist(), figure.axes[0].get_ylabel()
    ([50.0, 80.0, 90.0], 'accuracy (%)')
    """
    names = list(dict.fromkeys(table["task"]))
    labels = {"xlabel": "path length", "ylabel": "accuracy (%)"}
    figure, grid = page(len(names), 0.9, each=1.8, columns=1, sharex=True, **labels)
    narrow(figure)
    looks = {name: series_style(number) for number, name in enumerate(dict.fromkeys(table["when"]))}
    for axes, name in zip(grid, names, strict=True):
        for group, rows in table[table["task"] == name].groupby("when", sort=False):
            look: Any = looks[group]
            means = rows.groupby("omega")[["napl", "accuracy"]].mean().sort_values("napl")
            axes.plot(means["napl"], 100 * means["accuracy"], "-", **look, markersize=5, label=literal(str(group)))
            axes.plot(rows["napl"], 100 * rows["accuracy"], ".", color=look["color"], markersize=3, alpha=0.5)
        axes.set(title=literal(str(name)), ylim=(0, 100))
    legend_below(figure, 4)
    return figure


@house_style()
def core_network(table: pd.DataFrame) -> Figure:
    """Draw networks by the width of their activations, and within it the channels that are not linear.

    Args:
        table: A row for each task and activation, its index: ``channels`` and ``active``, those that are not linear.

    Returns:
        The figure, its panels below each other: one for each task; the number over each activation is that of its
        channels that are not linear.

    >>> table = pd.DataFrame({"channels": [8, 16], "active": [4, 1]}, [["sum", "sum"], [0, 1]])
    >>> figure = core_network(table)
    >>> [float(bar.get_height()) for bar in figure.axes[0].patches]
    [8.0, 16.0, 4.0, 1.0]
    """
    names = list(dict.fromkeys(table.index.get_level_values(0)))
    figure, grid = page(
        len(names), 0.6, each=1.7, columns=1, sharex=True, sharey=True, ylabel="channels",
        xlabel="activation, in the order of the network",
    )  # fmt: skip
    narrow(figure)
    for axes, name in zip(grid, names, strict=True):
        layers = table.loc[name]
        for column, colour, label in (("channels", "grey", "all channels"), ("active", "blue", "not linear")):
            high = layers[column].astype(float)
            more: Any = {"alpha": 0.3} if column == "channels" else {}
            axes.bar(layers.index + 1, high, bottom=-high / 2, width=0.8, color=PALETTE[colour], label=label, **more)
        for place, row in layers.iterrows():
            axes.text(place + 1, row["channels"] / 2, f"{row['active']:.0f}", ha="center", va="bottom", fontsize=9)
        axes.set_title(literal(str(name)))
        axes.set_yticks([])
        axes.margins(y=0.2)
        axes.set_xticks(layers.index + 1)
    legend_below(figure, 2)
    return figure


@house_style()
def by_kind(table: pd.DataFrame, columns: Mapping[str, str]) -> Figure:
    """Draw the share of channels that stays against other measures of activations, in the look of their places.

    Args:
        table: A row for each activation: ``stays``, in [0, 1], ``kind``, and these columns.
        columns: The label of each measure by its column; each has a panel of its own.

    Returns:
        The figure, its panels below each other.

    >>> table = pd.DataFrame({"stays": [0.5, 0.1], "kind": ["first", "after-sum"], "score": [0.6, 0.9]})
    >>> [line.get_xdata().tolist() for line in by_kind(table, {"score": "affinity score"}).axes[0].lines]
    [[0.6], [0.9]]
    """
    figure, grid = page(len(columns), 0.6, each=1.9, columns=1, ylabel="share that stays (%)")
    narrow(figure)
    for axes, (name, label) in zip(grid, columns.items(), strict=True):
        for kind, rows in table.groupby("kind", sort=False):
            colour, marker = kind_style(str(kind))
            look: Any = {"color": colour, "marker": marker, "linestyle": "", "markersize": 6}
            axes.plot(rows[name], 100 * rows["stays"], **look, label=LABELS.get(str(kind), str(kind)))
        axes.set(xlabel=label, ylim=(-4, 100))
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    legend_below(figure, 3)
    return figure


LABELS = {"hidden": "outside of blocks", "first": "inside a block", "after-sum": "after a sum"}
"""What the kinds of the network are called on the page."""
