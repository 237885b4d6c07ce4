"""Figure 8: signatures that were measured or trained again, and how far they are from each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.errors import AffscoreError
from affscore.plots.style import house_style, legend_below, literal, page, score_axis, series_style

_OF_A_BUNDLE = ("group", "line", "depth", "score")

_LIGHTEST = 0.85
"""Of the colour map; what lies above is too light for a line on white."""


@house_style()
def repeated_signatures(panels: Mapping[str, pd.DataFrame], by: str, *, label: str = "") -> Figure:
    """Draw signatures of one network over each other, a panel for each network.

    Args:
        panels: For each title a row for each activation (``index``) and value of ``by``, with the ``score``.
        by: The column in which the lines of a panel differ, as ``n`` or ``seed``. A value has the same colour in all
            panels, from dark for the smallest to light for the largest.
        label: What the values are, before each in the legend.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: Nothing to draw.

    Source: figure 8 (appendix E).

    >>> rows = pd.DataFrame({"index": [0, 1, 0, 1], "n": [64, 64, 128, 128], "score": [0.5, 0.7, 0.5, 0.6]})
    >>> figure = repeated_signatures({"net": rows}, "n", label="n = ")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['n = 64', 'n = 128']
    """
    values = sorted({value for rows in panels.values() for value in rows[by]})
    if not values:
        raise AffscoreError("there is no signature to draw")
    colours = dict(zip(values, mpl.colormaps["viridis"](np.linspace(0, _LIGHTEST, len(values))), strict=True))
    figure, grid = page(len(panels), 3.1, sharey=True, xlabel="activation, in order", ylabel="affinity score")
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        for value, own in rows.groupby(by):
            own = own.sort_values("index")
            axes.plot(
                own["index"] + 1, own["score"], "o-", color=colours[value], linewidth=1, markersize=2.5,
                label=f"{label}{value}",
            )  # fmt: skip
        axes.set_title(literal(title))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    score_axis(grid, np.concatenate([rows["score"] for rows in panels.values()]))
    legend_below(figure, min(len(values), 9))
    return figure


@house_style()
def bundles_of_signatures(rows: pd.DataFrame, panels: str | None = None, columns: int = 3) -> Figure:
    """Draw signatures over the depth: a thin line for each, and a thick one with markers for the mean of each group.

    Args:
        rows: A row for each activation of each signature, with ``group`` (what a colour stands for), ``line`` (which
            signature of the group), ``depth`` and ``score``. Activations of the same depth are averaged.
        panels: A further column; each of its values has a panel of its own. None for one panel.
        columns: Panels in a row.

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
    looks = {group: series_style(number) for number, group in enumerate(dict.fromkeys(rows["group"]))}
    figure, grid = page(
        len(shown), 0.9, each=2.6, columns=columns, sharex=True, sharey=True,
        xlabel="depth (activations on the longest path)", ylabel="affinity score",
    )  # fmt: skip
    for axes, (name, some) in zip(grid, shown, strict=True):
        for group, members in some.groupby("group", sort=False):
            _draw_bundle(axes, members, str(group), looks[group])
        axes.set_title(literal(name))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    score_axis(grid, rows["score"])
    if len(looks) > 1:
        legend_below(figure, min(len(looks), 5))
    return figure


def _draw_bundle(axes: Any, members: pd.DataFrame, group: str, look: dict[str, Any]) -> None:
    import seaborn as sns  # slow to load

    means = members.groupby(["line", "depth"], as_index=False)["score"].mean()  # of activations side by side
    lines: Any = {"data": means, "x": "depth", "y": "score", "ax": axes, "linestyle": "-", "legend": False}
    sns.lineplot(**lines, units="line", estimator=None, color=look["color"], linewidth=0.7, alpha=0.45)
    number = members["line"].nunique()
    label = literal(f"{group} ({number})" if number > 1 else group)
    edge = {"markeredgecolor": look["color"]}
    sns.lineplot(**lines, **look, **edge, errorbar=None, linewidth=2, markersize=4, label=label)
