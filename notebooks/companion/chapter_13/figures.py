"""How far the blocks of networks are from affine, by kind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.plots.style import PALETTE, house_style, legend_below, literal, name_rows, page, series_style
from companion.style import family_styles, narrow


@house_style()
def unexplained_shares(shares: pd.DataFrame, groups: Mapping[str, str], apart: str = "") -> Figure:
    """Draw a share for each network and kind of block: a row for each kind, a point for each network.

    Args:
        shares: A row for each network, a column for each kind, in the order from top to bottom.
        groups: The group of each network, as its family, which has colour, marker and a line of its own.
        apart: A kind that is no kind of block, as the whole network: it comes last, behind an empty row.

    Returns:
        The figure. What is missing leaves its place empty.

    >>> shares = pd.DataFrame({"mlp": [0.1, 0.2], "network": [0.2, 0.3]}, index=["a", "b"])
    >>> figure = unexplained_shares(shares, {"a": "ViTs", "b": "ResNets"})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['mlp', 'network']
    """
    if apart:
        shares = shares.reindex(columns=[*shares.columns.drop(apart), "", apart])
    of = np.array([groups.get(name, name) for name in shares.index])
    styles = family_styles(list(of))
    figure, (axes,) = page(1, 1.0 + 0.42 * shares.shape[1])
    narrow(figure)
    for place, (group, (colour, marker)) in enumerate(styles.items()):
        offset = 0.6 * ((place + 0.5) / len(styles) - 0.5)
        for row, kind in enumerate(shares.columns):
            values = shares.loc[of == group, kind].to_numpy(dtype=float)
            label = literal(group) if row == 0 else None
            heights = np.full(len(values), row + offset)
            axes.plot(values, heights, marker, color=colour, markersize=4.5, alpha=0.85, label=label)
    for row in range(1, shares.shape[1]):
        axes.axhline(row - 0.5, color=PALETTE["grey"], linewidth=0.5)
    name_rows(axes, list(shares.columns))
    axes.set(xlabel="unexplained share of the variance", ylim=(shares.shape[1] - 0.5, -0.5))
    axes.set_xlim(left=-0.01)
    legend_below(figure, 5, loc="outside upper center")
    return figure


@house_style()
def criteria_over_width(layers: pd.DataFrame) -> Figure:
    """Draw each criterion of layers over their width, a panel for each, a line for each layer.

    Args:
        layers: A row for each layer and width, in this order of its index; a column for each criterion.

    Returns:
        The figure, its panels below each other.

    >>> layers = pd.DataFrame({"score": [0.9, 0.1]}, index=pd.MultiIndex.from_product([["linear"], [2, 64]]))
    >>> criteria_over_width(layers).axes[0].get_title()
    'score'
    """
    figure, panels = page(layers.shape[1], 0.8, each=1.9, columns=1, sharex=True, xlabel="channels")
    narrow(figure)
    for axes, (criterion, values) in zip(panels, layers.items(), strict=True):
        for number, (layer, own) in enumerate(values.groupby(level=0)):
            own = own.droplevel(0)
            axes.plot(own.index, own, label=literal(str(layer)), **series_style(number))
        axes.set(title=literal(str(criterion)), xscale="log", xticks=own.index, ylim=(-0.03, 1))
        axes.set_xticks(own.index, [str(width) for width in own.index])
        axes.minorticks_off()
    legend_below(figure, 4)
    return figure
