"""Linear regions: along a path, over networks, and against their width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from affscore.linear_regions import Segment
from affscore.plots.style import PALETTE, house_style, legend_below, literal, page, series_style
from companion.planes import Plane
from companion.style import narrow


@house_style()
def logits_along_path(paths: Mapping[str, Sequence[Segment]], logit: int, part: float = 0.02) -> Figure:
    """Draw a logit of networks along the same path, with its chords; and where it bends on a short part.

    Args:
        paths: The segments of the path, one after the other, by the name of the network.
        logit: Which to draw, its number.
        part: How much of the first segment is magnified, as a fraction of it.

    Returns:
        The figure. Of each network the left panel has the whole path, with the area between the
        logit and its chords shaded, and how many breakpoints; the right one has the first part of it, with a tick for
        each breakpoint. The vertical axes of a column have the same scale.

    Source: Gamba et al., the figure of the poster.
    """
    size = {"width_ratios": [5, 4]}
    figure, panels = page(
        2 * len(paths), 0.4, each=2.0, columns=2, sharex="col", gridspec_kw=size, xlabel="distance along the path"
    )
    narrow(figure)
    for (name, path), (whole, magnified) in zip(
        paths.items(), zip(panels[::2], panels[1::2], strict=True), strict=True
    ):
        ends = np.cumsum([0.0, *(one.length for one in path)])
        for one, start in zip(path, ends[:-1], strict=True):
            values = one.logits[:, logit]
            chord = values[0] + one.t * (values[-1] - values[0])
            places = start + one.t * one.length
            whole.fill_between(places, values, chord, color=PALETTE["sky"], alpha=0.6, linewidth=0)
            whole.plot(places, values, color=PALETTE["black"], linewidth=0.9, linestyle="-")
            whole.plot(places[[0, -1]], values[[0, -1]], color=PALETTE["vermilion"], linewidth=0.9, linestyle="--")
        first = path[0]
        t = np.append(first.t[first.t < part], part)
        values = np.interp(t, first.t, first.logits[:, logit])
        magnified.plot(t * first.length, values, color=PALETTE["black"], linewidth=0.9, linestyle="-")
        kinks = first.breakpoints[first.breakpoints < part]
        low = magnified.get_xaxis_transform()
        magnified.plot(kinks * first.length, np.full_like(kinks, 0.04), "|", transform=low, color=PALETTE["vermilion"])
        magnified.set_title(f"enlarged, kinks: {len(kinks)}")
        whole.set_title(f"{literal(name)}, kinks: {sum(len(one.breakpoints) for one in path)}")
        whole.set_ylabel(f"output {logit}")
    for column in (panels[::2], panels[1::2]):
        _of_one_scale(column)
    figure.align_ylabels(panels[::2])
    return figure


def _of_one_scale(panels: Sequence[Axes]) -> None:
    """Let the vertical axes of panels have the same length in units, each around its own values."""
    ends = [axes.get_ylim() for axes in panels]
    half = max(high - low for low, high in ends) / 2
    for axes, (low, high) in zip(panels, ends, strict=True):
        axes.set_ylim((low + high) / 2 - half, (low + high) / 2 + half)


BORDERS = 3.0
"""Borders of regions are drawn where these have so many cells to a side on average, at least."""


@house_style()
def mosaic(planes: Mapping[str, Sequence[Plane]], logit: int) -> Figure:
    """Draw the linear regions of networks on planes, each in the colour of how steep a logit is on it.

    Args:
        planes: By the name of the network; those of one network side by side.
        logit: Which, its number.

    Returns:
        The figure: a row for each network, all panels with one scale of colours. Where regions are
        large enough, white lines part them. Sides are drawn at right angles, whatever their angle is.
    """
    columns = {len(some) for some in planes.values()}
    (number,) = columns
    figure, panels = page(len(planes) * number, 0.5, each=2.1, columns=number, xlabel="distance", ylabel="distance")
    narrow(figure)
    steep = [one.slopes[:, :, logit] for some in planes.values() for one in some]
    top = max(float(np.quantile(one, 0.995)) for one in steep)
    names = [(name, one) for name, some in planes.items() for one in some]
    for axes, (name, plane), slopes in zip(panels, names, steep, strict=True):
        extent = (0.0, plane.sides[0], 0.0, plane.sides[1])
        image = axes.imshow(slopes, origin="lower", extent=extent, cmap="cividis", vmin=0, vmax=top, aspect="auto")
        if plane.regions.size / plane.count >= BORDERS**2:
            axes.add_collection(LineCollection(_borders(plane), colors="white", linewidths=0.4))
        axes.set_title(f"{literal(name)}\n{plane.count} regions at {plane.regions.size} points", fontsize=9)
    figure.colorbar(image, ax=panels, label=f"slope of output {logit}", extend="max", shrink=0.6)
    return figure


def _borders(plane: Plane) -> list[NDArray[np.float64]]:
    """The sides of cells that part two regions, as lines from point to point."""
    rows, columns = plane.regions.shape
    cell = np.array(plane.sides) / (columns, rows)
    beside, above = (np.argwhere(np.diff(plane.regions, axis=axis))[:, ::-1] for axis in (1, 0))  # (column, row)
    sides = ((beside, [(1, 0), (1, 1)]), (above, [(0, 1), (1, 1)]))
    return [(place + np.array(ends)) * cell for places, ends in sides for place in places]


@house_style()
def against_width(table: pd.DataFrame, measures: Mapping[str, str], threshold: float | None = None) -> Figure:
    """Draw measures of networks against their width, a line for each seed and a thick one for their mean.

    Args:
        table: A row for each network: ``width``, ``seed`` and the measures.
        measures: The label of each measure, with its unit, by the name of its column.
        threshold: A width to mark, from which on a network fits all training labels.

    Returns:
        The figure, its panels below each other: one for each measure, over a logarithmic axis.

    >>> table = pd.DataFrame({"width": [1, 2], "seed": 1, "test_error": [0.2, 0.1]})
    >>> len(against_width(table, {"test_error": "test error"}).axes)
    1
    """
    import seaborn as sns  # slow to load

    width = "width (channels of the first stage)"
    figure, panels = page(len(measures), 0.4, each=1.4, columns=1, sharex=True, xlabel=width)
    narrow(figure)
    widths = sorted(set(table["width"]))
    for axes, (name, label) in zip(panels, measures.items(), strict=True):
        numbers: Any = {"data": table, "x": "width", "y": name, "ax": axes, "linestyle": "-"}
        sns.lineplot(**numbers, units="seed", estimator=None, color=PALETTE["grey"], linewidth=0.7)
        look: Any = {"color": PALETTE["blue"], "markeredgecolor": PALETTE["blue"], "marker": "o", "markersize": 4}
        sns.lineplot(**numbers, **look, errorbar=None)
        if threshold is not None:
            axes.axvline(threshold, color=PALETTE["vermilion"], linestyle="--", linewidth=0.9)
        axes.set_xscale("log", base=2)
        axes.set_xticks(widths, ["" if width in (3, 12) else str(width) for width in widths], minor=False)
        if name != "score":
            axes.set_ylim(bottom=0)
        axes.set_ylabel(label)
    figure.align_ylabels(panels)
    return figure


@house_style()
def times_as_large(table: pd.DataFrame) -> Figure:
    """Draw how many times as large measures are as with right labels, a panel for each network.

    Args:
        table: A column for each measure, a row for each network and way of training, as "noise-0.2".

    Returns:
        The figure, its panels below each other: the ways in their order, a line for each measure; the axes begin at 0.

    >>> rows = pd.MultiIndex.from_product([["VGG", "ResNet"], ["vanilla", "noise-0.2"]])
    >>> figure = times_as_large(pd.DataFrame({"density": [1, 1.2, 1, 1.4]}, rows))
    >>> [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    ['right', '20 %']
    """
    names = list(dict.fromkeys(table.index.get_level_values(0)))
    labels = {"xlabel": "training labels", "ylabel": "times as large"}
    figure, panels = page(len(names), 1.0, each=1.7, columns=1, sharex=True, **labels)
    narrow(figure)
    for axes, name in zip(panels, names, strict=True):
        rows = table.loc[name]
        for number, measure in enumerate(table):
            axes.plot(range(len(rows)), rows[measure], "-", **series_style(number), label=literal(measure))
        ways = [way.replace("vanilla", "right").replace("augmented", "moved") for way in rows.index]
        shares = [f"{100 * float(way[6:]):.0f} %" if way.startswith("noise-") else way for way in ways]
        axes.set_xticks(range(len(rows)), shares, rotation=45, ha="right", rotation_mode="anchor")
        axes.set(title=f"mini {literal(name)}", ylim=(0, 1.05 * table.to_numpy().max()))
    legend_below(figure, 3)
    return figure
