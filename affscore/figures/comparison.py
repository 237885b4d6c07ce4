"""Signatures of several networks in one plot, with the distances between them."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from affscore.errors import AffscoreError
from affscore.figures.style import MARKERS, PAGE_WIDTH, PALETTE, house_style, literal

__all__ = ["comparison"]

_COLOURS = ("blue", "vermilion", "green", "purple", "orange", "sky", "black")
_STYLES = ("-", "--", ":", "-.")


def comparison(signatures: Mapping[str, ArrayLike], distances: pd.DataFrame) -> Figure:
    """Draw signatures over the relative depth of their networks, and the matrix of their distances.

    Args:
        signatures: Scores by name, in the order of the activations.
        distances: Distances between them, with the same names.

    Returns:
        The figure, as wide as a page: left the signatures from the first activation (0) to the last (1), each with a
        colour, a marker and a line style of its own; right the distances.

    Raises:
        AffscoreError: Fewer than two signatures, or other names in the distances.

    Source: figure 5 of the paper, for networks of one's own.

    >>> import pandas as pd
    >>> scores = {"a": [0.5, 0.6, 0.9], "b": [0.7, 0.8]}
    >>> figure = comparison(scores, pd.DataFrame([[0, 0.3], [0.3, 0]], index=list("ab"), columns=list("ab")))
    >>> figure.axes[0].get_ylabel(), len(figure.axes[0].lines)
    ('affinity score', 2)
    >>> plt.close(figure)
    """
    names = list(signatures)
    if len(names) < 2:
        raise AffscoreError(f"a comparison needs at least two signatures, got {len(names)}")
    if list(distances.index) != names or list(distances.columns) != names:
        raise AffscoreError("the distances must have the names of the signatures as rows and columns, in their order")
    with house_style():
        height = max(3.2, 1.6 + 0.42 * len(names))
        figure, (curves, matrix) = plt.subplots(
            1, 2, figsize=(PAGE_WIDTH, height), width_ratios=(3, 2), layout="constrained"
        )
        for number, name in enumerate(names):
            _curve(curves, np.asarray(signatures[name], dtype=float), name, number)
        curves.set_xlabel("relative position of the activation (0 first, 1 last)")
        curves.set_ylabel("affinity score")
        curves.set_ylim(0, 1.02)
        _matrix(matrix, distances)
        figure.legend(*curves.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _curve(axes: Axes, scores: np.ndarray, name: str, number: int) -> None:
    position = np.linspace(0, 1, len(scores)) if len(scores) > 1 else np.array([0.5])
    axes.plot(
        position,
        scores,
        color=PALETTE[_COLOURS[number % len(_COLOURS)]],
        marker=MARKERS[number % len(MARKERS)],
        linestyle=_STYLES[number // len(_COLOURS) % len(_STYLES)],
        markersize=4,
        linewidth=1,
        label=literal(name),
    )


def _matrix(axes: Axes, distances: pd.DataFrame) -> None:
    values = distances.to_numpy(dtype=float)
    largest = values.max() or 1.0
    axes.imshow(values, cmap="Greys", vmin=0, vmax=largest)
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if value > 0.6 * largest else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=8)
    numbers = [str(number + 1) for number in range(len(values))]
    axes.set_xticks(range(len(values)), numbers)
    axes.set_yticks(range(len(values)), numbers)
    axes.set_xlabel("signature, in the order of the legend")
    axes.set_title("warping distance")
    axes.grid(visible=False)
