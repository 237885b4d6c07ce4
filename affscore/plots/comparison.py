"""Signatures side by side, and the matrix of their distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError
from affscore.plots.style import house_style, legend_below, literal, page, score_axis, series_style

_STYLES = ("-", "--", ":", "-.")


@house_style()
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

    >>> scores = {"a": [0.5, 0.6, 0.9], "b": [0.7, 0.8]}
    >>> figure = comparison(scores, pd.DataFrame([[0, 0.3], [0.3, 0]], index=list("ab"), columns=list("ab")))
    >>> figure.axes[0].get_ylabel(), len(figure.axes[0].lines)
    ('affinity score (axis from 0.45)', 2)
    """
    names = list(signatures)
    if len(names) < 2:
        raise AffscoreError(f"a comparison needs at least two signatures, got {len(names)}")
    if list(distances.index) != names or list(distances.columns) != names:
        raise AffscoreError("the distances must have the names of the signatures as rows and columns, in their order")
    figure, (curves, matrix) = page(2, max(3.2, 1.6 + 0.42 * len(names)), width_ratios=(3, 2))
    for number, name in enumerate(names):
        scores = np.asarray(signatures[name], dtype=float)
        line: Any = {"linestyle": _STYLES[number // 7 % len(_STYLES)], "linewidth": 1, "markersize": 4}
        curves.plot(relative_positions(scores), scores, label=literal(name), **line, **series_style(number))
    curves.set(xlabel="relative position of the activation (0 first, 1 last)", ylabel="affinity score")
    score_axis(curves, np.concatenate([np.ravel(scores) for scores in signatures.values()]))
    heatmap(matrix, distances, range(1, len(names) + 1), annot=True, cbar=False)
    matrix.set(xlabel="signature, in the order of the legend", title="DTW distance")
    legend_below(figure, 2)
    return figure


def relative_positions(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the first activation (0) to the last (1)."""
    return np.linspace(0, 1, len(scores)) if len(scores) > 1 else np.array([0.5])


def heatmap(axes: Axes, distances: pd.DataFrame, names: Sequence[Any], **options: Any) -> None:
    """The darker, the farther apart."""
    import seaborn as sns  # slow to load

    look: Any = {"cmap": "Greys", "vmin": 0, "fmt": ".2f", "annot_kws": {"fontsize": 8}, "square": True}
    sns.heatmap(distances.astype(float), ax=axes, xticklabels=names, yticklabels=names, **look, **options)
    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0)
    axes.tick_params(axis="y", rotation=0)
