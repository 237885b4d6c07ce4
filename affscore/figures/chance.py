"""How well the best of several statistics does by chance, beside what was observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from affscore.errors import AffscoreError
from affscore.figures.style import PAGE_WIDTH, PALETTE, house_style, literal

__all__ = ["best_under_permutation"]

_HEIGHT = 0.75  # of the tallest part of a distribution, in units of the distance between two rows


def best_under_permutation(shuffled: Mapping[str, ArrayLike], marks: pd.DataFrame, xlabel: str = "$R^2$") -> Figure:
    """Draw for each group the distribution of the best R2 under chance, and mark what was observed.

    Args:
        shuffled: For each group the best R2 after each shuffle of its accuracies.
        marks: A row for each group, by its name, and a column for each kind of mark, whose name stands in the legend;
            missing values are not drawn.
        xlabel: What is on the horizontal axis.

    Returns:
        The figure, as wide as a page: a histogram for each group, its upper twentieth darker, with its median.

    Raises:
        AffscoreError: No group.

    Source: ours.

    >>> figure = best_under_permutation({"A": [0.1, 0.5, 0.7]}, pd.DataFrame({"observed": {"A": 0.9}}))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['A']
    >>> plt.close(figure)
    """
    if not shuffled:
        raise AffscoreError("expected the shuffles of at least one group, got none")
    names = list(shuffled)
    with house_style():
        figure, axes = plt.subplots(figsize=(PAGE_WIDTH, 1.1 + 0.68 * len(names)), layout="constrained")
        for row, name in enumerate(names):
            _distribution(axes, np.asarray(shuffled[name], dtype=float), row)
        for number, column in enumerate(marks.columns):
            values = marks[column].reindex(names).to_numpy(dtype=float)
            colour = PALETTE[("vermilion", "blue", "black")[number % 3]]
            filling: Any = {"facecolors": "none", "edgecolors": colour} if number % 3 == 1 else {"color": colour}
            axes.scatter(
                values,
                np.arange(len(names)),
                marker=("D", "o", "|")[number % 3],
                s=(46, 46, 150)[number % 3],
                **filling,
                linewidths=1.6,
                zorder=4,
                clip_on=False,
                label=literal(column),
            )
        axes.set_yticks(range(len(names)), [literal(name) for name in names])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel(xlabel)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def _distribution(axes: Axes, values: np.ndarray, row: int) -> None:
    counts, edges = np.histogram(values, bins=50, range=(0, 1))
    heights = counts / counts.max() * _HEIGHT
    limit = np.quantile(values, 0.95)
    dark = edges[:-1] >= limit
    for chosen, colour, label in (
        (~dark, PALETTE["grey"], "best under chance"),
        (dark, "#5F5F5F", "its upper twentieth"),
    ):
        axes.bar(
            edges[:-1][chosen], -heights[chosen], width=np.diff(edges)[chosen], align="edge", bottom=row, color=colour,
            label=label if row == 0 else None,
        )  # fmt: skip
    axes.vlines(
        float(np.median(values)), row - _HEIGHT, row, color="black", linewidth=1, linestyle=":",
        label="its median" if row == 0 else "",
    )  # fmt: skip
    axes.axhline(row, color=PALETTE["grey"], linewidth=0.6)
