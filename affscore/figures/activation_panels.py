"""Figure 2: activation functions, the samples they act on, their affine fits and their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError
from affscore.figures.style import FIT, INPUT, OUTPUT, PAGE_WIDTH, house_style
from affscore.transport import affine_map, affinity_score

__all__ = ["Case", "activation_panels"]

Values: TypeAlias = NDArray[np.float64]

Case: TypeAlias = tuple[str, Callable[[Values], Values], ArrayLike]
"""What one panel shows: a name, a function of arrays, and the samples (n,) that it acts on."""


def activation_panels(
    cases: Sequence[Case],
    *,
    domain: tuple[float, float] | None = None,
    columns: int = 3,
    bins: int = 24,
) -> Figure:
    r"""Draw functions of one variable with the samples they act on, one panel and one score for each.

    A panel has the graph of the function (grey), the samples on it (red, thick) and the affine map T of
    their score (green, dashed). The score compares the distributions of Y and of T(X); both stand as
    histograms at the right edge, on the same vertical axis. The score is in the title.

    Args:
        cases: For each panel a name, a function that maps an array (n,) to an array (n,), and the samples,
            an array (n,).
        domain: The interval of x that all panels show; by default each shows its own samples.
        columns: Panels in a row.
        bins: Number of intervals of the histograms.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No case, samples that are not (n,), a function that changes the shape, or samples
            that :func:`affscore.affinity_score` refuses.

    Source: figure 2; the score is equation 5 in one dimension, where both covariances agree.

    >>> x = np.linspace(-1, 1, 100)
    >>> figure = activation_panels([("ReLU", lambda x: np.maximum(x, 0), x), ("cube", lambda x: x**3, x)])
    >>> [axes.get_title() for axes in figure.axes if axes.get_title()]
    ['ReLU\n$\\rho$ = 0.68', 'cube\n$\\rho$ = 0.71']
    >>> plt.close(figure)
    """
    if not cases:
        raise AffscoreError("expected at least one case (name, function, samples), got none")
    panels = [_panel(*case) for case in cases]
    rows, columns = ceil(len(panels) / columns), min(columns, len(panels))
    with house_style():
        layout = ConstrainedLayoutEngine(wspace=0.06, hspace=0.06)
        figure = plt.figure(figsize=(PAGE_WIDTH, 0.45 + 1.75 * rows), layout=layout)
        grid = figure.add_gridspec(rows, 2 * columns, width_ratios=[1.0, 0.24] * columns)
        for k, panel in enumerate(panels):
            row, column = divmod(k, columns)
            main = figure.add_subplot(grid[row, 2 * column])
            side = figure.add_subplot(grid[row, 2 * column + 1], sharey=main)
            _draw(main, panel, domain)
            _draw_histograms(side, panel, bins)
            if k + columns >= len(panels):
                main.set_xlabel("$x$")
            if column == 0:
                main.set_ylabel(r"$y = \sigma(x)$")
        entries = [axes.get_legend_handles_labels() for axes in figure.axes[:2]]
        handles, labels = (list(chain.from_iterable(parts)) for parts in zip(*entries, strict=True))
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure


@dataclass(frozen=True)
class _Panel:
    """One panel: the samples in increasing order, their images under the function and under T."""

    title: str
    function: Callable[[Values], Values]
    x: Values
    y: Values
    image: Values


def _panel(name: str, function: Callable[[Values], Values], samples: ArrayLike) -> _Panel:
    x = np.asarray(samples, dtype=np.float64)
    if x.ndim != 1:
        raise AffscoreError(f"the samples of {name!r} must have shape (n,), got {x.shape}")
    x = np.sort(x)
    y = np.asarray(function(x), dtype=np.float64)
    if y.shape != x.shape:
        raise AffscoreError(f"{name!r} must map an array (n,) to an array (n,), got {x.shape} -> {y.shape}")
    score = affinity_score(x[:, None], y[:, None])
    image = affine_map(x[:, None], y[:, None])(x[:, None]).numpy()[:, 0]
    return _Panel(f"{name}\n$\\rho$ = {score.value:.2f}", function, x, y, image)


def _draw(axes: Axes, panel: _Panel, domain: tuple[float, float] | None) -> None:
    """The function, the samples on it, and the affine fit over the range of the samples."""
    low, high = domain or (float(panel.x[0]), float(panel.x[-1]))
    grid = np.linspace(low, high, 400)
    axes.plot(grid, panel.function(grid), color=INPUT, linewidth=1.0, linestyle="-", label=r"$\sigma$")
    dots: Any = {"linestyle": "", "marker": ".", "markersize": 3.5, "color": OUTPUT}
    axes.plot(panel.x, panel.y, label=r"samples $(x, \sigma(x))$", **dots)
    ends = [0, -1]
    axes.plot(panel.x[ends], panel.image[ends], color=FIT, linestyle="--", label="affine fit $T$")
    axes.set_title(panel.title)


def _draw_histograms(axes: Axes, panel: _Panel, bins: int) -> None:
    """The two distributions that the score compares, along the vertical axis."""
    edges = np.histogram_bin_edges(np.concatenate([panel.y, panel.image]), bins)
    of_y, of_image = (np.histogram(values, edges)[0] / len(values) for values in (panel.y, panel.image))
    filled: Any = {"fill": True, "color": OUTPUT, "alpha": 0.45}
    axes.stairs(of_y, edges, orientation="horizontal", label="distribution of $Y$", **filled)
    outline: Any = {"color": FIT, "linewidth": 1.2}
    axes.stairs(of_image, edges, orientation="horizontal", label="distribution of $T(X)$", **outline)
    # a bar of nearly all samples (ReLU's zeros) would squeeze the rest: cut the axis there
    axes.set_xlim(0, 1.15 * min(max(of_y.max(), of_image.max()), 0.3))
    axes.axis("off")
