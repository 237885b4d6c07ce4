"""Figures that several chapters draw. Each function draws what it is given and returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray
from scipy.cluster import hierarchy

from affscore.errors import AffscoreError
from affscore.plots.signature import draw_signature, place_in_words, relative_positions
from affscore.plots.style import (
    KIND_LOOKS,
    PALETTE,
    house_style,
    kind_style,
    legend_below,
    literal,
    name_rows,
    page,
    score_axis,
    series_style,
)
from companion.style import FAMILY_LOOKS, family_styles, narrow


@house_style()
def signatures(rows: pd.DataFrame, columns: int = 1) -> Figure:
    """Draw the scores of several networks over depth, a panel for each ``network``.

    Args:
        rows: A row for each activation with ``network``, ``depth``, ``score``, ``kind`` and ``activation``.
        columns: Panels in a row; with one the figure is narrow.

    Source: figure 10 (appendix F) of the paper.

    >>> from companion.real_networks import real_scores
    >>> figure = signatures(real_scores("CIFAR-10").query("network in ['ResNet-20', 'plain-20']"))
    >>> [axes.get_title() for axes in figure.axes]
    ['ResNet-20', 'plain-20']
    """
    plain: dict[str, Any] = {
        "activation": "activation",
        "flag": "",
        "score_std": np.nan,
    }  # one legend, whatever the functions
    panels = dict(list(rows.assign(**plain).groupby("network", sort=False)))
    labels = {"xlabel": "depth (activations on the longest path)", "ylabel": "score"}
    figure, grid = page(len(panels), 0.7, each=1.9, columns=columns, sharey=True, **labels)
    narrow(figure, columns)
    for axes, (name, summary) in zip(grid, panels.items(), strict=True):
        draw_signature(axes, summary)
        axes.set_title(literal(name))
        for points in axes.collections:
            if points.get_label() == "activation" and (rows["kind"] != "hidden").any():
                points.set_label("activation outside of blocks")
    score_axis(grid, rows["score"])
    legend_below(figure, 3)
    return figure


@house_style()
def dendrogram(
    tree: NDArray[np.float64],
    names: Sequence[str],
    families: Sequence[str],
    label: str = "DTW distance",
    signatures: Mapping[str, ArrayLike] | None = None,
) -> Figure:
    """Draw the tree of a hierarchical clustering, with the family of each network, and beside it their signatures.

    Args:
        tree: As :func:`companion.clustering.linkage` makes it.
        names: Of the networks, in the order of the distances.
        families: The family of each.
        label: What the heights of the tree are.
        signatures: Scores by name, in the order of the activations; None for the tree alone.

    Returns:
        The figure, as wide as a page: a network in each row, with the colour and the marker of its family. With
        signatures, these are beside the tree, each in the row of its network, over the relative position of the
        activation (0 first, 1 last).

    Raises:
        AffscoreError: Not a name and a family for each leaf, or one without a signature.

    Source: figure 5 A of the paper.

    >>> from companion.clustering import linkage
    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 4], [1, 0, 4], [4, 4, 0]], names, names)
    >>> figure = dendrogram(linkage(distances), names, ["ResNets", "ResNets", "ViTs"])
    >>> sorted(label.get_text() for label in figure.axes[0].get_yticklabels())
    ['a', 'b', 'c']
    """
    leaves = len(tree) + 1
    if len(names) != leaves or len(families) != leaves:
        got = f"{len(names)} and {len(families)}"
        raise AffscoreError(f"a tree of {leaves} networks needs as many names and families, got {got}")
    widths: Any = {"width_ratios": [1, 1.4]} if signatures else {}
    figure, (axes, *beside) = page(2 if signatures else 1, 1.2 + (0.32 if signatures else 0.19) * leaves, **widths)
    grey: Any = {"color_threshold": 0, "above_threshold_color": "#555555"}
    labels = [literal(name) for name in names]
    hierarchy.dendrogram(tree, labels=labels, orientation="left", leaf_font_size=8, ax=axes, **grey)
    order = hierarchy.leaves_list(tree)
    in_order = np.array(families)[order]
    for family, (colour, marker) in family_styles(families).items():
        places = 5 + 10 * np.flatnonzero(in_order == family)  # where SciPy puts leaves
        look: Any = {"marker": marker, "color": colour, "s": 28, "clip_on": False, "zorder": 3}
        axes.scatter(np.zeros(len(places)), places, label=literal(family), **look)
    axes.set_xlabel(f"{label} at which two clusters are joined")
    axes.tick_params(axis="y", length=0, pad=10)
    axes.spines["left"].set_visible(False)
    if signatures:
        chosen = {names[leaf]: families[leaf] for leaf in order.tolist()}
        looks = family_styles(families)
        _signatures(beside[0], {name: signatures[name] for name in chosen}, {n: looks[f][0] for n, f in chosen.items()})
        axes.set_xlabel(f"{label}\nwhere two clusters join")
        narrow(figure)
    legend_below(figure, 5)
    return figure


def _signatures(axes: Axes, signatures: Mapping[str, ArrayLike], colours: Mapping[str, str]) -> None:
    """A line for each signature in the row of its network."""
    rows = {name: np.asarray(values, dtype=float) for name, values in signatures.items()}
    everything = np.concatenate(list(rows.values()))
    low, high = np.floor(20 * np.nanmin(everything)) / 20, np.ceil(20 * np.nanmax(everything)) / 20
    for row, (name, scores) in enumerate(rows.items()):
        height = 10 * row + 0.5 + 9 * (scores - low) / (high - low)
        axes.plot(relative_positions(scores), height, "-", color=colours[name], linewidth=0.7)
    scale = f"each row: scores {low:.2f} to {high:.2f}"
    axes.set(xlabel=f"{scale},\nover relative position", ylim=(0, 10 * len(rows)), yticks=[])
    axes.spines["left"].set_visible(False)


@house_style()
def two_measures(
    table: pd.DataFrame, x: str, y: str, panels: str, series: str, labels: tuple[str, str], columns: int = 3,
    diagonal: bool = False,
) -> Figure:  # fmt: skip
    """Draw one measure of networks against another.

    Args:
        table: A row for each network.
        x: The column of the first measure.
        y: Of the second.
        panels: Of what has a panel of its own.
        series: Of what has a colour and marker of its own.
        labels: Of both axes, with units.
        columns: Panels in a row.
        diagonal: Whether a line shows where both are equal, and all axes have the same ends.

    Returns:
        The figure, as wide as a page.

    >>> table = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 3.0], "net": "vgg8", "way": ["vanilla", "noise"]})
    >>> figure = two_measures(table, "a", "b", "net", "way", ("density", "deviation"))
    >>> [label.get_text() for label in figure.legends[0].get_texts()]
    ['vanilla', 'noise']
    """
    names = list(dict.fromkeys(table[panels]))
    figure, grid = page(
        len(names), 0.8, each=2.0 if columns == 1 else 2.6, columns=columns, xlabel=labels[0], ylabel=labels[1]
    )
    narrow(figure, columns)
    looks: dict[Any, dict[str, Any]] = {
        name: series_style(number) for number, name in enumerate(dict.fromkeys(table[series]))
    }
    if set(looks) <= set(FAMILY_LOOKS):
        looks = {name: {"color": look[0], "marker": look[1]} for name, look in family_styles(looks).items()}
    elif set(looks) <= set(KIND_LOOKS):
        looks = {name: dict(zip(("color", "marker"), kind_style(name), strict=True)) for name in looks}
    for axes, name in zip(grid, names, strict=True):
        for group, rows in table[table[panels] == name].groupby(series, sort=False):
            look: Any = {"linestyle": "", "markersize": 5, **looks[group]}
            label = place_in_words(group) if group in KIND_LOOKS else literal(str(group))
            axes.plot(rows[x], rows[y], label=label, **look)
        if diagonal:
            ends = np.nanmin(table[[x, y]]) - 0.02, np.nanmax(table[[x, y]]) + 0.02
            axes.plot(ends, ends, "-", color=PALETTE["grey"], linewidth=0.8, zorder=1)
            axes.set(xlim=ends, ylim=ends)
        axes.set_title(literal(str(name)))
    legend_below(figure, 4)
    return figure


_OF_A_BUNDLE = ("group", "line", "depth", "score")

_OF_GROUPS = ("X", "d", "p", "h", "*", "8", "H")
"""Markers of groups: none of those that the places in a block have."""


@house_style()
def repeated_signatures(panels: Mapping[str, pd.DataFrame], by: str, *, label: str) -> Figure:
    """Draw signatures of one network over each other, a panel for each network.

    Args:
        panels: For each title a row for each activation (``index``) and value of ``by``, with the ``score``.
        by: The column in which the lines of a panel differ, as ``n`` or ``seed``. A value has the same colour in all
            panels, and the same marker.
        label: What the values are, before each in the legend.

    Returns:
        The figure, its panels below each other.

    Source: figure 8 (appendix E).

    >>> rows = pd.DataFrame({"index": [0, 1, 0, 1], "n": [64, 64, 128, 128], "score": [0.5, 0.7, 0.5, 0.6]})
    >>> figure = repeated_signatures({"net": rows}, "n", label="n = ")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['n = 64', 'n = 128']
    """
    values = sorted({value for rows in panels.values() for value in rows[by]})
    looks = {value: {**series_style(k), "linewidth": 1, "markersize": 3.5} for k, value in enumerate(values)}
    labels = {"xlabel": "activation, in order", "ylabel": "affinity score"}
    figure, grid = page(len(panels), 1.0, each=2.0, columns=1, sharey=True, **labels)
    narrow(figure)
    for value in values:  # for the legend, in their order
        grid[0].plot([], [], "-", label=f"{label}{value}", **looks[value])
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        for value, own in rows.sort_values("index").groupby(by):
            axes.plot(own["index"] + 1, own["score"], "-", **looks[value])
        axes.set_title(literal(title))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    score_axis(grid, np.concatenate([rows["score"] for rows in panels.values()]))
    legend_below(figure, min(len(values), 9))
    return figure


@house_style()
def bundles_of_signatures(rows: pd.DataFrame, panels: str | None = None, columns: int = 3, dashed: str = "") -> Figure:
    """Draw signatures over the depth: a thin line for each, and a thick one with markers for the mean of each group.

    Args:
        rows: A row for each activation of each signature, with ``group`` (what a colour stands for), ``line`` (which
            signature of the group), ``depth`` and ``score``. Activations of the same depth are averaged.
        panels: A further column; each of its values has a panel of its own. None for one panel.
        columns: Panels in a row.
        dashed: Groups whose names end so have dashed lines without markers, in the colour of the group that is called
            alike up to the comma.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: A missing column, or no rows.

    >>> rows = [("before", seed, depth, 0.5 + 0.01 * seed) for seed in range(3) for depth in range(5)]
    >>> figure = bundles_of_signatures(pd.DataFrame(rows, columns=["group", "line", "depth", "score"]))
    >>> len(figure.axes[0].lines), figure.axes[0].get_xlabel()
    (4, 'depth (activations on the longest path)')
    """
    needed = [*_OF_A_BUNDLE, *([panels] if panels else [])]
    if missing := [name for name in needed if name not in rows] or rows.empty:
        what = f"the columns {', '.join(map(str, missing))}" if isinstance(missing, list) else "rows"
        raise AffscoreError(f"the table of signatures lacks {what}; it needs {', '.join(needed)}")
    shown = [(str(name), some) for name, some in rows.groupby(panels, sort=False)] if panels else [("", rows)]
    names = list(dict.fromkeys(rows["group"]))
    colours = pd.factorize(np.array([str(name).rpartition(", ")[0] if dashed else name for name in names]))[0].tolist()
    looks = {name: series_style(k) | {"marker": _OF_GROUPS[k % 7]} for name, k in zip(names, colours, strict=True)}
    for one in names:
        looks[one] |= {"linestyle": "--", "marker": ""} if dashed and str(one).endswith(dashed) else {"linestyle": "-"}
    figure, grid = page(
        len(shown), 0.9, each=2.1 if columns == 1 else 2.6, columns=columns, sharex=columns > 1, sharey=True,
        xlabel="depth (activations on the longest path)", ylabel="affinity score",
    )  # fmt: skip
    narrow(figure, columns)
    for axes, (name, some) in zip(grid, shown, strict=True):
        for group, members in some.groupby("group", sort=False):
            _draw_bundle(axes, members, str(group), looks[group])
        axes.set(title=literal(name), xlabel=grid[-1].get_xlabel())
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    score_axis(grid, rows["score"])
    if len(looks) > 1:
        legend_below(figure, min(len(looks), 5), handlelength=3)
    return figure


def _draw_bundle(axes: Any, members: pd.DataFrame, group: str, look: dict[str, Any]) -> None:
    import seaborn as sns  # slow to load

    means = members.groupby(["line", "depth"], as_index=False)["score"].mean()  # of activations side by side
    lines: Any = {"data": means, "x": "depth", "y": "score", "ax": axes, "legend": False}
    thin: Any = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 0.7, "alpha": 0.45}
    sns.lineplot(**lines, **thin, units="line", estimator=None)
    number = members["line"].nunique()
    label = literal(f"{group} ({number})" if number > 1 else group)
    edge = {"markeredgecolor": look["color"]}
    sns.lineplot(**lines, **look, **edge, errorbar=None, linewidth=2, markersize=5, label=label)


@house_style()
def score_dots(table: pd.DataFrame) -> Figure:
    """Draw scores as markers on one line for each row, with a marker for each column; the first sorts the rows.

    Args:
        table: The scores. Later ones are smaller and lower, so that all are seen.

    Returns:
        The figure, narrower than a page.

    >>> figure = score_dots(pd.DataFrame({"mean": [0.6, 0.9], "flatten": [0.62, 0.9]}, index=["relu", "sigmoid"]))
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['relu', 'sigmoid']
    """
    table = table.sort_values(table.columns[0])
    figure, (axes,) = page(1, 0.9 + 0.25 * len(table))
    for number, (name, scores) in enumerate(table.items()):
        style = series_style(number)
        look: Any = {"edgecolors": style["color"], "marker": style["marker"], "facecolors": "none", "linewidths": 1.4}
        heights = np.arange(len(table)) + 0.16 * (number - table.shape[1] // 2)
        axes.scatter(scores, heights, s=60 / 1.4**number + 8, label=literal(str(name)), zorder=3, **look)
    name_rows(axes, list(table.index))
    axes.grid(axis="y", color=PALETTE["grey"], linewidth=0.5)
    score_axis(axes, table.to_numpy(), direction="x")
    legend_below(figure, 3)
    narrow(figure)
    return figure


@house_style()
def forest(verdicts: pd.DataFrame, label: str) -> Figure:
    """Draw differences with their intervals, a row for each, over a band that is the margin of equivalence.

    Args:
        verdicts: A row for each comparison, with ``difference``, ``low``, ``high`` and ``margin``
            (:func:`companion.studies.interventions.judged`).
        label: Of the axis.

    >>> row = {"difference": 0.1, "low": 0.0, "high": 0.2, "margin": 0.02}
    >>> len(forest(pd.DataFrame({"a": row, "b": row}).T, "difference").axes[0].containers)  # bands and intervals
    4
    """
    figure, (axes,) = page(1, max(1.6, 0.5 + 0.3 * len(verdicts)))
    columns = verdicts[["low", "difference", "high", "margin"]].to_numpy(dtype=float)
    for place, (low, value, high, margin) in enumerate(columns):
        axes.barh(place, 2 * margin, 0.7, -margin, color="0.88")
        axes.errorbar(value, place, xerr=[[value - low], [high - value]], fmt="o", color=PALETTE["blue"])
    axes.axvline(0, color="0.5", linewidth=0.8)
    axes.set_xlabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.tick_params(axis="y", length=0)
    name_rows(axes, [*verdicts.index])
    return figure
