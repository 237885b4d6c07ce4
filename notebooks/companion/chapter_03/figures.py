"""Figure 7 and what it leaves out: what the reduction, the covariance and the number of points do to a score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.plots.style import PALETTE, house_style, legend_below, page, series_style
from companion.activations import NAMES
from companion.style import narrow

_COVARIANCES = {"empirical": "empirical covariance", "ledoit-wolf": "Ledoit-Wolf shrinkage"}


@house_style()
def drift(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Draw scores over n/d for a fixed number of points, one panel for each covariance.

    Args:
        table: What :func:`companion.chapter_03.measurements.estimation_sweep` returns, for one number of points and one
            exponent; scores of several repeats are averaged.
        printed: A value for each activation (row) and covariance (column), drawn as a tick at the right
            edge of its panel; none by default.

    Returns:
        The figure, its panels below each other.

    Source: figure 7, top right and bottom.

    >>> from companion.chapter_03.measurements import estimation_sweep
    >>> figure = drift(estimation_sweep(["relu"], [20, 60], [30]))
    >>> [axes.get_title() for axes in figure.axes]
    ['empirical covariance', 'Ledoit-Wolf shrinkage']
    """
    import seaborn as sns  # slow to load

    colours = [colour for name, colour in PALETTE.items() if name != "grey"]  # nine
    curves = table.assign(ratio=table["points"] / table["width"])
    labels: Any = {"xlabel": "images for each channel, $n / d$", "ylabel": r"score $\rho$"}
    figure, grid = page(table["covariance"].nunique(), 1.2, each=1.9, columns=1, sharex=True, sharey=True, **labels)
    narrow(figure)
    for axes, (covariance, rows) in zip(grid, curves.groupby("covariance", sort=False), strict=True):
        for k, (name, scores) in enumerate(rows.groupby("activation", sort=False)):
            colour = colours[k % len(colours)]
            # every second one hollow and dashed: through ReLU6 one sees ReLU
            filled: Any = {"markerfacecolor": "none" if k % 2 else colour, "linestyle": "--" if k % 2 else "-"}
            style: Any = series_style(k) | filled | {"color": colour, "markeredgecolor": colour, "linewidth": 1.1}
            curve: Any = {"data": scores, "x": "ratio", "y": "score", "errorbar": None, "legend": False}
            sns.lineplot(**curve, **style, ax=axes, label=NAMES.get(str(name), str(name)))
            if printed is not None and covariance in printed:
                tick: Any = {"markersize": 6, "markeredgewidth": 1.8, "color": colour, "clip_on": False}
                place = 1.02 + 0.04 * (k % 2), printed[str(covariance)][name]
                axes.plot(*place, "_", transform=axes.get_yaxis_transform(), **tick)
        axes.set_title(_COVARIANCES.get(str(covariance), str(covariance)))
        axes.set_xscale("log", base=2)
        axes.set_xticks([1 / 4, 1 / 2, 1, 2], ["1/4", "1/2", "1", "2"])
        axes.label_outer()
    legend_below(figure, 5, handlelength=3)
    return figure


@house_style()
def bias_against_points(
    summary: pd.DataFrame, theory: pd.Series | None = None, *, tolerance: float | None = 0.01
) -> Figure:
    """Draw how far scores are from their limit over n/d, for each covariance, one panel for each kind of input.

    Bars show the spread: one standard deviation of a single score.

    Args:
        summary: A row for each ``exponent`` of the spectrum, ``covariance`` and ``ratio`` n/d, with ``bias`` and
            ``spread``, of one activation and one width.
        theory: A bias for each n/d (the index) to draw as a line, such as
            :func:`affscore.transport.first_order_bias` gives for the empirical covariance; none by default.
        tolerance: A bias to mark with a line; None for no line.

    Returns:
        The figure, its panels below each other.

    Source: ours.

    >>> rows = {"exponent": 0.0, "covariance": "empirical", "ratio": [2.0, 4.0], "bias": [0.04, 0.02], "spread": 0.01}
    >>> figure = bias_against_points(pd.DataFrame(rows), pd.Series({2.0: 0.037, 4.0: 0.019}))
    >>> figure.axes[0].get_title()
    'independent channels'
    """
    labels: Any = {"xlabel": "images for each channel, $n / d$", "ylabel": "bias"}
    figure, grid = page(summary["exponent"].nunique(), 1.0, each=1.8, columns=1, sharey=True, **labels)
    narrow(figure)
    ratios = np.unique(summary["ratio"])
    names = [f"{ratio:g}" if ratio >= 1 else f"1/{1 / ratio:g}" for ratio in ratios]
    for axes, (exponent, rows) in zip(grid, summary.groupby("exponent", sort=False), strict=True):
        axes.axhline(0, color=PALETTE["black"], linewidth=0.7, linestyle="-")
        if tolerance is not None:
            axes.axhline(tolerance, label=f"a bias of {tolerance:g}", color=PALETTE["grey"], linestyle=":", linewidth=1)
        if theory is not None:
            axes.plot(theory, "k--", label="first order, empirical covariance", linewidth=1.0)
        for k, (covariance, label) in enumerate(_COVARIANCES.items()):
            chosen = rows[rows["covariance"] == covariance].sort_values("ratio")
            look: Any = {"linestyle": "-", "linewidth": 1.1, "capsize": 2, **series_style(k), "marker": "os"[k]}
            if len(chosen):
                axes.errorbar(chosen["ratio"], chosen["bias"], chosen["spread"], label=label, **look)
        axes.set_title("independent channels" if exponent == 0 else f"steep spectrum, $k^{{-{exponent:g}}}$")
        axes.set_xscale("log", base=2)
        axes.set_xticks(ratios, names)
    legend_below(figure, 2)
    return figure
