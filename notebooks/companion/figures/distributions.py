"""Distributions of the scores in networks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from affscore.errors import AffscoreError
from affscore.plots.style import (
    KIND_LOOKS,
    PALETTE,
    house_style,
    legend_below,
    literal,
    name_rows,
    page,
    score_axis,
    series_style,
)
from companion.style import family_styles

_ENOUGH = 15
"""A density estimate of fewer scores says nothing; these are drawn as points alone."""

_IN_WORDS = {"stem": "hidden", "after a sum": "after-sum"}
"""Kinds whose description does not begin with their name."""


@house_style()
def score_distributions(signatures: Mapping[str, ArrayLike], families: Sequence[str]) -> Figure:
    """Draw the distribution of the scores of each network.

    Args:
        signatures: Scores by name.
        families: The family of each network, in the same order.

    Returns:
        The figure, as wide as a page: for each network all scores as points, and around them a density estimate (where
        there are at least 15 scores), cut off at the smallest and the largest.

    Raises:
        AffscoreError: No signatures, or not a family for each.

    Source: figure 5 C of the paper.

    >>> figure = score_distributions({"alexnet": [0.6, 0.7, 0.65], "vit_b_16": [0.3, 0.5]}, ["Pure convnets", "ViTs"])
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['alexnet', 'vit_b_16']
    """
    import seaborn as sns  # slow to load

    names = list(signatures)
    if not names or len(families) != len(names):
        raise AffscoreError(f"expected signatures and a family for each, got {len(names)} and {len(families)}")
    styles = family_styles(families)
    generator = np.random.default_rng(0)
    violin: Any = {"native_scale": True, "cut": 0, "inner": None, "density_norm": "width", "width": 0.8}
    figure, (axes,) = page(1, 4.0)
    for place, (name, family) in enumerate(zip(names, families, strict=True)):
        scores = np.asarray(signatures[name], dtype=float)
        colour, marker = styles[family]
        if len(scores) >= _ENOUGH and np.ptp(scores) > 0:
            places = np.full(len(scores), place)
            sns.violinplot(x=places, y=scores, ax=axes, color=PALETTE["grey"], alpha=0.45, linewidth=0.6, **violin)
        spread = generator.uniform(-0.12, 0.12, len(scores))
        axes.scatter(place + spread, scores, s=9, color=colour, marker=marker, linewidths=0, zorder=3)
    turned: Any = {"rotation": 90, "ha": "center"} if len(names) > 12 else {"rotation": 30, "ha": "right"}
    axes.set_xticks(range(len(names)), [literal(name) for name in names], **turned)
    axes.set(xlabel="", ylabel="")
    score_axis(axes, np.concatenate([np.asarray(scores, dtype=float) for scores in signatures.values()]))
    return figure


@house_style()
def score_histograms(panels: Mapping[str, Mapping[str, ArrayLike]], columns: int = 2) -> Figure:
    """Draw histograms of scores, a panel for each network, with kinds of activations stacked.

    Args:
        panels: For each title the scores by kind.
        columns: Panels in a row.

    Returns:
        The figure, as wide as a page; all panels have the same bins and axes, from below the smallest score,
        and kinds the same colour and hatching.

    Raises:
        AffscoreError: Nothing to draw.

    Source: figure 5 D of the paper.

    >>> figure = score_histograms({"plain": {"hidden": [0.6, 0.7]}, "residual": {"hidden": [0.5], "after-sum": [0.9]}})
    >>> [axes.get_title() for axes in figure.axes]
    ['plain', 'residual']
    """
    import seaborn as sns  # slow to load

    if not panels or not all(panels.values()):
        raise AffscoreError("expected at least one panel, and scores in each")
    kinds = list(dict.fromkeys(kind for panel in panels.values() for kind in panel))
    hatches = dict(zip(kinds, itertools.cycle(("", "///", "...", "xxx")), strict=False))
    colours = {k: PALETTE[KIND_LOOKS.get(_IN_WORDS.get(k, k.split()[0]), ("brown", ""))[0]] for k in kinds}
    every = np.concatenate([np.asarray(scores, dtype=float) for panel in panels.values() for scores in panel.values()])
    lowest = np.nanmin(np.clip(every, 0, 1), initial=0.95)
    edges = np.arange(20 * lowest // 1 * 2, 41) / 40  # from a multiple of 0.05
    begins = f" (axis from {edges[0]:g})" if edges[0] else ""
    labels = {"xlabel": f"affinity score{begins}", "ylabel": "activations"}
    figure, grid = page(len(panels), 0.6, each=2.1, columns=columns, sharex=True, sharey="row", **labels)
    for axes, (title, panel) in zip(grid, panels.items(), strict=True):
        scores = {kind: np.clip(np.asarray(some, dtype=float), 0, 1) for kind, some in panel.items()}
        look: Any = {"alpha": 1, "linewidth": 0.4, "edgecolor": "white", "palette": colours, "legend": False}
        # the last of seaborn's order lies at the bottom
        sns.histplot(scores, bins=edges, multiple="stack", hue_order=list(scores)[::-1], ax=axes, **look)
        for kind, bars in zip(scores, axes.containers, strict=True):
            bars.set_label(literal(kind))
            for bar in bars:
                bar.set_hatch(hatches[kind])
        axes.set(title="\n".join(wrap(literal(title), width=96 // min(columns, len(panels)))), xlim=(edges[0], 1))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, 4)
    return figure


@house_style()
def score_ranges(ranges: pd.DataFrame, names: Sequence[str], groups: Sequence[str]) -> Figure:
    """Draw reference ranges as bars with their medians, a row for each.

    Args:
        ranges: Rows of :func:`companion.analysis.reference_ranges`, from the top.
        names: What to call each row.
        groups: The group of each row (what the networks saw, say), which has a colour and a marker.

    Returns:
        The figure, as wide as a page: a line from the lowest to the highest score, a bar over the middle nine tenths,
        the median as a marker. The axis is fitted to the scores.

    Raises:
        AffscoreError: No rows, or not a name and a group for each.

    >>> rows = pd.DataFrame({"lowest": [0.5], "low": [0.6], "median": [0.7], "high": [0.8], "highest": [0.9]})
    >>> score_ranges(rows, ["after a sum"], ["CIFAR-10"]).axes[0].get_yticklabels()[0].get_text()
    'after a sum'
    """
    if ranges.empty or not len(ranges) == len(names) == len(groups):
        raise AffscoreError(f"expected a name and a group for each of {len(ranges)} ranges")
    looks = {name: series_style(number) for number, name in enumerate(dict.fromkeys(groups))}
    figure, (axes,) = page(1, 0.9 + 0.24 * len(ranges))
    values = ranges[["lowest", "low", "median", "high", "highest"]].to_numpy(dtype=float)
    for row, ((lowest, low, median, high, highest), group) in enumerate(zip(values, groups, strict=True)):
        colour = looks[group]["color"]
        axes.hlines(row, lowest, highest, color=colour, linewidth=1.0)
        axes.hlines(row, low, high, color=colour, linewidth=6.0, alpha=0.45)
        axes.plot(median, row, label=group, linestyle="", markersize=6, **looks[group])
    name_rows(axes, names)
    axes.set(xlabel="affinity score (axis fitted; 1 is affine)", xlim=(None, 1.005))
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    legend_below(figure, len(looks), title="median, middle nine tenths, and whole range, on")
    return figure
