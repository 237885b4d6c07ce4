"""Figure 6: activation functions over their domain, and how well one formula explains their scores, real ones too."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from affscore.plots.style import MARKERS, PAGE_WIDTH, PALETTE, house_style, legend_below, page
from companion.activations import NAMES
from companion.style import family_styles, narrow


@house_style()
def activation_domain(table: pd.DataFrame, graphs: pd.DataFrame, *, columns: int = 3) -> Figure:
    """Draw for each activation its graph, and below it its scores over the mean of the input.

    Each score is a point, and a line joins those of one standard deviation, which has its colour and marker.

    Args:
        table: What :func:`companion.chapter_02.measurements.domain_sweep` returns.
        graphs: The values of each activation (columns) over its input (the index), as of
            :func:`companion.activations.activation_graphs`.
        columns: Panels in a row.

    Returns:
        The figure, as wide as a page; narrow with one column.

    Source: figure 6 (appendix D), where boxes hold the six standard deviations; figure 1 of the first version of the
    paper has three of the nine.

    >>> from companion.activations import activation_graphs
    >>> from companion.chapter_02.measurements import domain_sweep
    >>> table = domain_sweep(["relu"], means=[-2.0, 2.0], stds=[1.0, 0.5], points=50, width=20)
    >>> figure = activation_domain(table, activation_graphs(["relu"], -3, 3))
    >>> [axes.get_title() for axes in figure.axes if axes.get_title()]
    ['ReLU']
    """
    names = list(dict.fromkeys(table["activation"]))
    columns = min(columns, len(names))
    rows = -(-len(names) // columns)
    figure = plt.figure(figsize=(PAGE_WIDTH, 0.4 + 1.95 * rows), layout="constrained")
    narrow(figure, columns)
    grid = figure.add_gridspec(2 * rows, columns, height_ratios=[1.0, 2.1] * rows)
    for k, name in enumerate(names):
        row, column = divmod(k, columns)
        above = figure.add_subplot(grid[2 * row, column])
        below = figure.add_subplot(grid[2 * row + 1, column], sharex=above)
        scores = table[table["activation"] == name]
        above.plot(graphs.index, graphs[name], color=PALETTE["black"], linewidth=1.2, linestyle="-")
        above.set(title=NAMES.get(name, name), xlim=(scores["mean"].min() - 1, scores["mean"].max() + 1))
        above.tick_params(labelbottom=False)
        above.margins(y=0.12)
        _draw_scores(below, scores)
        if column == 0:
            above.set_ylabel(r"$\sigma(x)$")
            below.set_ylabel(r"score $\rho$")
        if k + columns >= len(names):
            below.set_xlabel("mean of the input")
    legend_below(figure, 4)
    figure.align_ylabels()
    return figure


@house_style()
def activity(table: pd.DataFrame, curve: pd.Series) -> Figure:
    """Draw the scores of ReLUs over the share of their outputs that are zero, beside those of a normal input.

    Args:
        table: A row for each activation: ``zeros`` (a share), ``score``, and ``family``, what stands in the legend.
        curve: The score of a normal input by its share of zeros.

    Returns:
        The figure; its axes are fitted to the data.

    Source: ours.

    >>> points = pd.DataFrame({"zeros": [0.5, 0.9], "score": [0.62, 0.4], "family": ["plain", "residual"]})
    >>> figure = activity(points, pd.Series({0.5: 0.62, 0.9: 0.35}))
    >>> figure.axes[0].get_xlabel()
    'outputs that are zero (%)'
    """
    import seaborn as sns  # slow to load

    figure, (axes,) = page(1, 3.0)
    narrow(figure)
    looks = family_styles(table["family"])
    colours, markers = ({group: look[part] for group, look in looks.items()} for part in (0, 1))
    shown = table.assign(zeros=100 * table["zeros"])
    options: Any = {"hue": "family", "style": "family", "palette": colours, "markers": markers, "s": 26, "alpha": 0.8}
    sns.scatterplot(shown, x="zeros", y="score", ax=axes, **options)
    axes.plot(100 * curve.index, curve, color=PALETTE["black"], linestyle="--", linewidth=1.3, label="normal input")
    axes.set(xlabel="outputs that are zero (%)", ylabel=r"affinity score $\rho$")
    if legend := axes.get_legend():
        legend.remove()  # one below the figure stands for it
    legend_below(figure, 3)
    return figure


def _draw_scores(axes: Axes, scores: pd.DataFrame) -> None:
    import seaborn as sns  # slow to load

    label = "std of the input"
    look: Any = {"x": "mean", "y": "score", "hue": label, "palette": "crest", "errorbar": None, "legend": False}
    curves = scores.assign(**{label: scores["std"].map("{:g}".format)}).sort_values("std")
    look |= {"style": label, "dashes": False, "markers": list(MARKERS[: curves[label].nunique()])}
    sns.lineplot(curves, **look, markersize=3.4, markeredgewidth=0, linewidth=0.8, linestyle="-", ax=axes)
    for line, std in zip(axes.lines, curves[label].unique(), strict=True):
        line.set_label(f"std {std}")
    axes.set(xlabel="", ylabel="", ylim=(-0.03, 1.05))
