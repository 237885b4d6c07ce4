"""Minimum, median and maximum of signatures over the years."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import blended_transform_factory

from affscore.errors import AffscoreError
from affscore.figures.style import PALETTE, family_styles, house_style, legend_below, literal, one_panel

__all__ = ["timeline"]


@house_style()
def timeline(table: pd.DataFrame) -> Figure:
    """Draw the range of each network's scores, oldest network first.

    Args:
        table: As :func:`affscore.papers.history` makes it: a row for each network with ``name``, ``family``,
            ``year``, ``min``, ``median`` and ``max``.

    Returns:
        The figure, as wide as a page: for each network a bar from the smallest to the largest score and a marker at the
        median, in the colour and with the marker of its family; above them the years.

    Raises:
        AffscoreError: No networks.

    Source: figure 3 of the paper.

    >>> from affscore.papers import history
    >>> figure = timeline(history({"alexnet": [0.6, 0.7, 0.65], "vit_b_16": [0.3, 0.5, 0.4]}))
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['alexnet', 'vit_b_16']
    """
    if table.empty:
        raise AffscoreError("expected at least one network to draw, got none")
    years = [str(year) if pd.notna(year) else "?" for year in table["year"]]
    # a gap of half a place where a year ends
    places: list[float] = []
    for number, year in enumerate(years):
        places.append(0.0 if number == 0 else places[-1] + (1.0 if year == years[number - 1] else 1.5))
    figure, axes = one_panel(4.4)
    for family, (colour, marker) in family_styles(table["family"]).items():
        rows = (table["family"] == family).to_numpy()
        where = [place for place, chosen in zip(places, rows, strict=True) if chosen]
        of_family = table[rows]
        axes.vlines(where, of_family["min"], of_family["max"], color=colour, linewidth=1.4)
        for end in ("min", "max"):
            axes.scatter(where, of_family[end], marker="_", s=28, color=colour, linewidths=1.4)
        axes.scatter(where, of_family["median"], marker=marker, s=26, color=colour, label=literal(family), zorder=3)
    above = blended_transform_factory(axes.transData, axes.transAxes)
    for year in dict.fromkeys(years):
        of_year = [place for place, this in zip(places, years, strict=True) if this == year]
        axes.text((of_year[0] + of_year[-1]) / 2, 1.01, year, transform=above, ha="center", fontsize=8)
        if of_year[-1] != places[-1]:
            axes.axvline(of_year[-1] + 0.75, color=PALETTE["grey"], linewidth=0.5, zorder=0)
    axes.set_xticks(places, [literal(name) for name in table["name"]], rotation=90, fontsize=7)
    axes.set(xlim=(-0.8, places[-1] + 0.8), ylim=(0, 1.02), ylabel="affinity score: minimum, median, maximum")
    legend_below(figure, 5)
    return figure
