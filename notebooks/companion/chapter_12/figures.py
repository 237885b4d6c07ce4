"""Signatures on other data, and on the images of one class, beside what chance does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from affscore.plots.style import PALETTE, house_style, legend_below, literal, page, series_style
from companion.style import narrow

_LABELS = {"euclidean": "Euclidean distance", "dtw": "DTW distance"}


@house_style()
def deviation_panels(table: pd.DataFrame, values: Sequence[str] = ("euclidean", "dtw"), chance: str = "") -> Figure:
    """Draw how far the signature of each network on other data is from that on the data of reference.

    Args:
        table: A row for each network (``model``) and ``dataset``, with the distances.
        values: The distances to draw, a panel for each.
        chance: What the column ``chance`` is called, which is drawn as bars behind the Euclidean distances.

    Returns:
        The figure, narrow: the networks side by side, a marker for each data set, and a line at the mean of
        each over the networks.

    Source: figure 15.

    >>> rows = {"model": "a", "dataset": "random", "euclidean": [0.5], "chance": 0.1}
    >>> figure = deviation_panels(pd.DataFrame(rows), ["euclidean"], chance="other digits")
    >>> figure.axes[0].get_ylabel(), [label.get_text() for label in figure.legends[0].get_texts()]
    ('Euclidean distance', ['random', 'other digits'])
    """
    names = list(dict.fromkeys(table["model"]))
    figure, panels = page(len(values), 1.3, each=2.1, columns=1, sharex=True)
    narrow(figure)
    for axes, value in zip(panels, values, strict=True):
        for number, (data, rows) in enumerate(table.groupby("dataset", sort=False)):
            look: Any = {"markersize": 4.5, "linestyle": "", **series_style(number)}
            places = [names.index(model) for model in rows["model"]]
            axes.plot(places, rows[value], label=literal(data), markerfacecolor="none", **look)
            axes.axhline(rows[value].mean(), color=look["color"], linewidth=0.8, linestyle=":")
        if value == "euclidean" and chance:
            own = table.groupby("model")["chance"].first().loc[names]
            axes.bar(range(len(names)), own, color=PALETTE["grey"], alpha=0.6, label=literal(chance), zorder=0)
        axes.set_ylabel(_LABELS.get(value, value.replace("_", " ")))
        axes.set_ylim(bottom=0)
    turned: Any = {"rotation": 90} if len(names) > 8 else {"rotation": 30, "ha": "right"}
    panels[-1].set_xticks(range(len(names)), [literal(name) for name in names], **turned)
    panels[-1].set_xlim(-0.7, len(names) - 0.3)
    legend_below(figure, 3)
    return figure
