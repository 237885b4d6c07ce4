"""Language models: scores along training and along a text, and how well the text is predicted."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from affscore.errors import AffscoreError
from affscore.figures.style import MARKERS, PALETTE, house_style, legend_below, literal, page, score_axis, series_style

_LIGHTEST = 0.85
"""Of the colour map; what lies above is too light for a line on white."""


@house_style()
def scores_along(panels: Mapping[str, pd.DataFrame], by: str, xlabel: str, *, doubling: bool = False) -> Figure:
    """Draw the score of each activation along something: a line for its mean, and a band from least to most.

    Args:
        panels: For each title a row for each activation (``index``), value of ``by`` and repetition (a seed), with the
            ``score``.
        by: What is on the horizontal axis, a column of numbers from 0.
        xlabel: What that is called.
        doubling: Whether the axis is logarithmic, with 1 added to every number, as positions of a text are counted.

    Returns:
        The figure, as wide as a page: a panel for each title; the first activation is the darkest.

    Raises:
        AffscoreError: Nothing to draw.

    >>> rows = [(step, index, seed, 0.9 - 0.1 * step) for step in (0, 1) for index in (0, 1) for seed in (1, 2)]
    >>> table = pd.DataFrame(rows, columns=["step", "index", "seed", "score"])
    >>> figure = scores_along({"net": table}, "step", "steps")
    >>> len(figure.axes[0].lines), figure.axes[0].get_xlabel()
    (2, 'steps')
    """
    if not panels or any(rows.empty for rows in panels.values()):
        raise AffscoreError("there is no score to draw: give a row for each activation at least")
    figure, grid = page(
        len(panels), 0.8, each=2.5, columns=min(len(panels), 3), sharey=True, xlabel=xlabel, ylabel="affinity score"
    )
    numbers = sorted({index for rows in panels.values() for index in rows["index"]})
    colours = mpl.colormaps["viridis"](np.linspace(0, _LIGHTEST, len(numbers)))
    drawn = set[int]()
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        for index, own in rows.groupby("index"):
            place = numbers.index(index)
            found = own.groupby(by)["score"].agg(["mean", "min", "max"])
            where = found.index.to_numpy() + (1 if doubling else 0)
            label = None if place in drawn else f"activation {own['index'].iloc[0] + 1}"
            marker = MARKERS[place % len(MARKERS)] if len(found) <= 12 else ""
            axes.plot(
                where, found["mean"], "-", color=colours[place], marker=marker, markersize=3, linewidth=1.2, label=label
            )
            axes.fill_between(where, found["min"], found["max"], color=colours[place], alpha=0.2, linewidth=0)
            drawn.add(place)
        axes.set_title(literal(title))
        if doubling:
            places = sorted(set(rows[by] + 1))
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator(places))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
    score_axis(grid, np.concatenate([rows["score"] for rows in panels.values()]))
    legend_below(figure, min(len(numbers), 7))
    return figure


@house_style()
def bits_along_training(tables: Mapping[str, pd.DataFrame], baselines: Mapping[str, float]) -> Figure:
    """Draw the loss of language models in bits a character over the steps of their training.

    Args:
        tables: By name, a row for each training (``seed``) and ``step`` with the ``bits``; rows that repeat one are
            taken once.
        baselines: The loss of simpler predictions by name, as horizontal lines.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: Nothing to draw.

    >>> table = pd.DataFrame({"step": [0, 100], "seed": 1, "bits": [6.5, 2.5]})
    >>> len(bits_along_training({"net": table}, {"pairs of characters": 3.8}).axes[0].lines)
    2
    """
    if not tables:
        raise AffscoreError("there is no loss to draw: give a table at least")
    figure, (axes,) = page(1, 2.6, xlabel="optimisation steps", ylabel="bits a character, held out")
    for number, (name, rows) in enumerate(tables.items()):
        for place, (_, own) in enumerate(rows.groupby("seed")):
            line = own.groupby("step")["bits"].first()
            look = {
                **series_style(number),
                "marker": "",
                "linewidth": 1.3,
                "linestyle": ("-", "--", "-.", ":")[number % 4],
            }
            axes.plot(line.index, line, label=literal(name) if place == 0 else None, **look)
    end = max(rows["step"].max() for rows in tables.values())
    for name, value in baselines.items():
        axes.axhline(value, color=PALETTE["grey"], linestyle=":", linewidth=1.2)
        axes.annotate(literal(name), (end, value), ha="right", va="bottom", fontsize=8, color="#555555")
    axes.set_ylim(bottom=0)
    legend_below(figure, max(len(tables), 1))
    return figure
