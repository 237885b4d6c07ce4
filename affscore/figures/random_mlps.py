"""Images that networks compute, with their scores, and scores over the complexity of the images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from affscore.errors import AffscoreError
from affscore.figures.style import PALETTE, house_style, legend_below, literal, page, series_style


@house_style()
def image_gallery(
    images: Sequence[Sequence[ArrayLike]],
    rows: Sequence[str],
    columns: Sequence[str],
    captions: Sequence[Sequence[str]] | None = None,
) -> Figure:
    """Draw images in rows and columns, each from its own minimum (black) to its own maximum (white).

    Args:
        images: For each row an array (height, width) for each column, finite; a constant one is grey.
        rows: A name for each row, at its left.
        columns: A name for each column, above it.
        captions: What stands below each image; nothing by default.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: Numbers of images, names and captions that do not fit, or NaN or infinity in an image.

    >>> waves = [np.cos(k * np.linspace(0, 6, 16)) * np.ones((16, 1)) for k in (1, 2)]
    >>> figure = image_gallery([waves], ["waves"], ["slow", "fast"], [["0.9", "0.7"]])
    >>> [(axes.get_title(), axes.get_xlabel()) for axes in figure.axes]
    [('slow', '0.9'), ('fast', '0.7')]
    """
    texts = [[""] * len(columns)] * len(rows) if captions is None else captions
    lengths = {len(row) for row in [*images, *texts]}
    if not len(images) == len(rows) == len(texts) > 0 or lengths != {len(columns)} or not columns:
        raise AffscoreError(f"expected {len(rows)} rows of {len(columns)} images and of captions, as many as names")
    below = 0.24 if captions is not None else 0.04
    figure, grid = page(len(rows) * len(columns), 0.25, each=7.0 / len(columns) + below, columns=len(columns))
    for place, axes in enumerate(grid):
        row, column = divmod(place, len(columns))
        image = np.asarray(images[row][column], dtype=float)
        if image.ndim != 2 or not np.isfinite(image).all():
            raise AffscoreError(f"expected a finite image (height, width) in row {row + 1}, column {column + 1}")
        flat = np.ptp(image) == 0
        shown = np.full(image.shape, 0.5) if flat else (image - image.min()) / np.ptp(image)
        axes.imshow(shown, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set(xticks=[], yticks=[], xlabel=literal(texts[row][column]) if texts[row][column] else "")
        if row == 0:
            axes.set_title(literal(columns[column]))
        if column == 0:
            axes.set_ylabel(literal(rows[row]))
    return figure


@house_style()
def score_against_frequency(networks: pd.DataFrame) -> Figure:
    """Draw the mean score of networks over the frequency of their images, with the medians of each kind of network.

    Args:
        networks: A row for each network (a small point) with ``panel``, ``series``, ``cell`` (the kinds of network of a
            series, in the order in which a line joins their medians), ``mean`` and ``frequency``.

    Returns:
        The figure, as wide as a page. A series has one colour and marker in all panels; the first and the last cell of
        its line have their name beside them.

    Raises:
        AffscoreError: No networks.

    >>> rows = {"panel": "size", "series": "Tanh", "cell": ["x 1", "x 2"], "mean": [0.9, 0.8], "frequency": [0.5, 1.0]}
    >>> figure = score_against_frequency(pd.DataFrame(rows))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['x 1', 'x 2']
    """
    if networks.empty:
        raise AffscoreError("expected at least one network to draw, got an empty table")
    looks = {name: series_style(number) for number, name in enumerate(dict.fromkeys(networks["series"]))}
    labels: Any = {"xlabel": "mean frequency of the image\n(cycles per side)", "ylabel": "mean affinity score"}
    panels = list(dict.fromkeys(networks["panel"]))
    figure, grid = page(len(panels), 3.9, sharex=True, sharey=True, **labels)
    for axes, panel in zip(grid, panels, strict=True):
        here = networks[networks["panel"] == panel]
        for number, name in enumerate(dict.fromkeys(here["series"])):
            own, look = here[here["series"] == name], looks[name]
            axes.scatter(own["frequency"], own["mean"], s=7, alpha=0.35, linewidths=0, zorder=1, **look)
            middle = own.groupby("cell", sort=False)[["frequency", "mean"]].median()
            line: Any = {"linestyle": "-", "linewidth": 1.0, "markersize": 7, "markeredgecolor": PALETTE["black"]}
            axes.plot(middle["frequency"], middle["mean"], label=literal(name), zorder=3, **look, **line)
            beside: Any = {"textcoords": "offset points", "fontsize": 7.5, "zorder": 4}
            ends = [(0, -6, "right"), (-1, 6, "left")] if len(middle) > 1 else []
            for place, right, side in ends:  # above the line of the first series, below that of the second
                where = (right, -9 if number % 2 else 4)
                axes.annotate(literal(middle.index[place]), middle.iloc[place], where, ha=side, **beside)
        axes.set(title=literal(panel), xscale="log")
        axes.margins(x=0.28)
    ticks = [tick for tick in (0.5, 1, 2, 4, 8, 16) if tick <= 1.2 * networks["frequency"].max()]
    grid[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    grid[0].minorticks_off()
    legend_below(figure, 5)
    return figure
