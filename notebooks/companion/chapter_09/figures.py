"""The correlations of the score with other criteria, network by network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.network.criteria import CRITERIA
from affscore.plots.style import PALETTE, house_style, legend_below, literal, name_rows, page
from companion.style import family_styles


@house_style()
def criterion_dots(
    correlations: pd.DataFrame, families: Mapping[str, str], printed: pd.DataFrame | None = None
) -> Figure:
    """Draw all correlations with their intervals: a panel for each criterion, a line for each network.

    Args:
        correlations: What :func:`companion.regression.criterion_correlations` returns; the order of its rows is kept.
        families: The family of each network, which gives colour and marker.
        printed: Correlations that a paper prints, networks as rows and criteria as columns: drawn as vertical ticks.

    Returns:
        The figure, as wide as a page. A correlation that is missing leaves its place empty.

    Source: tables 1 and 2, as a figure.

    >>> rows = {"model": ["a"], "criterion": ["cka"], "correlation": [0.5], "low": [0.1], "high": [0.8]}
    >>> figure = criterion_dots(pd.DataFrame(rows), {"a": "F"})
    >>> figure.axes[0].get_title(), [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ('linear CKA', ['a'])
    """
    models = list(dict.fromkeys(correlations["model"]))
    criteria = list(dict.fromkeys(correlations["criterion"]))
    kinds = np.array([families.get(model, model) for model in models])
    figure, grid = page(len(criteria), 1.7 + 0.19 * len(models), sharey=True)
    for axes, criterion in zip(grid, criteria, strict=True):
        table = correlations[correlations["criterion"] == criterion].set_index("model").reindex(models)
        numbers = table[["correlation", "low", "high"]].to_numpy(dtype=float)
        for kind, (colour, marker) in family_styles(list(kinds)).items():
            places = np.flatnonzero(kinds == kind)
            values, low, high = numbers[places].T
            axes.hlines(places, low, high, color=colour, linewidth=0.9)
            axes.plot(values, places, marker, markersize=4, color=colour, label=literal(kind))
        if printed is not None and criterion in printed:
            ticks: Any = {"markersize": 8, "markeredgewidth": 1.1, "color": "black", "zorder": 4}
            values = printed[criterion].reindex(models).to_numpy(dtype=float)
            axes.plot(values, np.arange(len(models)), "|", label="printed (ImageNet)", **ticks)
        axes.axvline(0, color=PALETTE["grey"], linewidth=0.8, zorder=0)
        axes.set(title=_title(criterion), xlim=(-1.05, 1.05), xticks=(-1, 0, 1))
        axes.tick_params(axis="y", length=0)
    name_rows(grid[0], models)
    grid[0].set_ylim(len(models) - 0.4, -0.6)
    figure.supxlabel("correlation with the affinity score", fontsize=9)
    legend_below(figure, 5, loc="outside upper center")
    return figure


def _title(name: str) -> str:
    if (known := CRITERIA.get(name)) is None:
        return name
    return f"change of\n{known.title}" if known.before_and_after else known.title
