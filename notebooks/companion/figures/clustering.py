"""Which networks are alike: the matrix of distances, and the tree of its clustering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.cluster import hierarchy

from affscore.errors import AffscoreError
from affscore.plots.signature import relative_positions
from affscore.plots.style import house_style, legend_below, literal, page
from companion.style import family_styles


@house_style()
def distance_heatmap(
    distances: pd.DataFrame, order: Sequence[str] | None = None, label: str = "DTW distance"
) -> Figure:
    """Draw a matrix of distances between networks.

    Args:
        distances: As :func:`affscore.comparison.distance_matrix` makes it.
        order: The names in the order to draw them, such as :func:`companion.analysis.leaf_order`; None for their own.
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
    """
    order = list(distances.index) if order is None else list(order)
    if sorted(order) != sorted(distances.index):
        raise AffscoreError(f"the order must hold each of the {len(distances)} networks once")
    import seaborn as sns  # slow to load

    few = len(order) <= 12
    figure, (axes,) = page(1, 5.2 if few else 7.2)
    names = [literal(name) for name in order]
    look: Any = {"cmap": "Greys", "vmin": 0, "fmt": ".2f", "annot_kws": {"fontsize": 8}, "square": True, "annot": few}
    look |= {"cbar_kws": {"label": label, "shrink": 0.6}, "xticklabels": names, "yticklabels": names}
    sns.heatmap(distances.loc[order, order].astype(float), ax=axes, **look)
    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0, labelsize=8 if few else 6.5)
    axes.tick_params(axis="x", rotation=90)
    axes.tick_params(axis="y", rotation=0)
    return figure


@house_style()
def dendrogram(
    tree: NDArray[np.float64],
    names: Sequence[str],
    families: Sequence[str],
    label: str = "DTW distance",
    signatures: Mapping[str, ArrayLike] | None = None,
) -> Figure:
    """Draw the tree of a hierarchical clustering, with the family of each network, and beside it their signatures.

    Args:
        tree: As :func:`companion.analysis.linkage` makes it.
        names: Of the networks, in the order of the distances.
        families: The family of each.
        label: What the heights of the tree are.
        signatures: Scores by name, in the order of the activations; None for the tree alone.

    Returns:
        The figure, as wide as a page: a network in each row, with the colour and the marker of its family. With
        signatures, these are beside the tree, each in the row of its network, over the relative position of the
        activation (0 first, 1 last).

    Raises:
        AffscoreError: Not a name and a family for each leaf, or one without a signature.

    Source: figure 5 A of the paper.

    >>> from companion.analysis import linkage
    >>> names = ["a", "b", "c"]
    >>> distances = pd.DataFrame([[0, 1, 4], [1, 0, 4], [4, 4, 0]], names, names)
    >>> figure = dendrogram(linkage(distances), names, ["ResNets", "ResNets", "ViTs"])
    >>> sorted(label.get_text() for label in figure.axes[0].get_yticklabels())
    ['a', 'b', 'c']
    """
    leaves = len(tree) + 1
    if len(names) != leaves or len(families) != leaves:
        got = f"{len(names)} and {len(families)}"
        raise AffscoreError(f"a tree of {leaves} networks needs as many names and families, got {got}")
    if missing := [name for name in names if signatures is not None and name not in signatures]:
        raise AffscoreError(f"expected a signature for each network, got none for {missing[0]!r}")
    figure, (axes, *beside) = page(2 if signatures else 1, 1.2 + (0.22 if signatures else 0.19) * leaves)
    grey: Any = {"color_threshold": 0, "above_threshold_color": "#555555"}
    labels = [literal(name) for name in names]
    hierarchy.dendrogram(tree, labels=labels, orientation="left", leaf_font_size=8, ax=axes, **grey)
    order = hierarchy.leaves_list(tree)
    in_order = np.array(families)[order]
    for family, (colour, marker) in family_styles(families).items():
        places = 5 + 10 * np.flatnonzero(in_order == family)  # where SciPy puts leaves
        look: Any = {"marker": marker, "color": colour, "s": 28, "clip_on": False, "zorder": 3}
        axes.scatter(np.zeros(len(places)), places, label=literal(family), **look)
    axes.set_xlabel(f"{label} at which two clusters are joined")
    axes.tick_params(axis="y", length=0, pad=10)
    axes.spines["left"].set_visible(False)
    if signatures:
        chosen = {names[leaf]: families[leaf] for leaf in order.tolist()}
        _signatures(beside[0], {name: signatures[name] for name in chosen}, chosen)
        axes.set_xlabel(f"{label}\nat which two clusters are joined")
    legend_below(figure, 5)
    return figure


def _signatures(axes: Axes, signatures: Mapping[str, ArrayLike], families: Mapping[str, str]) -> None:
    """A line for each signature in the row of its network."""
    looks = family_styles(families.values())
    rows = {name: np.asarray(values, dtype=float) for name, values in signatures.items()}
    everything = np.concatenate(list(rows.values()))
    low, high = np.floor(20 * np.nanmin(everything)) / 20, np.ceil(20 * np.nanmax(everything)) / 20
    for row, (name, scores) in enumerate(rows.items()):
        height = 10 * row + 0.5 + 9 * (scores - low) / (high - low)
        axes.plot(relative_positions(scores), height, "-", color=looks[families[name]][0], linewidth=0.7)
    scale = f"signatures: in each row scores from {low:.2f} to {high:.2f}"
    axes.set(xlabel=f"{scale},\nover the relative position of the activation", ylim=(0, 10 * len(rows)), yticks=[])
    axes.spines["left"].set_visible(False)
