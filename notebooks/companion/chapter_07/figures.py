"""Accuracy over one number of a network at a time (figure 4 of the paper), and the best R2 under permutation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.plots.style import PALETTE, house_style, legend_below, literal, page
from companion.regression import Fit
from companion.style import family_styles

_ERROR = "_standard_error"

_LABELS = {
    "parameters": "parameters", "gflops": "GFLOPs of an image", "depth": "depth (activations)",
    "std": "std of the scores", "max/mean": "max / mean of the scores", "max/median": "max / median of the scores",
}  # fmt: skip


@house_style()
def accuracy_fits(table: pd.DataFrame, panels: pd.DataFrame, fits: Sequence[Fit | None]) -> Figure:
    r"""Draw accuracy over characteristics, with the fits: a row of panels for each group.

    Args:
        table: A row for each network, with ``group``, ``family``, ``accuracy`` and the characteristics. Columns with
            the same names and ``_standard_error`` behind become error bars of one standard error.
        panels: What to draw, a row for each panel: ``group`` and ``characteristic``, as of
            :func:`companion.chapter_07.best_explained`. The panels of a group stand side by side; where each group has
            one, three groups do.
        fits: The fit of each panel, as of :func:`companion.chapter_07.panel_fits`; None where there is none.

    Returns:
        The figure, as wide as a page. A panel without a fit says how many networks there are to fit.

    Source: figure 4, whose accuracies are on the horizontal axis.

    >>> numbers = [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> nets = pd.DataFrame({"group": "A", "family": "F", "accuracy": numbers, "depth": numbers})
    >>> from companion.regression import fit
    >>> panels = pd.DataFrame({"group": ["A"], "characteristic": ["depth"]})
    >>> figure = accuracy_fits(nets, panels, [fit(numbers, numbers)])
    >>> figure.axes[0].get_title()
    'A\n$R^2$ = 1.00'
    """
    groups = panels["group"]
    columns = int(groups.value_counts().max())
    places = groups.factorize()[0] * columns + panels.groupby(groups).cumcount().to_numpy()
    abreast = 3 if columns == 1 else columns  # one panel for each group: three of them side by side
    figure, grid = page(int(places.max()) + 1, 0.9, each=1.95, columns=abreast, ylabel="accuracy (%)")
    for place in set(range(len(grid))).difference(places):
        grid[place].set_visible(False)
    styles = family_styles(table["family"])
    for place, name, group, found in zip(places, panels["characteristic"], groups, fits, strict=True):
        axes, known = grid[place], table[table["group"] == group].dropna(subset=[name, "accuracy"])
        for family, some in known.groupby("family", sort=False):
            colour, marker = styles[str(family)]
            look: Any = {"fmt": marker, "markersize": 4.5, "color": colour, "elinewidth": 0.7, "label": literal(family)}
            axes.errorbar(some[name], some["accuracy"], some.get("accuracy" + _ERROR), some.get(name + _ERROR), **look)
        axes.set_xlabel(_LABELS.get(name, f"{name} of the scores"))
        explains = f"no $R^2$ of {len(known)} networks"
        if found is not None:
            ends = np.linspace(known[name].min(), known[name].max(), 100)
            axes.plot(ends, found(ends), color=PALETTE["grey"], linestyle="--", linewidth=1.2, zorder=1)
            explains = f"$R^2$ = {found.r2:.2f}"
        elif known.empty:
            axes.set(xticks=[], yticks=[])
        axes.set_title(f"{literal(group)}\n{explains}")
    legend_below(figure, 4)
    return figure
