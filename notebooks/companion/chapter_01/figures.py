"""The figures of chapter 1: clouds in one dimension and in the plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import ConnectionPatch
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError
from affscore.plots.style import PAGE_WIDTH, house_style, legend_below, page
from affscore.transport import Coupling
from companion.chapter_01.measurements import ScoreSteps
from companion.style import FIT, INPUT, OUTPUT

Values: TypeAlias = NDArray[np.float64]

Case: TypeAlias = "tuple[str, Callable[[Values], Values], ScoreSteps]"
"""What one panel shows: a name, a function of arrays, and the steps to its score on samples (n, 1)."""


@house_style()
def activation_panels(
    cases: Sequence[Case], *, domain: tuple[float, float] | None = None, columns: int = 3, bins: int = 24
) -> Figure:
    r"""Draw functions of one variable with the samples they act on, one panel and one score for each.

    A panel has the graph of the function (grey), the samples on it (red, thick) and the affine map T of
    their score (green, dashed). The score compares the distributions of Y and of T(X); both stand as
    histograms at the right edge, on the same vertical axis. The score is in the title.

    Args:
        cases: For each panel a name, a function that maps an array (n,) to an array (n,), and what
            :func:`companion.chapter_01.score_steps` returns for samples (n,) and their images.
        domain: The interval of x that all panels show; by default each shows its own samples.
        columns: Panels in a row.
        bins: Number of intervals of the histograms.

    Returns:
        The figure, as wide as a page.

    Source: figure 2; the score is equation 5 in one dimension, where both covariances agree.

    >>> x = np.linspace(-1, 1, 100)
    >>> from companion.chapter_01 import score_steps
    >>> cases = {"ReLU": lambda x: np.maximum(x, 0), "cube": lambda x: x**3}
    >>> figure = activation_panels([(name, function, score_steps(x, function(x))) for name, function in cases.items()])
    >>> [axes.get_title() for axes in figure.axes if axes.get_title()]
    ['ReLU\n$\\rho$ = 0.68', 'cube\n$\\rho$ = 0.71']
    """
    columns = min(columns, len(cases))
    look: Any = {"xlabel": "$x$", "ylabel": r"$y = \sigma(x)$", "width_ratios": [1.0, 0.24] * columns}
    figure, grid = page(2 * len(cases), 0.45, each=1.75, columns=2 * columns, **look)
    figure.set_layout_engine("constrained", wspace=0.06, hspace=0.06)
    for (name, function, steps), main, side in zip(cases, grid[::2], grid[1::2], strict=True):
        main.set_title(f"{name}\n$\\rho$ = {steps.score.value:.2f}")
        _draw(main, function, steps, domain)
        side.sharey(main)
        _draw_histograms(side, steps, bins)
    legend_below(figure, 5)
    return figure


def _draw(
    axes: Axes, function: Callable[[Values], Values], steps: ScoreSteps, domain: tuple[float, float] | None
) -> None:
    """The function, the samples on it, and the affine fit over the range of the samples."""
    order = steps.x[:, 0].argsort()
    x, y, image = (cloud[order, 0] for cloud in (steps.x, steps.y, steps.image))
    low, high = domain or (float(x[0]), float(x[-1]))
    grid = np.linspace(low, high, 400)
    axes.plot(grid, function(grid), color=INPUT, linewidth=1.0, linestyle="-", label=r"$\sigma$")
    axes.plot(x, y, color=OUTPUT, linestyle="", marker=".", markersize=3.5, label=r"samples $(x, \sigma(x))$")
    axes.plot(x[[0, -1]], image[[0, -1]], color=FIT, linestyle="--", label="affine fit $T$")


def _draw_histograms(axes: Axes, steps: ScoreSteps, bins: int) -> None:
    """The two distributions that the score compares, along the vertical axis."""
    edges = np.histogram_bin_edges(np.concatenate([steps.y, steps.image]), bins)
    of_y, of_image = (np.histogram(values, edges)[0] / len(values) for values in (steps.y, steps.image))
    look: Any = {"orientation": "horizontal"}
    axes.stairs(of_y, edges, label="distribution of $Y$", fill=True, color=OUTPUT, alpha=0.45, **look)
    axes.stairs(of_image, edges, label="distribution of $T(X)$", color=FIT, linewidth=1.2, **look)
    # a bar of nearly all samples (ReLU's zeros) would squeeze the rest: cut the axis there
    axes.set_xlim(0, 1.15 * min(max(of_y.max(), of_image.max()), 0.3))
    axes.axis("off")


Cloud = NDArray[np.float64]

_SIZE = r"$\sqrt{2\,\mathrm{tr}\,\Sigma_Y}$"

_ARROW: Any = {"arrowstyle": "-|>", "linewidth": 1.8, "mutation_scale": 7, "color": "black", "shrinkA": 0, "shrinkB": 0}


@house_style()
def coupling(x: ArrayLike, y: ArrayLike, optimal: Coupling) -> Figure:
    """Draw the pairing i -> i of two plane clouds beside their optimal coupling.

    Points of x are grey dots, points of y red triangles, both numbered; a line joins each pair, and the
    title has the mean squared length of the lines. On the right it is the square of the Wasserstein
    distance.

    Args:
        x: Array (n, 2).
        y: Array (n, 2).
        optimal: Their optimal coupling, as of :func:`affscore.transport.optimal_coupling`.

    Returns:
        The figure, as wide as a page.

    Source: equation 3; not in the paper.

    >>> import torch
    >>> from affscore.transport import optimal_coupling
    >>> x, y = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> figure = coupling(x, y, optimal_coupling(torch.from_numpy(x), torch.from_numpy(y)))
    >>> [axes.get_title() for axes in figure.axes]
    ['as given: mean squared length 2.00', 'optimal: $W_2^2$ = 1.00']
    """
    source, target = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    plans = {
        f"as given: mean squared length {optimal.pairing_cost:.2f}": np.arange(len(source)),
        f"optimal: $W_2^2$ = {optimal.cost:.2f}": np.asarray(optimal.assignment),
    }
    number: Any = {"textcoords": "offset points", "fontsize": 7, "fontweight": "bold", "ha": "center", "va": "center"}
    figure, panels = page(2, 3.1, xlabel="first coordinate", ylabel="second coordinate", sharex=True, sharey=True)
    for axes, (title, partner) in zip(panels, plans.items(), strict=True):
        _lines(axes, source, target[partner], colors="black", linewidths=1.0)
        axes.scatter(source[:, 0], source[:, 1], s=110, marker="o", color=INPUT, label="$x_i$", zorder=3)
        axes.scatter(target[:, 0], target[:, 1], s=130, marker="^", color=OUTPUT, label="$y_i$", zorder=3)
        for cloud, drop, colour in ((source, 0.0, "black"), (target, -1.0, "white")):
            for k, point in enumerate(cloud, start=1):
                axes.annotate(str(k), point, (0, drop), color=colour, zorder=4, **number)
        axes.set(title=title, aspect="equal")
        axes.margins(0.12)
    legend_below(figure, 2, markerscale=0.6)
    return figure


@house_style()
def scheme(activations: Sequence[ScoreSteps], shown: int = 0, *, names: Sequence[str] | None = None) -> Figure:
    """Draw how the non-linearity of a network is measured, from the data of a network of width two.

    Above, one small panel for each activation with its input (grey dots), its output (red triangles) and
    its score; below, the steps to one of these scores: input and output, the affine image T(X) of the
    input (green squares), the optimal coupling of T(X) with the output (a line for each pair), and the
    size of the output that the cost is divided by (arrows: one standard deviation along each principal
    axis of its covariance).

    Args:
        activations: For each activation the steps to its score, as of :func:`companion.chapter_01.score_steps`, with
            inputs and outputs (n, 2).
        shown: Index of the activation that the lower panels explain.
        names: A name for each activation; "ReLU 1", "ReLU 2", ... by default.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No activation, clouds that are not (n, 2), a number of names that differs from that of
            the activations, or an index that does not exist.

    Source: figure 1.

    >>> x = np.random.default_rng(0).standard_normal((30, 2))
    >>> from companion.chapter_01 import score_steps
    >>> activations = [score_steps(x, np.maximum(x, 0)), score_steps(x, np.tanh(x))]
    >>> figure = scheme(activations, shown=1, names=["ReLU", "Tanh"])
    >>> [axes.get_title() for axes in figure.axes if axes.get_title().startswith("3")]
    ['3. Optimal coupling']
    """
    names = [f"ReLU {k + 1}" for k in range(len(activations))] if names is None else list(names)
    if not activations or len(activations) != len(names):
        got = f"{len(activations)} activations and {len(names)} names"
        raise AffscoreError(f"expected at least one activation and one name for each, got {got}")
    figure = plt.figure(figsize=(PAGE_WIDTH, 5.2), layout=ConstrainedLayoutEngine(h_pad=0.07, wspace=0.08))
    halves: Any = figure.subfigures(2, 1, height_ratios=[1.0, 1.4], hspace=0.04)
    _draw_network(halves[0], activations, names, shown)
    _draw_steps(halves[1], activations[shown], names[shown])
    return figure


def _draw_network(figure: SubFigure, activations: Sequence[ScoreSteps], names: Sequence[str], shown: int) -> None:
    """One small panel for each activation, arrows between them, and the list of scores above."""
    small: list[Axes] = list(figure.subplots(1, len(names), squeeze=False)[0])
    listed = ",  ".join(f"{steps.score.value:.2f}" for steps in activations)
    figure.suptitle(f"network  $\\longrightarrow$  signature = [ {listed} ]", fontsize=10.5)
    for k, (axes, steps, name) in enumerate(zip(small, activations, names, strict=True)):
        _scatter(axes, steps.x, INPUT, "o")
        _scatter(axes, steps.y, OUTPUT, "^")
        axes.set_title(f"{name}\n$\\rho$ = {steps.score.value:.2f}")
        axes.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
        axes.margins(0.12)
        for spine in axes.spines.values():
            spine.set(visible=True, linewidth=1.8 if k == shown else 0.7)
    arrow: Any = {"arrowstyle": "-|>", "mutation_scale": 9, "color": "black"}
    for left, right in pairwise(small):
        ends: Any = {"coordsA": "axes fraction", "coordsB": "axes fraction", "axesA": left, "axesB": right}
        figure.add_artist(ConnectionPatch((1.02, 0.5), (-0.02, 0.5), **ends, **arrow))


def _draw_steps(figure: SubFigure, steps: ScoreSteps, name: str) -> None:
    """The four steps from the two clouds of one activation to its score."""
    x, y, image, score = steps.x, steps.y, steps.image, steps.score
    size = float(np.sqrt(2 * np.trace(steps.spread)))
    panels: list[Axes] = list(figure.subplots(1, 4, sharex=True, sharey=True))
    titles = ("1. Input and output", "2. Best affine fit", "3. Optimal coupling", "4. Size of the output")
    first, second, third, fourth = panels
    _scatter(first, x, INPUT, "o", "input $X$")
    _scatter(first, y, OUTPUT, "^", "output $Y$")
    _scatter(second, x, INPUT, "o", alpha=0.25)
    _lines(second, x, image, colors=INPUT, linewidths=0.5, alpha=0.5)
    _scatter(second, image, FIT, "s", "affine fit $T(X)$")
    third.set_xlabel(f"$W_2(TX, Y)$ = {score.w2:.2f}")
    _lines(third, image, steps.partner, colors="black", linewidths=0.6, label="optimal coupling")
    _scatter(third, image, FIT, "s")
    _scatter(third, y, OUTPUT, "^")
    fourth.set_xlabel(f"{_SIZE} = {size:.2f}")
    _scatter(fourth, y, OUTPUT, "^")
    values, vectors = np.linalg.eigh(steps.spread)
    for arrow in (np.sqrt(values.clip(min=0)) * vectors).T:
        fourth.annotate("", y.mean(axis=0) + arrow, y.mean(axis=0), arrowprops=_ARROW)
    corners = np.concatenate([x, y, image])
    low, high = corners.min(axis=0), corners.max(axis=0)
    ends = (low + high)[:, None] / 2 + 0.55 * (high - low).max() * np.array([-1, 1])
    for axes, title in zip(panels, titles, strict=True):
        axes.set(title=title, xlim=ends[0], ylim=ends[1], aspect="equal")
        axes.tick_params(length=2)
    ratio = f"1 $-$ $W_2(TX, Y)$ / {_SIZE} = 1 $-$ {score.w2:.2f} / {size:.2f}"
    figure.suptitle(f"{name}:  $\\rho$ = {ratio} = {score.value:.2f}", fontsize=10.5)
    figure.legend(loc="outside lower center", ncols=5, markerscale=1.3)


def _scatter(axes: Axes, cloud: Cloud, colour: str, marker: str, label: str = "", alpha: float = 0.8) -> None:
    look: Any = {"facecolors": "none" if marker == "s" else colour, "edgecolors": colour, "linewidths": 0.7}
    axes.scatter(cloud[:, 0], cloud[:, 1], s=9, marker=marker, label=label or "_", alpha=alpha, **look)


def _lines(axes: Axes, starts: Cloud, ends: Cloud, **look: Any) -> None:
    axes.add_collection(LineCollection(list(np.stack([starts, ends], axis=1)), **look))
