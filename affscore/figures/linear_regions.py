"""Linear regions: along a path, over networks, and against their width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.errors import AffscoreError
from affscore.figures.style import PALETTE, house_style, legend_below, literal, page, series_style
from affscore.linear_regions import Segment


@house_style()
def logits_along_path(path: Sequence[Segment], logits: Mapping[str, int]) -> Figure:
    """Draw logits along a path of segments, with their chords, and where the function bends.

    Args:
        path: Its segments, one after the other.
        logits: Which to draw, by their names.

    Returns:
        The figure, as wide as a page: a panel for each logit, the area between it and its chords shaded, and a tick at
        the bottom for each breakpoint.

    Raises:
        AffscoreError: No segment or no logit.

    Source: Gamba et al., the figure of the poster.
    """
    if not path or not logits:
        raise AffscoreError("expected a segment and a logit at least to draw")
    figure, panels = page(len(logits), 0.4, each=2.2, columns=1, sharex=True, xlabel="distance along the path")
    ends = np.cumsum([0.0, *(one.length for one in path)])
    for axes, (name, logit) in zip(panels, logits.items(), strict=True):
        for one, start in zip(path, ends[:-1], strict=True):
            places, values = start + one.t * one.length, one.logits[:, logit]
            chord = values[0] + one.t * (values[-1] - values[0])
            axes.fill_between(places, values, chord, color=PALETTE["sky"], alpha=0.5, linewidth=0)
            axes.plot(places, values, color=PALETTE["black"], linewidth=0.9)
            axes.plot(places[[0, -1]], values[[0, -1]], color=PALETTE["vermilion"], linewidth=0.9, linestyle="--")
            bends = start + one.breakpoints * one.length
            axes.plot(bends, np.zeros_like(bends), "|", transform=axes.get_xaxis_transform(), color=PALETTE["grey"])
        axes.set_ylabel(literal(name))
    return figure


@house_style()
def two_measures(table: pd.DataFrame, x: str, y: str, panels: str, series: str, labels: tuple[str, str]) -> Figure:
    """Draw one measure of networks against another.

    Args:
        table: A row for each network.
        x: The column of the first measure.
        y: Of the second.
        panels: Of what has a panel of its own.
        series: Of what has a colour and marker of its own.
        labels: Of both axes, with units.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No network.

    >>> table = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 3.0], "net": "vgg8", "way": ["vanilla", "noise"]})
    >>> figure = two_measures(table, "a", "b", "net", "way", ("density", "deviation"))
    >>> [label.get_text() for label in figure.legends[0].get_texts()]
    ['vanilla', 'noise']
    """
    if table.empty:
        raise AffscoreError("expected a network at least to draw")
    names = list(dict.fromkeys(table[panels]))
    figure, grid = page(len(names), 0.8, each=2.6, xlabel=labels[0], ylabel=labels[1])
    looks = {name: series_style(number) for number, name in enumerate(dict.fromkeys(table[series]))}
    for axes, name in zip(grid, names, strict=True):
        for group, rows in table[table[panels] == name].groupby(series, sort=False):
            look: Any = {"linestyle": "", "markersize": 5, **looks[group]}
            axes.plot(rows[x], rows[y], label=literal(str(group)), **look)
        axes.set_title(literal(str(name)))
    legend_below(figure, 4)
    return figure


@house_style()
def against_width(table: pd.DataFrame, measures: Mapping[str, str], threshold: float | None = None) -> Figure:
    """Draw measures of networks against their width, a line for each seed and a thick one for their mean.

    Args:
        table: A row for each network: ``width``, ``seed`` and the measures.
        measures: The label of each measure, with its unit, by the name of its column.
        threshold: A width to mark, from which on a network fits all training labels.

    Returns:
        The figure, as wide as a page: a panel for each measure over a logarithmic axis.

    Raises:
        AffscoreError: No network or no measure.

    >>> table = pd.DataFrame({"width": [1, 2], "seed": 1, "test_error": [0.2, 0.1]})
    >>> len(against_width(table, {"test_error": "test error"}).axes)
    1
    """
    if table.empty or not measures:
        raise AffscoreError("expected a network and a measure at least to draw")
    figure, panels = page(len(measures), 0.4, each=2.4, xlabel="width (channels of the first stage)")
    widths = sorted(set(table["width"]))
    for axes, (name, label) in zip(panels, measures.items(), strict=True):
        for _, rows in table.sort_values("width").groupby("seed"):
            axes.plot(rows["width"], rows[name], color=PALETTE["grey"], linewidth=0.7)
        mean = table.groupby("width")[name].mean()
        axes.plot(mean.index, mean, color=PALETTE["blue"], marker="o", markersize=4)
        if threshold is not None:
            axes.axvline(threshold, color=PALETTE["vermilion"], linestyle="--", linewidth=0.9)
        axes.set_xscale("log", base=2)
        axes.set_xticks(widths, [str(width) for width in widths], minor=False)
        axes.tick_params(axis="x", labelsize=7)
        axes.set_ylabel(label)
    return figure
