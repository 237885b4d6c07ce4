"""A result under every specification: a curve, sorted, over the dots of the choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.errors import AffscoreError
from affscore.options import DEFAULT, Specification
from affscore.plots.style import PALETTE, house_style, literal, name_rows, page

_NAMED = {
    "default": (DEFAULT, "vermilion", "D"),
    "Definition 3.1": (Specification(order="reduce-first"), "blue", "s"),
    "published code": (Specification("published"), "purple", "^"),
}


@house_style()
def specification_curve(
    summary: pd.DataFrame,
    value: str = "mean",
    *,
    low: str | None = None,
    high: str | None = None,
    ylabel: str = "mean affinity score",
    title: str = "",
) -> Figure:
    """Draw a number for each specification, sorted, over the dot matrix of the choices behind it.

    The default and the papers' own choices are marked: Definition 3.1 as it is printed, and, where it was measured,
    the reduction of the published code; where it was not, the default is the published code's.

    Args:
        summary: A row for each specification with the names of its choices
            (:class:`affscore.options.Specification`; those there are) and the numbers:
            :attr:`affscore.Multiverse.summary`, say.
        value: The column to draw; rows without a number are left out.
        low: The column of the lower end of a bar.
        high: Of its upper end.
        ylabel: What the number is.
        title: Above the figure.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No specification with a number.

    Source: specification curves after Simonsohn et al. (2020).

    >>> rows = pd.DataFrame({"reduction": ["mean", "sample"], "coupling": "exact", "mean": [0.8, 0.6]})
    >>> curve, dots = specification_curve(rows).axes
    >>> [label.get_text() for label in dots.get_yticklabels()]
    ['sample', 'mean', 'exact']
    """
    choices = [
        name for name in Specification._fields if name in summary and (name != "bias" or len(set(summary[name])) > 1)
    ]
    rows = summary.dropna(subset=value).sort_values(value, kind="stable", ignore_index=True)
    if rows.empty or not choices:
        raise AffscoreError("there is no specification with a number to draw")
    words = [(name, word) for name in choices for word in dict.fromkeys(rows[name])]
    below = 0.19 * len(words)
    figure, (curve, dots) = page(2, 2.6 + below, columns=1, sharex=True, height_ratios=[2.2, below])
    places = np.arange(len(rows))
    if low is not None and high is not None:
        curve.vlines(places, rows[low], rows[high], color=PALETTE["grey"], linewidth=3, alpha=0.7)
    curve.plot(places, rows[value], "o", color=PALETTE["black"], markersize=4)
    for label, (chosen, colour, marker) in _NAMED.items():
        here = np.all([rows[name] == word for name, word in chosen._asdict().items() if name in rows], axis=0)
        if here.any():
            look: Any = {"color": PALETTE[colour], "marker": marker, "markersize": 8, "linestyle": ""}
            curve.plot(places[here], rows.loc[here, value], label=label, zorder=3, **look)
            for place in places[here]:
                dots.axvspan(place - 0.4, place + 0.4, color=PALETTE[colour], alpha=0.15, linewidth=0)
    curve.set(ylabel=ylabel, title=literal(title))
    curve.tick_params(axis="x", length=0)
    if curve.get_legend_handles_labels()[1]:
        curve.legend(loc="upper left")
    for row, (name, word) in enumerate(words):
        chosen_here = (rows[name] == word).to_numpy()
        dots.plot(places, np.full(len(places), row), "o", color=PALETTE["grey"], markersize=2.5, alpha=0.6)
        dots.plot(places[chosen_here], np.full(chosen_here.sum(), row), "o", color=PALETTE["black"], markersize=4.5)
        if row and words[row - 1][0] != name:
            dots.axhline(row - 0.5, color=PALETTE["grey"], linewidth=0.6)
    name_rows(dots, [word for _, word in words])
    dots.set(xticks=[], xlabel=f"{len(rows)} specifications, sorted")
    dots.spines[["left", "bottom"]].set_visible(False)
    return figure
