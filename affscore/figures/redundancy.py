"""The correlations of the score with other criteria, network by network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from affscore.analysis import CRITERIA_OF_TABLE_1, criterion_correlations, criterion_values
from affscore.errors import AffscoreError
from affscore.figures.families import family_styles
from affscore.figures.style import PAGE_WIDTH, PALETTE, house_style, literal

__all__ = ["criterion_dots", "criterion_scatter"]

_TITLES = {
    "cka": "linear CKA",
    "norm": "norm",
    "sparsity": "change of\nsparsity",
    "entropy": "change of\nentropy",
    "r2": "$R^2$",
    "cka_debiased": "debiased\nCKA",
    "nlc": "non-linearity\ncoefficient",
}


def criterion_dots(
    correlations: pd.DataFrame, families: Mapping[str, str], printed: pd.DataFrame | None = None
) -> Figure:
    """Draw all correlations with their intervals: a panel for each criterion, a line for each network.

    Args:
        correlations: What :func:`affscore.analysis.criterion_correlations` returns; the order of its rows is kept.
        families: The family of each network, which gives colour and marker.
        printed: Correlations that a paper prints, networks as rows and criteria as columns: drawn as vertical ticks.

    Returns:
        The figure, as wide as a page. A correlation that is missing leaves its place empty.

    Raises:
        AffscoreError: An empty table.

    Source: tables 1 and 2, as a figure.

    >>> rows = {"model": ["a"], "criterion": ["cka"], "correlation": [0.5], "low": [0.1], "high": [0.8]}
    >>> figure = criterion_dots(pd.DataFrame(rows), {"a": "F"})
    >>> figure.axes[0].get_title(), [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ('linear CKA', ['a'])
    >>> plt.close(figure)
    """
    if correlations.empty:
        raise AffscoreError("expected at least one correlation to draw, got an empty table")
    models = list(dict.fromkeys(correlations["model"]))
    criteria = list(dict.fromkeys(correlations["criterion"]))
    kinds = [families.get(model, model) for model in models]
    styles = family_styles(kinds)
    with house_style():
        figure, grid = plt.subplots(
            1, len(criteria), figsize=(PAGE_WIDTH, 1.7 + 0.19 * len(models)), sharey=True, squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for axes, criterion in zip(grid.flat, criteria, strict=True):
            table = correlations[correlations["criterion"] == criterion].set_index("model").reindex(models)
            for kind, style in styles.items():
                _dots(axes, table, np.array([own == kind for own in kinds]), style, kind)
            if printed is not None and criterion in printed:
                values = printed[criterion].reindex(models).to_numpy(dtype=float)
                axes.plot(values, np.arange(len(models)), linestyle="", marker="|", markersize=8, color="black",
                          markeredgewidth=1.1, label="printed (ImageNet)", zorder=4)  # fmt: skip
            axes.axvline(0, color=PALETTE["grey"], linewidth=0.8, zorder=0)
            axes.set(title=_TITLES.get(criterion, criterion), xlim=(-1.05, 1.05), xticks=(-1, 0, 1))
            axes.tick_params(axis="y", length=0)
        grid[0, 0].set_yticks(range(len(models)), [literal(model) for model in models])
        grid[0, 0].set_ylim(len(models) - 0.4, -0.6)
        figure.supxlabel("correlation with the affinity score", fontsize=9)
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return figure


def criterion_scatter(summary: pd.DataFrame, criteria: Sequence[str] = CRITERIA_OF_TABLE_1) -> Figure:
    """Draw the score of each activation of one network over each criterion, a panel for each.

    Args:
        summary: A row for each activation, as in :attr:`affscore.Signature.summary`.
        criteria: Which; see :func:`affscore.analysis.criterion_values`.

    Returns:
        The figure, as wide as a page: above each panel the correlation. The darker
        a point, the deeper its activation.

    Source: ours; table 2 prints the correlations alone.

    >>> network = pd.DataFrame({"score": [0.5, 0.6, 0.7, 0.8], "cka": [0.6, 0.7, 0.8, 0.9]})
    >>> figure = criterion_scatter(network, ["cka"])
    >>> figure.axes[0].get_title()
    'r = 1.00'
    >>> plt.close(figure)
    """
    values = criterion_values(summary, criteria)
    found = criterion_correlations({"network": summary}, criteria).set_index("criterion")["correlation"]
    order = np.linspace(0.25, 1, len(values))  # from the first activation to the last
    with house_style():
        figure, grid = plt.subplots(
            1, len(criteria), figsize=(PAGE_WIDTH, 2.3), sharey=True, squeeze=False, layout="constrained"
        )
        for axes, name in zip(grid.flat, criteria, strict=True):
            axes.scatter(values[name], values["score"], c=order, cmap="Blues", vmin=0, vmax=1, s=16, linewidths=0)
            axes.set_xlabel(_TITLES.get(name, name))
            r = float(found[name])
            axes.set_title("r not defined" if np.isnan(r) else f"r = {r:.2f}")
        grid[0, 0].set_ylabel("affinity score")
    return figure


def _dots(axes: Axes, table: pd.DataFrame, chosen: np.ndarray, style: tuple[str, str], label: str) -> None:
    places = np.arange(len(table))[chosen]
    values = table["correlation"].to_numpy(dtype=float)[chosen]
    ends = table[["low", "high"]].to_numpy(dtype=float)[chosen]
    colour, marker = style
    axes.hlines(places, ends[:, 0], ends[:, 1], color=colour, linewidth=0.9)
    axes.plot(values, places, linestyle="", marker=marker, markersize=4, color=colour, label=literal(label))
