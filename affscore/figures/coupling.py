"""Two couplings of two clouds: the one that the data come with and the cheapest one."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from affscore.errors import AffscoreError
from affscore.figures.style import INPUT, OUTPUT, PAGE_WIDTH, house_style
from affscore.transport import optimal_coupling
from affscore.transport.samples import Samples, as_samples

__all__ = ["coupling"]


def coupling(x: Samples, y: Samples) -> Figure:
    """Draw the pairing i -> i of two plane clouds beside their optimal coupling.

    Points of x are grey dots, points of y red triangles, both numbered; a line joins each pair, and the
    title has the mean squared length of the lines. On the right it is the square of the Wasserstein
    distance.

    Args:
        x: Array or tensor (n, 2).
        y: Array or tensor (n, 2).

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: Bad samples, clouds of different size, or points that are not in the plane.

    Source: equation 3; not in the paper.

    >>> figure = coupling([[0, 0], [1, 0]], [[1, 1], [0, 1]])
    >>> [axes.get_title() for axes in figure.axes]
    ['as given: mean squared length 2.00', 'optimal: $W_2^2$ = 1.00']
    >>> plt.close(figure)
    """
    left, right = as_samples(x, "x")[0].cpu(), as_samples(y, "y")[0].cpu()
    if left.shape != right.shape or left.shape[1] != 2:
        raise AffscoreError(f"x and y must both have shape (n, 2), got {tuple(left.shape)} and {tuple(right.shape)}")
    best = optimal_coupling(left, right)
    source, target = left.numpy(), right.numpy()
    drawn = (
        (np.arange(len(source)), f"as given: mean squared length {best.pairing_cost:.2f}"),
        (best.assignment.numpy(), f"optimal: $W_2^2$ = {best.cost:.2f}"),
    )
    with house_style():
        figure, panels = plt.subplots(1, 2, sharex=True, sharey=True, figsize=(PAGE_WIDTH, 3.1), layout="constrained")
        for axes, (partner, title) in zip(panels, drawn, strict=True):
            lines = np.stack([source, target[partner]], axis=1)
            axes.add_collection(LineCollection(list(lines), colors="black", linewidths=1.0))
            axes.scatter(*source.T, s=110, marker="o", color=INPUT, label="$x_i$", zorder=3)
            axes.scatter(*target.T, s=130, marker="^", color=OUTPUT, label="$y_i$", zorder=3)
            for cloud, drop, colour in ((source, 0.0, "black"), (target, -1.0, "white")):
                for number, point in enumerate(cloud, start=1):
                    axes.annotate(
                        str(number), point, (0, drop), textcoords="offset points", color=colour, fontsize=7,
                        fontweight="bold", ha="center", va="center", zorder=4,
                    )  # fmt: skip
            axes.set(title=title, xlabel="first coordinate", aspect="equal")
            axes.margins(0.12)
        panels[0].set_ylabel("second coordinate")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, markerscale=0.6)
    return figure
