"""Distributions of the scores in networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from affscore.errors import AffscoreError
from affscore.figures.families import family_styles
from affscore.figures.style import PAGE_WIDTH, PALETTE, house_style, literal

__all__ = ["score_distributions", "score_histograms"]

_ENOUGH = 5
"""A density estimate of fewer scores says nothing; these are drawn as points alone."""


def score_distributions(signatures: Mapping[str, ArrayLike], families: Sequence[str]) -> Figure:
    """Draw the distribution of the scores of each network.

    Args:
        signatures: Scores by name.
        families: The family of each network, in the same order.

    Returns:
        The figure, as wide as a page: for each network all scores as points, and around them a density estimate (where
        there are at least five scores), cut off at the smallest and the largest.

    Raises:
        AffscoreError: No signatures, or not a family for each.

    Source: figure 5 C of the paper.

    >>> figure = score_distributions({"alexnet": [0.6, 0.7, 0.65], "vit_b_16": [0.3, 0.5]}, ["Pure convnets", "ViTs"])
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['alexnet', 'vit_b_16']
    >>> plt.close(figure)
    """
    names = list(signatures)
    if not names or len(families) != len(names):
        raise AffscoreError(f"expected signatures and a family for each, got {len(names)} and {len(families)}")
    styles = family_styles(families)
    generator = np.random.default_rng(0)
    with house_style():
        figure, axes = plt.subplots(figsize=(PAGE_WIDTH, 4.0), layout="constrained")
        for place, (name, family) in enumerate(zip(names, families, strict=True)):
            scores = np.asarray(signatures[name], dtype=float)
            colour, marker = styles[family]
            if len(scores) >= _ENOUGH and np.ptp(scores) > 0:
                sns.violinplot(
                    x=np.full(len(scores), place), y=scores, ax=axes, native_scale=True, cut=0, inner=None,
                    density_norm="width", width=0.8, linewidth=0.6, color=PALETTE["grey"], alpha=0.45,
                )  # fmt: skip
            spread = generator.uniform(-0.12, 0.12, len(scores))
            axes.scatter(place + spread, scores, s=9, color=colour, marker=marker, linewidths=0, zorder=3)
        axes.set_xticks(
            range(len(names)),
            [literal(name) for name in names],
            rotation=90 if len(names) > 12 else 30,
            ha="right" if len(names) <= 12 else "center",
        )
        axes.set_xlabel("")
        axes.set_ylabel("affinity score")
        axes.set_ylim(0, 1.02)
    return figure


def score_histograms(panels: Mapping[str, Mapping[str, ArrayLike]], columns: int = 2) -> Figure:
    """Draw histograms of scores, a panel for each network, with kinds of activations stacked.

    Args:
        panels: For each title the scores by kind.
        columns: Panels in a row.

    Returns:
        The figure, as wide as a page; all panels have the same bins and axes, and kinds the same colour and hatching.

    Raises:
        AffscoreError: Nothing to draw.

    Source: figure 5 D of the paper.

    >>> figure = score_histograms({"plain": {"hidden": [0.6, 0.7]}, "residual": {"hidden": [0.5], "after-sum": [0.9]}})
    >>> [axes.get_title() for axes in figure.axes]
    ['plain', 'residual']
    >>> plt.close(figure)
    """
    if not panels or not all(panels.values()):
        raise AffscoreError("expected at least one panel, and scores in each")
    kinds = list(dict.fromkeys(kind for panel in panels.values() for kind in panel))
    colours, hatches = ("sky", "vermilion", "green", "purple"), ("", "///", "...", "xxx")
    edges = np.linspace(0, 1, 26)
    columns = min(columns, len(panels))
    rows = ceil(len(panels) / columns)
    with house_style():
        figure, grid = plt.subplots(
            rows,
            columns,
            figsize=(PAGE_WIDTH, 0.6 + 2.1 * rows),
            sharex=True,
            sharey="row",
            squeeze=False,
            layout="constrained",
        )
        for axes, (title, panel) in zip(grid.flat, panels.items(), strict=False):
            below = np.zeros(len(edges) - 1)
            for kind, scores in panel.items():
                number = kinds.index(kind)
                counts, _ = np.histogram(np.clip(np.asarray(scores, dtype=float), 0, 1), edges)
                axes.bar(
                    edges[:-1], counts, np.diff(edges), bottom=below, align="edge", label=literal(kind), linewidth=0.4,
                    color=PALETTE[colours[number % 4]], hatch=hatches[number % 4], edgecolor="white",
                )  # fmt: skip
                below += counts
            axes.set_title("\n".join(wrap(literal(title), width=96 // columns)))
            axes.set_xlim(0, 1)
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        for axes in grid[:, 0]:
            axes.set_ylabel("activations")
        for axes in figure.axes[-columns:]:
            axes.set_xlabel("affinity score")
        handles: dict[str, Artist] = {}
        for axes in figure.axes:
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
    return figure
