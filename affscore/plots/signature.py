"""The raw signature of a network: the score of every activation over its depth."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.errors import AffscoreError
from affscore.plots.style import BLOCK_LOOKS, PALETTE, house_style, kind_style, legend_below, literal, page, score_axis

if TYPE_CHECKING:
    from affscore.network.result import Signature

_NAMES = {
    "relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "prelu": "PReLU", "elu": "ELU", "selu": "SELU",
    "celu": "CELU", "gelu": "GELU", "quick_gelu": "QuickGELU", "silu": "SiLU", "mish": "Mish", "hardswish": "Hardswish",
}  # fmt: skip
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
_KINDS = {
    "hidden": "", "after-sum": " after a sum", "squeeze": " (squeeze)", "gate": " (gate)",
    "gated-unit": " of a gated unit", **{place: f", {place} of a block" for place in _PLACES},
}  # fmt: skip


@house_style()
def raw_signature(
    results: Signature | Sequence[Signature], *, columns: int = 2, titles: Sequence[str] | None = None
) -> Figure:
    """Draw signatures: one panel for each, the affinity score over the depth of the activation.

    The function decides the shape of a point and the kind of activation its colour, in every figure the same
    (:func:`affscore.plots.style.kind_style`). The axis of scores fits the scores of all panels. Parallel branches
    share a depth and are overlaid. A line joins the activations; of blocks, those of one kind. Where there are several
    batches, bars show the standard deviation over them, and the title its mean. A flagged activation (constant input or
    output) is drawn hollow; one without a score is left out, and the title counts these.

    Args:
        results: One signature or several.
        columns: Panels in a row.
        titles: What to call the panels, where what they share need not be said in each; None for network, weights and
            data.

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: Nothing to draw, or not a title for each panel.

    Source: figure 10 (appendix F); the colours are ours.

    >>> from affscore import signature
    >>> result = signature("mini:digitsnet", "digits", n=64, images=64, criteria=False)
    >>> figure = raw_signature(result)
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('depth (activations on the longest path from the input)', 'affinity score (axis from 0.65)')
    """
    panels: list[Any] = [results] if hasattr(results, "summary") else list(results)
    if not panels:
        raise AffscoreError("expected at least one signature to draw, got none")
    if titles is not None and len(titles) != len(panels):
        raise AffscoreError(f"expected a title for each of {len(panels)} panels, got {len(titles)}")
    summaries = [panel.summary.assign(label=_labels(panel.summary)) for panel in panels]
    # how it was measured is the same for most figures, and then not worth a line in every title
    usual = ["mean", "activate-first"]
    choices = any((panel.table[["reduction", "order"]] != usual).any(axis=None) for panel in panels)
    titles = [_about(panel, choices) for panel in panels] if titles is None else titles
    columns = min(columns, len(panels))
    depth = "depth" if columns > 1 else "depth (activations on the longest path from the input)"
    labels = {"xlabel": depth, "ylabel": "affinity score"}
    figure, grid = page(len(panels), 0.7, each=2.6, columns=columns, sharey=True, **labels)
    for axes, title, summary in zip(grid, titles, summaries, strict=True):
        _draw(axes, summary)
        axes.set_title("\n".join(wrap(_title(title, summary), width=96 // columns)))
    everything = pd.concat(summaries)
    error = everything["score_std"].fillna(0)
    score_axis(grid, [everything["score"] - error, everything["score"] + error])
    legend_below(figure, 4)
    return figure


def _draw(axes: Axes, summary: pd.DataFrame) -> None:
    of_blocks = summary["kind"].isin(BLOCK_LOOKS).any()  # which lie in each other: none follows the one before
    if not of_blocks:
        axes.plot(summary["depth"], summary["score"], color=PALETTE["grey"], linewidth=0.6, alpha=0.5, zorder=1)
    for label, rows in summary.dropna(subset="score").groupby("label", sort=False):
        colour, marker = kind_style(rows["activation"].iloc[0], rows["kind"].iloc[0])
        if of_blocks:
            axes.plot(rows["depth"], rows["score"], color=colour, linewidth=0.6, linestyle="-", alpha=0.5, zorder=1)
        faces = ["none" if flagged else colour for flagged in rows["flag"] != ""]
        look: Any = {"facecolors": faces, "edgecolors": colour, "linewidths": 0.5, "marker": marker, "label": label}
        axes.scatter(rows["depth"], rows["score"], 32, **look)
        if rows["score_std"].notna().any():
            axes.errorbar(rows["depth"], rows["score"], rows["score_std"], color=colour, linestyle="", linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def in_words(activation: str, kind: str) -> str:
    """What an activation is called in legends.

    >>> in_words("relu", "after-sum"), in_words("mine", "hidden")
    ('ReLU after a sum', 'mine')
    """
    return f"{_NAMES.get(activation, activation)}{_KINDS.get(kind, f' ({kind})')}"


def _labels(summary: pd.DataFrame) -> list[str]:
    return [literal(in_words(*names)) for names in zip(summary["activation"], summary["kind"], strict=True)]


def _about(result: Signature, choices: bool) -> str:
    first = result.table.iloc[0]
    about = literal(f"{first['model']} ({first['weights']}) on {first['dataset']}")
    return f"{about}, {first['reduction']}, {first['order']}" if choices else about


def _title(about: str, summary: pd.DataFrame) -> str:
    spread = summary["score_std"].mean()
    if np.isfinite(spread):
        about += f", ± {spread:.3f} between batches"
    missing = int(summary["score"].isna().sum())
    return f"{about}, {missing} without score" if missing else about
