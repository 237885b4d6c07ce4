"""Accuracy over one number of a network at a time: figure 4 of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from affscore.analysis import ERROR, Fit, fit
from affscore.errors import AffscoreError
from affscore.figures.families import family_styles
from affscore.figures.style import PAGE_WIDTH, PALETTE, house_style, literal

__all__ = ["accuracy_fits"]

_LABELS = {
    "parameters": "parameters",
    "gflops": "GFLOPs of an image",
    "depth": "depth (activations)",
    "std": "std of the scores",
    "max/mean": "max / mean of the scores",
    "max/median": "max / median of the scores",
}


def accuracy_fits(table: pd.DataFrame, panels: pd.DataFrame, *, adjusted: bool = False) -> Figure:
    r"""Draw accuracy over characteristics, with the fits: a row of panels for each group.

    Args:
        table: A row for each network, with ``group``, ``family``, ``accuracy`` and the characteristics. Columns with
            the same names and ``_standard_error`` behind become error bars of one standard error.
        panels: What to draw, a row for each panel: ``group``, ``characteristic``, ``fit``, as of
            :func:`affscore.analysis.best_explained`. The panels of a group stand side by side; where each group has
            one, three groups do.
        adjusted: Whether the adjusted R2 stands above a panel, rather than R2.

    Returns:
        The figure, as wide as a page. A panel without a fit says how many networks there are to fit.

    Raises:
        AffscoreError: No panel, or a column that is not in the table.

    Source: figure 4, whose accuracies are on the horizontal axis.

    >>> numbers = [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> nets = pd.DataFrame({"group": "A", "family": "F", "accuracy": numbers, "depth": numbers})
    >>> figure = accuracy_fits(nets, pd.DataFrame({"group": ["A"], "characteristic": ["depth"], "fit": ["linear"]}))
    >>> figure.axes[0].get_title()
    'A\n$R^2$ = 1.00'
    >>> plt.close(figure)
    """
    if panels.empty:
        raise AffscoreError("expected at least one panel to draw, got an empty table")
    wanted = ["group", "family", "accuracy", *dict.fromkeys(panels["characteristic"])]
    if missing := [name for name in wanted if name not in table]:
        raise AffscoreError(f"the table has no column {missing[0]!r}; it has {', '.join(map(str, table.columns))}")
    rows = [members.to_dict("records") for _, members in panels.groupby("group", sort=False)]
    columns = max(map(len, rows))
    if columns == 1:  # one panel for each group: three of them side by side
        rows = [[panel for (panel,) in rows[start : start + 3]] for start in range(0, len(rows), 3)]
        columns = max(map(len, rows))
    styles = family_styles(table["family"])
    with house_style():
        figure, grid = plt.subplots(
            len(rows), columns, figsize=(PAGE_WIDTH, 0.9 + 1.95 * len(rows)), squeeze=False, layout="constrained"
        )
        for line, members in zip(grid, rows, strict=True):
            for axes, panel in zip(line, members, strict=False):
                _panel(axes, table[table["group"] == panel["group"]], panel, styles, adjusted)
            for axes in line[len(members) :]:
                axes.set_visible(False)
            line[0].set_ylabel("accuracy (%)")
        handles = {
            label: handle
            for axes in figure.axes
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
    return figure


def _panel(
    axes: Axes, members: pd.DataFrame, panel: Mapping[Any, Any], styles: dict[str, tuple[str, str]], adjusted: bool
) -> None:
    name = panel["characteristic"]
    known = members.dropna(subset=[name, "accuracy"])
    for family, of_family in known.groupby("family", sort=False):
        colour, marker = styles[str(family)]
        axes.errorbar(
            of_family[name],
            of_family["accuracy"],
            xerr=_errors(of_family, name),
            yerr=_errors(of_family, "accuracy"),
            linestyle="",
            marker=marker,
            markersize=4.5,
            color=colour,
            elinewidth=0.7,
            label=literal(family),
        )
    axes.set_xlabel(_LABELS.get(name, f"{name} of the scores"))
    try:
        found = fit(known[name], known["accuracy"], panel["fit"])
    except AffscoreError:
        axes.set_title(f"{literal(panel['group'])}\nno $R^2$ of {len(known)} networks")
        if known.empty:
            axes.set(xticks=[], yticks=[])
        return
    _line(axes, known[name].to_numpy(dtype=float), found)
    value, symbol = (found.adjusted_r2, "adjusted $R^2$") if adjusted else (found.r2, "$R^2$")
    axes.set_title(f"{literal(panel['group'])}\n{symbol} = {value:.2f}")


def _line(axes: Axes, x: np.ndarray, found: Fit) -> None:
    places = np.linspace(x.min(), x.max(), 100)
    axes.plot(places, found(places), color=PALETTE["grey"], linestyle="--", linewidth=1.2, zorder=1)


def _errors(members: pd.DataFrame, name: str) -> pd.Series | None:
    column = name + ERROR
    return members[column] if column in members and members[column].notna().any() else None
