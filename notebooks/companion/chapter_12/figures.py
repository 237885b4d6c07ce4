"""Signatures on other data, and on the images of one class, beside what chance does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from affscore.plots.style import PALETTE, house_style, legend_below, literal, name_rows, page, series_style
from companion.figures import bundles_of_signatures
from companion.style import narrow

_LABELS = {"euclidean": "Euclidean distance", "units": "Euclidean distance (units)", "dtw": "DTW distance"}


@house_style()
def deviation_panels(table: pd.DataFrame, values: Sequence[str] = ("euclidean", "dtw"), chance: str = "") -> Figure:
    """Draw how far the signature of each network on other data is from that on the data of reference.

    Args:
        table: A row for each network (``model``) and ``dataset``, with the distances.
        values: The distances to draw, a panel for each.
        chance: What the column ``chance`` is called, which is drawn as bars behind all but the DTW distances.

    Returns:
        The figure, narrow: a row for each network, and a marker for each data set.

    Source: figure 15.

    >>> rows = {"model": "a", "dataset": "random", "euclidean": [0.5], "chance": 0.1}
    >>> figure = deviation_panels(pd.DataFrame(rows), ["euclidean"], chance="other digits")
    >>> figure.axes[0].get_xlabel(), [label.get_text() for label in figure.legends[0].get_texts()]
    ('Euclidean distance', ['random', 'other digits'])
    """
    names = list(dict.fromkeys(table["model"]))
    figure, panels = page(len(values), 0.6, each=0.4 + 0.24 * len(names), columns=1)
    narrow(figure)
    for axes, value in zip(panels, values, strict=True):
        for number, (data, rows) in enumerate(table.groupby("dataset", sort=False)):
            look: Any = {"markersize": 4.5, "linestyle": "", **series_style(number)}
            places = [names.index(model) for model in rows["model"]]
            axes.plot(rows[value], places, label=literal(data), markerfacecolor="none", **look)
        if value != "dtw" and chance:
            own = table.groupby("model")["chance"].first().loc[names]
            axes.barh(range(len(names)), own, 0.7, color=PALETTE["grey"], label=literal(chance), zorder=0)
        axes.set_xlabel(_LABELS.get(value, value.replace("_", " ")))
        axes.set_xlim(left=0)
        name_rows(axes, names)
    legend_below(figure, 3)
    return figure


def beside_usual(rows: pd.DataFrame, usual: str) -> Figure:
    """Draw the signatures of trainings less the mean of the usual ones, which stand in each panel, too.

    Args:
        rows: For :func:`companion.figures.bundles_of_signatures`; the column ``way`` names the panel.
        usual: What is subtracted, for the label of the axis.
    """
    figure = bundles_of_signatures(rows, "way", columns=2)
    narrow(figure)
    figure.set_figheight(4)
    for label in figure.legends[0].get_texts():
        label.set_text(label.get_text().replace(")", " seeds)"))
    for axes in figure.axes:
        axes.xaxis.set_major_locator(MultipleLocator(5))
        axes.set(xlabel="depth" * bool(axes.get_xlabel()), ylabel=f"score minus\n{usual}" * bool(axes.get_ylabel()))
    return figure
