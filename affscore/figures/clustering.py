"""Which networks are alike: the matrix of distances, and the tree of its clustering."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from affscore.errors import AffscoreError
from affscore.figures.families import family_styles
from affscore.figures.style import PAGE_WIDTH, house_style, literal

__all__ = ["dendrogram", "distance_heatmap"]


def distance_heatmap(
    distances: pd.DataFrame, order: Sequence[str] | None = None, label: str = "warping distance"
) -> Figure:
    """Draw a matrix of distances between networks.

    Args:
        distances: As :func:`affscore.analysis.distance_matrix` makes it.
        order: The names in the order to draw them, such as :func:`affscore.analysis.leaf_order`; None for their own.
        label: What the distances are.

    Returns:
        The figure, as wide as a page: the darker, the farther apart. Up to twelve networks have their distances written
        into the cells.

    Raises:
        AffscoreError: An order that does not hold each name once.

    Source: figures 5 B and 14 of the paper.

    >>> distances = pd.DataFrame([[0.0, 0.3], [0.3, 0.0]], ["a", "b"], ["a", "b"])
    >>> figure = distance_heatmap(distances, ["b", "a"])
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['b', 'a']
    >>> plt.close(figure)
    """
    order = list(distances.index) if order is None else list(order)
    if sorted(order) != sorted(distances.index):
        raise AffscoreError(f"the order must hold each of the {len(distances)} networks once")
    values = distances.loc[order, order].to_numpy(dtype=float)
    few = len(order) <= 12
    with house_style():
        figure, axes = plt.subplots(figsize=(PAGE_WIDTH, 5.2 if few else 7.2), layout="constrained")
        image = axes.imshow(values, cmap="Greys", vmin=0)
        names = [literal(name) for name in order]
        axes.set_xticks(range(len(order)), names, rotation=90, fontsize=8 if few else 6.5)
        axes.set_yticks(range(len(order)), names, fontsize=8 if few else 6.5)
        if few:
            for (row, column), value in np.ndenumerate(values):
                colour = "white" if value > 0.6 * values.max() else "black"
                axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=8)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        figure.colorbar(image, ax=axes, label=label, shrink=0.6)
    return figure


def dendrogram(
    tree: NDArray[np.float64], names: Sequence[str], families: Sequence[str], label: str = "warping distance"
) -> Figure:
    """Draw the tree of a hierarchical clustering, with the family of each network.

    Args:
        tree: As :func:`affscore.analysis.linkage` makes it.
        names: Of the networks, in the order of the distances.
        families: The family of each.
        label: What the heights of the tree are.

    Returns:
        The figure, as wide as a page: a network in each row, with the colour and the marker of its family.

    Raises:
        AffscoreError: Not a name and a family for each leaf.

    Source: figure 5 A of the paper.

    >>> from affscore.analysis import linkage
    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 4], [1, 0, 4], [4, 4, 0]], names, names)
    >>> figure = dendrogram(linkage(distances), names, ["ResNets", "ResNets", "ViTs"])
    >>> sorted(label.get_text() for label in figure.axes[0].get_yticklabels())
    ['a', 'b', 'c']
    >>> plt.close(figure)
    """
    leaves = len(tree) + 1
    if len(names) != leaves or len(families) != leaves:
        raise AffscoreError(
            f"a tree of {leaves} networks needs as many names and families, got {len(names)} and {len(families)}"
        )
    with house_style():
        figure, axes = plt.subplots(figsize=(PAGE_WIDTH, 1.2 + 0.19 * leaves), layout="constrained")
        drawn = hierarchy.dendrogram(
            tree, labels=list(names), orientation="left", ax=axes, color_threshold=0, above_threshold_color="#555555"
        )
        _mark_families(axes, [families[int(leaf)] for leaf in hierarchy.leaves_list(tree)])
        axes.set_yticklabels([literal(name) for name in drawn["ivl"]], fontsize=8)
        axes.set_xlabel(f"{label} at which two clusters are joined")
        axes.tick_params(axis="y", length=0, pad=10)
        axes.spines["left"].set_visible(False)
        figure.legend(loc="outside lower center", ncols=5)
    return figure


def _mark_families(axes: Axes, families: Sequence[str]) -> None:
    """A marker at the foot of each leaf; SciPy puts the leaves at 5, 15, 25, ..."""
    for family, (colour, marker) in family_styles(families).items():
        places = [5 + 10 * number for number, this in enumerate(families) if this == family]
        axes.scatter(
            [0] * len(places), places, marker=marker, color=colour, s=28, label=literal(family), clip_on=False, zorder=3
        )
