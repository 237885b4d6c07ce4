"""The scores of activations: over depth, side by side, while a network trains, and under every specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError
from affscore.options import DEFAULT, Specification
from affscore.plots.style import (
    BLOCK_LOOKS,
    PALETTE,
    house_style,
    kind_style,
    legend_below,
    literal,
    name_rows,
    page,
    score_axis,
    series_style,
)

if TYPE_CHECKING:
    from affscore.network.result import Signature

_NAMES = {
    "relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "prelu": "PReLU", "elu": "ELU", "selu": "SELU",
    "celu": "CELU", "gelu": "GELU", "quick_gelu": "QuickGELU", "silu": "SiLU", "mish": "Mish", "hardswish": "Hardswish",
}  # fmt: skip
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
_KINDS = {
    "hidden": "outside of blocks", "after-sum": "after a sum", "gated-unit": "of a gated unit",
    **{place: f"{place} inside a block" for place in _PLACES},
}  # fmt: skip

_NAMED = {
    "default": (DEFAULT, "vermilion", "D"),
    "Definition 3.1": (Specification(order="reduce-first"), "blue", "s"),
    "published code": (Specification("published"), "purple", "^"),
}

FEW = 12
"""Up to so many measurements of a training are marked by dots, too."""


@house_style()
def raw_signature(results: Signature | Sequence[Signature], *, titles: Sequence[str] | None = None) -> Figure:
    """Draw signatures: one panel for each, the affinity score over the depth of the activation.

    A place in the network has one colour and marker in every figure (:func:`affscore.plots.style.kind_style`). The
    axis of scores fits the scores of all panels. Parallel branches share a depth and are overlaid. A line joins the
    activations; of blocks, those of one kind. Where there are several batches, bars show the standard deviation over
    them, and the title its mean. A flagged activation (constant input or output) is drawn hollow; one without a score
    is left out, and the title counts these.

    Args:
        results: One signature or several.
        titles: What to call the panels, where what they share need not be said in each; None for network, weights and
            data.

    Returns:
        The figure, as wide as a page.

    Source: figure 10 (appendix F); the colours are ours.

    >>> from affscore import signature
    >>> result = signature("mini:digitsnet", "digits", n=64, images=64, criteria=False)
    >>> figure = raw_signature(result)
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('depth (activations on the longest path from the input)', 'affinity score (axis from 0.65)')
    """
    panels: list[Any] = [results] if hasattr(results, "summary") else list(results)
    titles = [_about(panel.table.iloc[0]) for panel in panels] if titles is None else titles
    columns = min(2, len(panels))
    depth = "depth" if columns > 1 else "depth (activations on the longest path from the input)"
    figure, grid = page(len(panels), 0.7, each=2.6, columns=columns, sharey=True, xlabel=depth, ylabel="affinity score")
    summaries = [panel.summary for panel in panels]
    for axes, title, summary in zip(grid, titles, summaries, strict=True):
        draw_signature(axes, summary)
        spread, missing = summary["score_std"].mean(), summary["score"].isna().sum()
        title += f", ± {spread:.3f} between batches" if np.isfinite(spread) else ""
        title += f", {missing} without score" if missing else ""
        axes.set_title("\n".join(wrap(title, width=96 // columns)))
    everything = pd.concat(summaries)
    error = everything["score_std"].fillna(0)
    score_axis(grid, [everything["score"] - error, everything["score"] + error])
    legend_below(figure, 4)
    return figure


def draw_signature(axes: Axes, summary: pd.DataFrame) -> None:
    """Draw one signature: a point for each row, by ``depth``, ``score`` and ``kind``, with bars of ``score_std``."""
    of_blocks = summary["kind"].isin(BLOCK_LOOKS).any()  # which lie in each other: none follows the one before
    if not of_blocks:
        axes.plot(summary["depth"], summary["score"], color=PALETTE["grey"], linewidth=0.6, alpha=0.5, zorder=1)
    for kind, rows in summary.dropna(subset="score").groupby("kind", sort=False):
        colour, marker = kind_style(str(kind))
        functions = ", ".join(map(str, rows["activation"].unique()))
        if of_blocks:
            axes.plot(rows["depth"], rows["score"], color=colour, linewidth=0.6, linestyle="-", alpha=0.5, zorder=1)
        faces = ["none" if flagged else colour for flagged in rows["flag"] != ""]
        look: Any = {"facecolors": faces, "edgecolors": colour, "linewidths": 0.5, "marker": marker}
        axes.scatter(rows["depth"], rows["score"], 32, label=literal(in_words(functions, str(kind))), **look)
        if rows["score_std"].notna().any():
            axes.errorbar(rows["depth"], rows["score"], rows["score_std"], color=colour, linestyle="", linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def place_in_words(kind: str) -> str:
    """What legends call the place of an activation.

    >>> place_in_words("first"), place_in_words("hidden"), place_in_words("gate")
    ('first inside a block', 'outside of blocks', 'gate')
    """
    return _KINDS.get(kind, kind)


def in_words(activation: str, kind: str) -> str:
    """What an activation, or several at one place, are called in legends.

    >>> in_words("relu", "after-sum"), in_words("mine", "hidden")
    ('ReLU after a sum', 'mine')
    """
    names = ", ".join(_NAMES.get(name, name) for name in activation.split(", "))
    joint = ", {}" if kind in _PLACES else " {}" if kind in _KINDS else " ({})"
    return names if kind == "hidden" else names + joint.format(place_in_words(kind))


def _about(row: pd.Series) -> str:
    """Network, weights and data of a result, and how it was measured where that is not as usual."""
    about, way = f"{row['model']} ({row['weights']}) on {row['dataset']}", f", {row['reduction']}, {row['order']}"
    return literal(about + way.removesuffix(", mean, activate-first"))


@house_style()
def compared_signatures(signatures: Mapping[str, ArrayLike], distances: pd.DataFrame) -> Figure:
    """Draw signatures over the relative depth of their networks, and the matrix of their distances.

    Args:
        signatures: Scores by name, in the order of the activations.
        distances: Distances between them, in their order.

    Returns:
        The figure, as wide as a page: left the signatures from the first activation (0) to the last (1), each with a
        colour, a marker and a line style of its own; right the distances.

    Source: figure 5 of the paper, for networks of one's own.

    >>> scores = {"a": [0.5, 0.6, 0.9], "b": [0.7, 0.8]}
    >>> figure = compared_signatures(scores, pd.DataFrame([[0, 0.3], [0.3, 0]], index=list("ab"), columns=list("ab")))
    >>> figure.axes[0].get_ylabel(), len(figure.axes[0].lines)
    ('affinity score (axis from 0.45)', 2)
    """
    figure, (curves, matrix) = page(2, max(3.2, 1.6 + 0.42 * len(signatures)), width_ratios=(3, 2))
    for number, (name, values) in enumerate(signatures.items()):
        curves.plot(relative_positions(values), values, label=literal(name), linewidth=1, **series_style(number))
    curves.set(xlabel="relative position of the activation (0 first, 1 last)", ylabel="affinity score")
    score_axis(curves, np.concatenate([np.ravel(values) for values in signatures.values()]))
    numbers, ends = range(1, len(signatures) + 1), (0.5, len(signatures) + 0.5)
    matrix.imshow(distances, cmap="Greys", vmin=0, extent=(*ends, *ends[::-1]))
    values = distances.to_numpy(dtype=float)
    for (row, column), distance in np.ndenumerate(values):
        colour = "white" if distance > 0.6 * values.max() else "black"
        matrix.text(column + 1, row + 1, f"{distance:.2f}", ha="center", va="center", fontsize=8, color=colour)
    matrix.set(xticks=numbers, yticks=numbers, xlabel="signature, in the order of the legend", title="DTW distance")
    matrix.tick_params(length=0)
    legend_below(figure, 2)
    return figure


def relative_positions(scores: ArrayLike) -> NDArray[np.float64]:
    """From the first activation (0) to the last (1)."""
    return np.linspace(0, 1, np.size(scores)) if np.size(scores) > 1 else np.array([0.5])


@house_style()
def scores_over_steps(table: pd.DataFrame, title: str = "") -> Figure:
    """Draw the score of every activation over the optimisation steps: a line each, coloured by its depth.

    The mean over the activations is the dashed black line. Where the accuracy on the probe is known, it has a panel of
    its own below. A line has a gap where the activation has no score, and the mean where one of them has none.

    Args:
        table: A row for each step and activation with ``step``, ``index``, ``depth``, ``score`` and, where it is known,
            ``accuracy``: the table of a :class:`affscore.network.record.TrainingRecord`.
        title: Above the figure.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No rows.

    >>> rows = [(step, index, index + 1, 0.9 - 0.001 * step) for step in (0, 100) for index in range(3)]
    >>> figure = scores_over_steps(pd.DataFrame(rows, columns=["step", "index", "depth", "score"]))
    >>> [axes.get_ylabel() for axes in figure.axes], len(figure.axes[0].lines)
    (['affinity score (axis from 0.75)', 'depth (activations on the longest path)'], 4)
    """
    if table.empty:
        raise AffscoreError("there is no measurement to draw (of several processes only process 0 measures)")
    accuracy = table.groupby("step")["accuracy"].first().dropna() if "accuracy" in table else pd.Series(dtype=float)
    rows = 2 if len(accuracy) else 1
    look: Any = {"columns": 1, "xlabel": "optimisation steps", "sharex": True, "height_ratios": [3.4, 1.1][:rows]}
    figure, (top, *below) = page(rows, 2.3, each=1.1, **look)
    scores, depths = table.pivot_table("score", "step", "index", dropna=False), table.groupby("index")["depth"].first()
    colours = ScalarMappable(Normalize(depths.min(), max(depths.max(), depths.min() + 1)), mpl.colormaps["viridis"])
    dot = "o" if len(scores) <= FEW else ""
    for index, depth in depths.items():
        colour = colours.to_rgba(depth)
        top.plot(scores.index, scores[index], f"-{dot}", color=colour, markersize=2.5, linewidth=1, alpha=0.85)
    means = scores.dropna(axis=1, how="all").mean(axis=1, skipna=False)
    top.plot(scores.index, means, "--", color=PALETTE["black"], linewidth=2, label="mean of the activations")
    top.set_title(literal(title))
    score_axis(top, table["score"])
    label = "depth (activations on the longest path)"
    figure.colorbar(colours, ax=top, label=label, ticks=MaxNLocator(integer=True), pad=0.01)
    for axes in below:
        axes.plot(accuracy.index, accuracy, color=PALETTE["vermilion"], linestyle="-", marker=dot, markersize=3)
        axes.set(ylabel="accuracy\non the probe", ylim=(0, 1.02))
    top.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, 1)
    return figure


@house_style()
def specification_curve(
    summary: pd.DataFrame,
    value: str = "mean",
    *,
    low: str | None = None,
    high: str | None = None,
    ylabel: str = "mean affinity score",
    title: str = "",
) -> Figure:
    """Draw a number for each specification, sorted, over the dot matrix of the choices behind it.

    The default and the papers' own choices are marked: Definition 3.1 as it is printed, and, where it was measured,
    the reduction of the published code; where it was not, the default is the published code's.

    Args:
        summary: A row for each specification with the names of its choices
            (:class:`affscore.options.Specification`; those there are) and the numbers:
            :attr:`affscore.Multiverse.summary`, say.
        value: The column to draw; rows without a number are left out.
        low: The column of the lower end of a bar.
        high: Of its upper end.
        ylabel: What the number is.
        title: Above the figure.

    Returns:
        The figure, as wide as a page.

    Source: specification curves after Simonsohn et al. (2020).

    >>> rows = pd.DataFrame({"reduction": ["mean", "sample"], "coupling": "exact", "mean": [0.8, 0.6]})
    >>> curve, dots = specification_curve(rows).axes
    >>> [label.get_text() for label in dots.get_yticklabels()]
    ['sample', 'mean', 'exact']
    """
    several = {name for name in Specification._fields if name in summary and len(set(summary[name])) > 1}
    choices = [name for name in Specification._fields if name in summary and (name != "bias" or name in several)]
    rows = summary.dropna(subset=value).sort_values(value, kind="stable", ignore_index=True)
    words = [(name, word) for name in choices for word in dict.fromkeys(rows[name])]
    below = 0.19 * len(words)
    figure, (curve, dots) = page(2, 2.6 + below, columns=1, sharex=True, height_ratios=[2.2, below])
    places = np.arange(len(rows))
    if low is not None and high is not None:
        curve.vlines(places, rows[low], rows[high], color=PALETTE["grey"], linewidth=3, alpha=0.7)
    curve.plot(places, rows[value], "o", color=PALETTE["black"], markersize=4)
    for label, (chosen, colour, marker) in _NAMED.items():
        here = np.all([rows[name] == word for name, word in chosen._asdict().items() if name in rows], axis=0)
        if here.any():
            curve.plot(places[here], rows.loc[here, value], marker, color=PALETTE[colour], markersize=8, label=label)
            for place in places[here]:
                dots.axvspan(place - 0.4, place + 0.4, color=PALETTE[colour], alpha=0.15, linewidth=0)
    curve.set(ylabel=ylabel, title=literal(title))
    curve.tick_params(axis="x", length=0)
    if curve.get_legend_handles_labels()[1]:
        curve.legend(loc="upper left")
    for row, (name, word) in enumerate(words):
        chosen_here = (rows[name] == word).to_numpy()
        dots.plot(places, np.full(len(places), row), "o", color=PALETTE["grey"], markersize=2.5, alpha=0.6)
        dots.plot(places[chosen_here], np.full(chosen_here.sum(), row), "o", color=PALETTE["black"], markersize=4.5)
        if row and words[row - 1][0] != name:
            dots.axhline(row - 0.5, color=PALETTE["grey"], linewidth=0.6)
    name_rows(dots, [word for _, word in words])
    dots.set(xticks=[], xlabel=f"{len(rows)} specifications, sorted")
    dots.spines[["left", "bottom"]].set_visible(False)
    return figure
