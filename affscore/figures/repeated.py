"""Signatures of the same network, many times: from other seeds, at other times, on other samples."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.errors import AffscoreError
from affscore.figures.style import house_style, legend_below, literal, page, series_style

NEEDED = ("group", "line", "depth", "score")


@house_style()
def repeated_signatures(rows: pd.DataFrame, panels: str | None = None, columns: int = 3) -> Figure:
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
    >>> figure = repeated_signatures(pd.DataFrame(rows, columns=["group", "line", "depth", "score"]))
    >>> len(figure.axes[0].lines), figure.axes[0].get_xlabel()
    (4, 'depth (activations on the longest path)')
    """
    needed = [*NEEDED, *([panels] if panels else [])]
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
            _draw(axes, members, str(group), looks[group])
        axes.set(title=literal(name), ylim=(0, 1.02))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(looks) > 1:
        legend_below(figure, min(len(looks), 5))
    return figure


def _draw(axes: Any, members: pd.DataFrame, group: str, look: dict[str, Any]) -> None:
    lines = members.pivot_table(index="depth", columns="line", values="score")
    for line in lines:
        axes.plot(lines.index, lines[line], "-", color=look["color"], linewidth=0.7, alpha=0.45)
    many = f" ({lines.shape[1]})" if lines.shape[1] > 1 else ""
    axes.plot(lines.index, lines.mean(axis=1), "-", **look, linewidth=2, markersize=4, label=literal(f"{group}{many}"))
