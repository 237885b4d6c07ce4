"""Distributions of the scores in networks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from affscore.plots.signature import place_in_words
from affscore.plots.style import KIND_LOOKS, PALETTE, house_style, legend_below, literal, page
from companion.style import narrow


@house_style()
def score_histograms(panels: Mapping[str, Mapping[str, ArrayLike]], columns: int = 2) -> Figure:
    """Draw histograms of scores, a panel for each network, with kinds of activations stacked.

    Args:
        panels: For each title the scores by kind.
        columns: Panels in a row.

    Returns:
        The figure, as wide as a page; all panels have the same bins and axes, from below the smallest score,
        and kinds the same colour and hatching.

    Source: figure 5 D of the paper.

    >>> figure = score_histograms({"plain": {"hidden": [0.6, 0.7]}, "residual": {"hidden": [0.5], "after-sum": [0.9]}})
    >>> [axes.get_title() for axes in figure.axes]
    ['plain', 'residual']
    """
    import seaborn as sns  # slow to load

    kinds = list(dict.fromkeys(kind for panel in panels.values() for kind in panel))
    hatches = dict(zip(kinds, itertools.cycle(("", "///", "...", "xxx")), strict=False))
    colours = {k: PALETTE[KIND_LOOKS.get(k, ("brown", ""))[0]] for k in kinds}
    every = np.concatenate([np.asarray(scores, dtype=float) for panel in panels.values() for scores in panel.values()])
    lowest = np.nanmin(np.clip(every, 0, 1), initial=0.95)
    edges = np.arange(20 * lowest // 1 * 2, 41) / 40  # from a multiple of 0.05
    begins = f" (axis from {edges[0]:g})" if edges[0] else ""
    labels = {"xlabel": f"affinity score{begins}", "ylabel": "activations"}
    figure, grid = page(len(panels), 0.6, each=2.1, columns=columns, sharex=True, sharey="row", **labels)
    narrow(figure, columns)
    for axes, (title, panel) in zip(grid, panels.items(), strict=True):
        scores = {kind: np.clip(np.asarray(some, dtype=float), 0, 1) for kind, some in panel.items()}
        look: Any = {"alpha": 1, "linewidth": 0.4, "edgecolor": "white", "palette": colours, "legend": False}
        # the last of seaborn's order lies at the bottom
        sns.histplot(scores, bins=edges, multiple="stack", hue_order=list(scores)[::-1], ax=axes, **look)
        for kind, bars in zip(scores, axes.containers, strict=True):
            bars.set_label(literal(place_in_words(kind)))
            for bar in bars:
                bar.set_hatch(hatches[kind])
        axes.set(title="\n".join(wrap(literal(title), width=96 // min(columns, len(panels)))), xlim=(edges[0], 1))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, 4)
    return figure
