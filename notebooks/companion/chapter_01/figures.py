"""The figures of chapter 1: activations on a line, and the steps of a score in the plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from affscore.plots.style import PAGE_WIDTH, house_style, legend_below, page
from companion.style import FIT, INPUT, OUTPUT

Cloud: TypeAlias = NDArray[np.float64]

_ARROW: Any = {"arrowstyle": "-|>", "linewidth": 1.8, "mutation_scale": 7, "color": "black", "shrinkA": 0, "shrinkB": 0}


@house_style()
def activation_panels(
    function: Callable[[Cloud], Cloud], panels: Mapping[str, tuple[Cloud, Cloud, Cloud]], *, columns: int = 2
) -> Figure:
    """Draw a function of one variable with samples that it acts on, a panel for each sample.

    A panel has the graph of the function (grey), the samples on it (thick), and the affine map T of their score.
    The score compares the distributions of Y and of T(X), which stand as histograms at the right edge. Each panel
    has the vertical axis that fits them.

    Args:
        function: Maps an array to an array.
        panels: By title the samples x (n, 1), their images y, and T(x).
        columns: Panels in a row.

    Source: figure 2.

    >>> x = np.linspace(-1, 1, 100)[:, None]
    >>> figure = activation_panels(np.square, {"a window": (x, x**2, x / 2)})
    >>> figure.axes[0].get_title()
    'a window'
    """
    columns = min(columns, len(panels))
    look: Any = {"xlabel": "$x$", "ylabel": r"$y = \sigma(x)$", "width_ratios": [1.0, 0.4] * columns}
    figure, grid = page(2 * len(panels), 0.75, each=1.6, columns=2 * columns, **look)
    figure.set_figwidth(0.6 * PAGE_WIDTH)  # so a phone shows its words larger
    figure.set_layout_engine("constrained", wspace=0.06, hspace=0.06)
    every = np.concatenate([x for x, _, _ in panels.values()])
    line = np.linspace(every.min(), every.max(), 400)
    for (title, (x, y, image)), main, side in zip(panels.items(), grid[::2], grid[1::2], strict=True):
        main.set_title(title)
        main.plot(line, function(line), color=INPUT, linewidth=1.0, linestyle="-", label=r"$\sigma$")
        main.plot(x, y, color=OUTPUT, linestyle="", marker=".", markersize=3.5, label=r"samples $(x, \sigma(x))$")
        ends = [x.argmin(), x.argmax()]
        main.plot(x[ends], image[ends], color=FIT, linestyle="--", label="affine map $T$")
        low, high = min(y.min(), image.min()), max(y.max(), image.max())
        margin = max(0.08 * (high - low), 0.5)
        main.set_ylim(low - margin, high + margin)
        side.sharey(main)
        _draw_histograms(side, y, image)
    legend_below(figure, 3)
    return figure


def _draw_histograms(axes: Axes, y: Cloud, image: Cloud) -> None:
    """The two distributions that the score compares, along the vertical axis."""
    edges = np.histogram_bin_edges(np.concatenate([y, image]), 15)
    of_y, of_image = (np.histogram(values, edges)[0] / len(values) for values in (y, image))
    look: Any = {"orientation": "horizontal"}
    axes.stairs(of_y, edges, label="distribution of $Y$", fill=True, color=OUTPUT, alpha=0.45, **look)
    axes.stairs(of_image, edges, label="distribution of $T(X)$", color=FIT, linewidth=1.2, **look)
    # a bar of nearly all samples (ReLU's zeros) would squeeze the rest: cut the axis there
    axes.set_xlim(0, 1.15 * min(max(of_y.max(), of_image.max()), 0.3))
    axes.axis("off")


@house_style()
def steps_of_a_score(x: Cloud, y: Cloud, image: Cloud, partner: Cloud, distance: float, size: float) -> Figure:
    """Draw the steps from two clouds in the plane to their score, in four panels.

    Args:
        x: Array (n, 2).
        y: Array (n, 2).
        image: T(x), array (n, 2).
        partner: (n, 2), the point of y that the optimal coupling gives to each T(x).
        distance: Of T(x) and y.
        size: What the distance is divided by; the arrows are one standard deviation along each principal axis of y.

    Source: figure 1.

    >>> x = np.random.default_rng(0).standard_normal((30, 2))
    >>> figure = steps_of_a_score(x, x, x, x, 0.0, 2.0)
    >>> [axes.get_title() for axes in figure.axes][2]
    '3. optimal coupling: $W_2$ = 0.00'
    """
    titles = [
        "1. input and output", "2. affine image of the input",
        f"3. optimal coupling: $W_2$ = {distance:.2f}", f"4. size of the output: {size:.2f}",
    ]  # fmt: skip
    figure, (first, second, third, fourth) = page(4, 0.6, each=2.2, columns=2, sharex=True, sharey=True)
    _scatter(first, x, INPUT, "o", "input $X$")
    _scatter(first, y, OUTPUT, "^", "output $Y$")
    _scatter(second, x, INPUT, "o", alpha=0.25)
    _lines(second, x, image, colors=INPUT, linewidths=0.5, alpha=0.5)
    _scatter(second, image, FIT, "s", "affine image $T(X)$")
    _lines(third, image, partner, colors="black", linewidths=0.6)
    _scatter(third, image, FIT, "s")
    _scatter(third, y, OUTPUT, "^")
    _scatter(fourth, y, OUTPUT, "^")
    values, vectors = np.linalg.eigh(np.cov(y.T, bias=True))
    vectors = np.where(vectors.sum(axis=0) < 0, -1, 1) * vectors
    for arrow in (np.sqrt(values.clip(min=0)) * vectors).T:
        fourth.annotate("", y.mean(axis=0) + arrow, y.mean(axis=0), arrowprops=_ARROW)
    for axes, title in zip((first, second, third, fourth), titles, strict=True):
        axes.set(title=title, aspect="equal")
    legend_below(figure, 3, markerscale=1.5)
    return figure


def _scatter(axes: Axes, cloud: Cloud, colour: str, marker: str, label: str = "", alpha: float = 0.8) -> None:
    look: Any = {"facecolors": "none" if marker == "s" else colour, "edgecolors": colour, "linewidths": 0.7}
    axes.scatter(cloud[:, 0], cloud[:, 1], s=12, marker=marker, label=label or "_", alpha=alpha, **look)


def _lines(axes: Axes, starts: Cloud, ends: Cloud, **look: Any) -> None:
    axes.add_collection(LineCollection(list(np.stack([starts, ends], axis=1)), **look))
