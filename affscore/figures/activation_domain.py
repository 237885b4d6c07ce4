"""Figure 6: activation functions over their domain, and how well one formula explains their scores."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from affscore.errors import AffscoreError
from affscore.experiments.activations import ACTIVATIONS, Activation
from affscore.figures.style import MARKERS, OUTPUT, PAGE_WIDTH, PALETTE, house_style

__all__ = ["NAMES", "activation_domain", "domain_limit"]

NAMES = {
    "gelu": "GELU",
    "hardswish": "HardSwish",
    "hardtanh": "HardTanh",
    "leaky_relu": "LeakyReLU",
    "relu": "ReLU",
    "relu6": "ReLU6",
    "sigmoid": "Sigmoid",
    "silu": "SiLU",
    "tanh": "Tanh",
}
"""How the activations are written."""


def activation_domain(
    table: pd.DataFrame,
    baselines: Mapping[str, float] | pd.Series | None = None,
    *,
    functions: Mapping[str, Activation] = ACTIVATIONS,
    columns: int = 3,
) -> Figure:
    """Draw for each activation its graph, and below it box plots of its scores over the mean of the input.

    Each box has the scores of one mean for all standard deviations: the box holds the middle half of them,
    the whiskers reach to the lowest and the highest, and a black line joins the medians. The baseline is
    dashed.

    Args:
        table: What :func:`affscore.experiments.domain_sweep` returns.
        baselines: For each activation the score on a sample that covers the interval; none by default.
        functions: The functions behind the names.
        columns: Panels in a row.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: An empty table, or an activation without a function.

    Source: figure 6 (appendix D); figure 1 of the first version of the paper has three of the nine.

    >>> from affscore.experiments import domain_sweep
    >>> table = domain_sweep(["relu"], means=[-2.0, 2.0], stds=[1.0, 0.5], points=50, width=20)
    >>> figure = activation_domain(table, {"relu": 0.7})
    >>> [axes.get_title() for axes in figure.axes if axes.get_title()]
    ['ReLU']
    >>> plt.close(figure)
    """
    names = list(dict.fromkeys(table["activation"]))
    if not names:
        raise AffscoreError("expected at least one score to draw, got an empty table")
    if missing := [name for name in names if name not in functions]:
        raise AffscoreError(f"there is no function for {', '.join(map(repr, missing))}; give it in `functions`")
    columns = min(columns, len(names))
    rows = ceil(len(names) / columns)
    with house_style():
        figure = plt.figure(figsize=(PAGE_WIDTH, 0.4 + 2.25 * rows), layout="constrained")
        grid = figure.add_gridspec(2 * rows, columns, height_ratios=[1.0, 2.1] * rows)
        first: Axes | None = None
        for k, name in enumerate(names):
            row, column = divmod(k, columns)
            above = figure.add_subplot(grid[2 * row, column])
            below = figure.add_subplot(grid[2 * row + 1, column], sharex=above, sharey=first)
            first = first or below
            scores = table[table["activation"] == name]
            _draw_function(above, functions[name], scores, NAMES.get(name, name))
            _draw_boxes(below, scores, None if baselines is None else baselines.get(name))
            if column == 0:
                above.set_ylabel(r"$\sigma(x)$")
                below.set_ylabel(r"score $\rho$")
            if k + columns >= len(names):
                below.set_xlabel("mean of the input")
        assert first is not None
        handles, labels = first.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.align_ylabels()
    return figure


def domain_limit(table: pd.DataFrame) -> Figure:
    r"""Draw measured scores against their limit :math:`1 - \sqrt{1 - \operatorname{corr}}`, in three groups.

    Constant outputs, inputs on which the activation mostly falls (a limit of zero) and all others have a
    colour and a marker each. On the dashed line the two numbers agree.

    Args:
        table: What :func:`affscore.experiments.domain_sweep` returns.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: An empty table.

    Source: ours; the formula is that of notebook 1.

    >>> from affscore.experiments import domain_sweep
    >>> table = domain_sweep(["relu", "silu"], means=[-9.0, 2.0], stds=[1.0], points=50, width=20)
    >>> figure = domain_limit(table)
    >>> [len(points.get_offsets()) for points in figure.axes[0].collections]
    [2, 1, 1]
    >>> plt.close(figure)
    """
    if table.empty:
        raise AffscoreError("expected at least one score to draw, got an empty table")
    constant = table["constant"].to_numpy(dtype=bool)
    falling = ~constant & (table["limit"].to_numpy() == 0)
    groups = {
        "the output varies, and rises with the input on the whole": (~constant & ~falling, PALETTE["blue"]),
        "the output falls with the input on the whole": (falling, OUTPUT),
        "the output of the sample is constant": (constant, PALETTE["black"]),
    }
    with house_style():
        figure, axes = plt.subplots(figsize=(PAGE_WIDTH, 4.3), layout="constrained")
        axes.plot([0, 1], [0, 1], color=PALETTE["grey"], linestyle="--", linewidth=1.0, zorder=1)
        for (label, (rows, colour)), marker in zip(groups.items(), MARKERS, strict=False):
            chosen = table[rows]
            axes.scatter(
                chosen["limit"], chosen["score"], s=18, marker=marker, facecolors="none", edgecolors=colour,
                linewidths=0.8, label=f"{label} ({len(chosen)})", zorder=2,
            )  # fmt: skip
        axes.set(xlabel=r"limit $1 - \sqrt{1 - \mathrm{corr}}$", ylabel=r"measured score $\rho$")
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        figure.legend(loc="outside lower center", ncols=1)
    return figure


def _draw_function(axes: Axes, function: Activation, scores: pd.DataFrame, title: str) -> None:
    low, high = float(scores["mean"].min()) - 1, float(scores["mean"].max()) + 1
    x = np.linspace(low, high, 801)
    axes.plot(x, function(torch.from_numpy(x)).numpy(), color=PALETTE["black"], linewidth=1.2, linestyle="-")
    axes.set_title(title)
    axes.tick_params(labelbottom=False)
    axes.margins(y=0.12)


def _draw_boxes(axes: Axes, scores: pd.DataFrame, baseline: float | None) -> None:
    means = np.unique(scores["mean"])
    step = float(np.diff(means).min()) if len(means) > 1 else 1.0
    thin: Any = {"color": PALETTE["blue"], "linewidth": 0.8, "linestyle": "-"}
    axes.boxplot(
        [scores.loc[scores["mean"] == mean, "score"].to_numpy() for mean in means],
        positions=means, widths=0.62 * step, whis=(0, 100), showcaps=False, manage_ticks=False, patch_artist=True,
        boxprops={"facecolor": PALETTE["sky"], "edgecolor": PALETTE["blue"], "linewidth": 0.6},
        whiskerprops=thin, medianprops={"linewidth": 0},
    )  # fmt: skip
    axes.fill([], [], facecolor=PALETTE["sky"], edgecolor=PALETTE["blue"], linewidth=0.6, label="scores of one mean")
    medians = scores.groupby("mean")["score"].median()
    axes.plot(
        medians.index, medians.to_numpy(), color=PALETTE["black"], linestyle="-", linewidth=1.1, marker="o",
        markersize=1.8, label="median",
    )  # fmt: skip
    if baseline is not None:
        axes.axhline(baseline, color=OUTPUT, linestyle="--", linewidth=1.3, label="baseline")
    axes.set_ylim(-0.03, 1.05)
