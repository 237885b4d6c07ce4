"""The raw signature of a network: the score of every activation over its depth."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.errors import AffscoreError
from affscore.figures.style import MARKERS, PAGE_WIDTH, PALETTE, house_style, literal
from affscore.network.recorder.calls import ORDINALS
from affscore.network.result import Signature

__all__ = ["raw_signature"]

_NAMES = {
    "relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "prelu": "PReLU", "elu": "ELU", "selu": "SELU",
    "celu": "CELU", "gelu": "GELU", "quick_gelu": "QuickGELU", "silu": "SiLU", "mish": "Mish", "hardswish": "Hardswish",
}  # fmt: skip
_KINDS = {
    "hidden": "", "after-sum": " after a sum", "squeeze": " (squeeze)", "gate": " (gate)",
    "gated-unit": " of a gated unit", **{place: f", {place} of a block" for place in ORDINALS},
}  # fmt: skip
_COLOURS = {
    "hidden": "blue", "first": "vermilion", "second": "green", "third": "purple", "after-sum": "black",
    "squeeze": "orange", "gate": "sky", "gated-unit": "orange",
}  # fmt: skip
"""A kind looks the same in every figure, whatever other kinds are there."""


def raw_signature(
    results: Signature | Sequence[Signature], *, columns: int = 2, titles: Sequence[str] | None = None
) -> Figure:
    """Draw signatures: one panel for each, the affinity score over the depth of the activation.

    A kind of activation has its colour and its marker, in every figure the same; several functions of one kind have
    different markers. Parallel branches share a depth and are overlaid. Where there are several batches, bars show the
    standard deviation over them, and the title its mean. A flagged activation (constant input or output) is drawn
    hollow; one without a score is left out, and the title counts these.

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
    ('depth (activations on the longest path from the input)', 'affinity score')
    >>> plt.close(figure)
    """
    panels = [results] if isinstance(results, Signature) else list(results)
    if not panels:
        raise AffscoreError("expected at least one signature to draw, got none")
    if titles is not None and len(titles) != len(panels):
        raise AffscoreError(f"expected a title for each of {len(panels)} panels, got {len(titles)}")
    summaries = [panel.summary for panel in panels]
    styles = _styles(summaries)
    # how it was measured is the same for most figures, and then not worth a line in every title
    choices = any(
        (panel.table[["reduction", "order"]] != ["mean", "activate-first"]).any(axis=None) for panel in panels
    )
    columns = min(columns, len(panels))
    rows = ceil(len(panels) / columns)
    with house_style():
        figure, grid = plt.subplots(
            rows, columns, figsize=(PAGE_WIDTH, 0.7 + 2.6 * rows), sharey=True, squeeze=False, layout="constrained"
        )
        for number, (axes, panel, summary) in enumerate(zip(grid.flat, panels, summaries, strict=False)):
            _draw(axes, summary, styles)
            what = _about(panel, choices) if titles is None else titles[number]
            axes.set_title("\n".join(wrap(_title(what, summary), width=96 // columns)))
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        for axes in grid[:, 0]:
            axes.set_ylabel("affinity score")
        for axes in figure.axes[-columns:]:
            axes.set_xlabel("depth (activations on the longest path from the input)" if columns == 1 else "depth")
        handles: dict[str, Artist] = {}
        for axes in figure.axes:
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4)
    return figure


def _styles(summaries: Sequence[pd.DataFrame]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each label, in the order in which they appear: the kind decides both.

    A second function of the same kind has the colour of the kind, and a marker that no other label has.
    """
    kind_of = {
        label: str(kind) for summary in summaries for label, kind in zip(_labels(summary), summary["kind"], strict=True)
    }
    order = [*_COLOURS, *(kind for kind in dict.fromkeys(kind_of.values()) if kind not in _COLOURS)]
    markers = {kind: MARKERS[order.index(kind) % len(MARKERS)] for kind in kind_of.values()}
    used, styles, seen = set(markers.values()), {}, set()
    for label, kind in kind_of.items():
        marker = markers[kind]
        if kind in seen:
            marker = next((other for other in MARKERS if other not in used), marker)
            used.add(marker)
        seen.add(kind)
        styles[label] = (PALETTE[_COLOURS.get(kind, "purple")], marker)
    return styles


def _draw(axes: Axes, summary: pd.DataFrame, styles: dict[str, tuple[str, str]]) -> None:
    axes.plot(summary["depth"], summary["score"], color=PALETTE["grey"], linewidth=0.6, alpha=0.5, zorder=1)
    labels = np.array(_labels(summary))
    for kind, (colour, marker) in styles.items():
        rows = summary[labels == kind]
        if rows["score"].notna().any():
            flagged = (rows["flag"] != "").to_numpy()
            faces = ["none" if hollow else colour for hollow in flagged]
            axes.scatter(
                rows["depth"], rows["score"], s=20, facecolors=faces, edgecolors=colour, marker=marker, label=kind
            )
            if rows["score_std"].notna().any():
                axes.errorbar(
                    rows["depth"], rows["score"], rows["score_std"], color=colour, linestyle="", linewidth=0.8
                )
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _labels(summary: pd.DataFrame) -> list[str]:
    return [
        f"{_NAMES.get(activation, literal(activation))}{_KINDS.get(kind, f' ({kind})')}"
        for activation, kind in zip(summary["activation"], summary["kind"], strict=True)
    ]


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
