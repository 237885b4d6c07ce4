"""Figure 2: activation functions, the samples they act on, their affine fits and their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from affscore.errors import AffscoreError
from affscore.plots.style import house_style, legend_below, page
from companion.style import FIT, INPUT, OUTPUT

if TYPE_CHECKING:
    from companion.experiments import ScoreSteps

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
            :func:`companion.experiments.score_steps` returns for samples (n,) and their images.
        domain: The interval of x that all panels show; by default each shows its own samples.
        columns: Panels in a row.
        bins: Number of intervals of the histograms.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No case, or samples that are not on a line.

    Source: figure 2; the score is equation 5 in one dimension, where both covariances agree.

    >>> x = np.linspace(-1, 1, 100)
    >>> from companion.experiments import score_steps
    >>> cases = {"ReLU": lambda x: np.maximum(x, 0), "cube": lambda x: x**3}
    >>> figure = activation_panels([(name, function, score_steps(x, function(x))) for name, function in cases.items()])
    >>> [axes.get_title() for axes in figure.axes if axes.get_title()]
    ['ReLU\n$\\rho$ = 0.68', 'cube\n$\\rho$ = 0.71']
    """
    if not cases:
        raise AffscoreError("expected at least one case (name, function, steps), got none")
    for name, _, steps in cases:
        if steps.x.shape[1] != 1:
            raise AffscoreError(f"the samples of {name!r} must be on a line, (n, 1), got {steps.x.shape}")
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
