"""Minimum, median and maximum of signatures over the years."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.errors import AffscoreError
from affscore.plots.style import PALETTE, house_style, legend_below, literal, page, score_axis
from companion.style import family_styles


@house_style()
def timeline(table: pd.DataFrame) -> Figure:
    """Draw the range of each network's scores, oldest network first.

    Args:
        table: As :func:`companion.papers.history` makes it: a row for each network with ``name``, ``family``,
            ``year``, ``min``, ``median`` and ``max``.

    Returns:
        The figure, as wide as a page: for each network a bar from the smallest to the largest score and a marker at the
        median, in the colour and with the marker of its family; above them the years.

    Raises:
        AffscoreError: No networks.

    Source: figure 3 of the paper.

    >>> from companion.papers import history
    >>> figure = timeline(history({"alexnet": [0.6, 0.7, 0.65], "vit_b_16": [0.3, 0.5, 0.4]}))
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['alexnet', 'vit_b_16']
    """
    if table.empty:
        raise AffscoreError("expected at least one network to draw, got none")
    years = table["year"].astype("string").fillna("?").to_numpy()
    # a gap of half a place where a year ends
    places = np.arange(len(years)) + 0.5 * np.cumsum(years != np.roll(years, 1))
    figure, (axes,) = page(1, 4.4, ylabel="minimum, median, maximum")
    for family, (colour, marker) in family_styles(table["family"]).items():
        rows = (table["family"] == family).to_numpy()
        low, middle, high = table.loc[rows, ["min", "median", "max"]].to_numpy().T
        look: Any = {"markersize": 5, "color": colour, "elinewidth": 1.4, "capthick": 1.4, "capsize": 2.7}
        axes.errorbar(places[rows], middle, [middle - low, high - middle], fmt=marker, label=literal(family), **look)
    for year in dict.fromkeys(years):
        of_year = places[years == year]
        axes.text(of_year.mean(), 1.01, year, transform=axes.get_xaxis_transform(), ha="center", fontsize=8)
        if of_year[-1] != places[-1]:
            axes.axvline(of_year[-1] + 0.75, color=PALETTE["grey"], linewidth=0.5, zorder=0)
    axes.set_xticks(places, [literal(name) for name in table["name"]], rotation=90, fontsize=7)
    axes.set_xlim(places[0] - 0.8, places[-1] + 0.8)
    score_axis(axes, table[["min", "max"]])
    legend_below(figure, 5)
    return figure
