"""The house style of the figures: one page width, one palette, one look for series, kinds, rows and legends."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

PAGE_WIDTH = 6.0
"""Width of a figure in inches. The page shows it at this size, so font sizes are what the reader sees."""

PALETTE = {
    "blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7",
    "orange": "#E69F00", "sky": "#56B4E9", "black": "#000000", "grey": "#A6A6A6", "wine": "#882255", "brown": "#7A5C3E",
}  # fmt: skip
"""The colours of Okabe and Ito, which colour-blind readers tell apart, without their yellow; a light grey; and two more
for families, which they tell apart from the others, too."""

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""Markers for the series of a scatter plot, so that colour is never the only difference."""

_COLOURS = tuple(PALETTE.values())[:7]

KIND_LOOKS = {
    "hidden": ("blue", "o"), "first": ("vermilion", "^"), "second": ("green", "s"), "third": ("purple", "v"),
    "fourth": ("orange", "<"), "fifth": ("sky", ">"), "sixth": ("brown", "p"), "after-sum": ("black", "P"),
    "squeeze": ("orange", "h"), "gate": ("sky", "D"), "gated-unit": ("wine", "*"),
}  # fmt: skip
"""The colour and the marker of a place: the kind of an activation, the same in every figure."""

BLOCK_LOOKS = {
    "activation": ("blue", "o"), "normalisation": ("green", "s"), "attention": ("vermilion", "^"),
    "mlp": ("purple", "D"), "residual": ("black", "P"), "pooling": ("sky", "v"), "linear": ("orange", "d"),
    "network": ("wine", "*"), "block": ("brown", "X"),
}  # fmt: skip
"""The colour and the marker of a kind of block, and of activations among blocks."""

_LINESTYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

_SETTINGS: Any = {
    # twice the 96 dots of a page, for screens that show two dots per pixel
    "figure.figsize": (PAGE_WIDTH, 3.2), "figure.dpi": 192, "savefig.dpi": "figure", "figure.facecolor": "white",
    "font.size": 9.5, "axes.titlesize": 10, "axes.labelsize": 9.5, "xtick.labelsize": 9, "ytick.labelsize": 9,
    "legend.fontsize": 9.5, "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "xtick.major.width": 0.7, "ytick.major.width": 0.7, "axes.axisbelow": True,
    "axes.prop_cycle": plt.cycler(color=_COLOURS) + plt.cycler(linestyle=_LINESTYLES), "lines.linewidth": 1.6,
    "lines.markersize": 4, "svg.fonttype": "none", "text.usetex": False,
    "figure.constrained_layout.h_pad": 0.065, "figure.hooks": ["affscore.plots.style:draw_once"],
}  # fmt: skip


def draw_once(figure: Figure) -> None:
    """Let a notebook draw a figure once where it is the value of a cell: as that, and not as an open figure, too."""
    # what IPython asks for first; it shows the bitmap then
    figure._repr_mimebundle_ = lambda **_: plt.close(figure)  # type: ignore[attr-defined]


def literal(name: object) -> str:
    r"""A name for a figure, letter by letter: no formula between dollars, and in the legend whatever it begins with.

    >>> literal("cost_in_$"), literal("_mine")
    ('cost_in_\\$', ' _mine')
    """
    text = str(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text  # matplotlib leaves out of a legend what begins with _


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style inside a ``with`` block, and leave matplotlib as it was.

    The text is 9 to 10 points at the width of a page, of which a phone shows two thirds. Bitmaps have two dots per
    pixel, and the lines of a plot differ in colour and in dashes, so that a print in grey still tells them apart.
    Points get their own marker for each series from :data:`MARKERS`.

    >>> before = plt.rcParams["font.size"]
    >>> with house_style():
    ...     figure, axes = plt.subplots()
    >>> float(figure.get_figwidth()), plt.rcParams["font.size"] == before
    (6.0, True)
    """
    with plt.rc_context(_SETTINGS):
        yield
        interactive = plt.isinteractive()
    plt.rcParams["interactive"] = interactive  # the first figure of a notebook turns it on, for all that follow


def page(
    count: int, height: float, *, each: float = 0, columns: int = 0, xlabel: str = "", ylabel: str = "", **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure as wide as a page, and its panels in rows.

    Args:
        count: How many panels.
        height: Of the figure in inches, without what ``each`` adds.
        each: Inches to add for each row.
        columns: Panels in a row; 0 for all of them.
        xlabel: What is on the horizontal axis, written below the lowest panel of each column.
        ylabel: What is on the vertical axis, written beside the first panel of each row.
        options: As of ``matplotlib.pyplot.subplots``.

    >>> figure, panels = page(3, 1.0, each=2.0, columns=2, xlabel="depth")
    >>> float(figure.get_figheight()), [axes.get_xlabel() for axes in panels]
    (5.0, ['', 'depth', 'depth'])
    """
    columns = min(columns or count, count)
    rows = -(-count // columns)
    size = (PAGE_WIDTH, height + each * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **options)
    for axes in grid.flat[count:]:
        axes.remove()
    plt.setp(grid.flat[count - columns : count], xlabel=xlabel)
    plt.setp(grid[:, 0], ylabel=ylabel)
    return figure, list(grid.flat[:count])


def legend_below(figure: Figure, columns: int, *, loc: Any = "outside lower center", **look: Any) -> None:
    """One legend for all panels below the figure; what several of them have stands there once.

    Args:
        figure: With the panels.
        columns: At most so many, and at most as many as fit the width of the figure.
        loc: As matplotlib's.
        look: As matplotlib's.
    """
    handles: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    for rows in range(-(-len(handles) // columns) or 1, len(handles) + 1):
        ncols = -(-len(handles) // rows)  # rows of equal length, as far as they go
        legend = figure.legend(list(handles.values()), list(handles), loc=loc, ncols=ncols, **look)
        if ncols == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()


def name_rows(axes: Axes, names: Sequence[object]) -> None:
    """Names instead of numbers on the vertical axis, the first one on top."""
    axes.set_yticks(range(len(names)), [literal(name) for name in names])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)


def series_style(number: int) -> dict[str, Any]:
    """Colour and marker of one of several series; no two of the first 49 look alike.

    >>> series_style(1), series_style(8)
    ({'color': '#D55E00', 'marker': '^'}, {'color': '#D55E00', 'marker': 's'})
    """
    # the markers lag behind by one after each round of colours
    marker = MARKERS[(number + number // len(_COLOURS)) % len(MARKERS)]
    return {"color": _COLOURS[number % len(_COLOURS)], "marker": marker}


def kind_style(kind: str) -> tuple[str, str]:
    """Colour and marker of an activation's place in the network, or of a kind of block.

    Args:
        kind: As the column ``kind`` of a signature has it.

    Returns:
        Both, the same in every figure of the book: colour is never the only difference.

    >>> kind_style("after-sum"), kind_style("mlp")
    (('#000000', 'P'), ('#CC79A7', 'D'))
    """
    colour, marker = {**BLOCK_LOOKS, **KIND_LOOKS}.get(kind, ("brown", "8"))
    return PALETTE[colour], marker


def score_axis(axes: Axes | Sequence[Axes], values: ArrayLike, *, direction: str = "y") -> None:
    """Fit the axis of scores to the scores: from 0, or from where all of them lie higher, to above the largest.

    No point is cut off, and an axis that does not begin at 0 says so in its label.

    Args:
        axes: One panel, or several with the same axis; where a panel has a label, it is kept.
        values: All that is drawn, ends of error bars included; NaN is left out.
        direction: ``"y"`` or ``"x"``.

    >>> figure, axes = plt.subplots()
    >>> score_axis(axes, [0.71, 0.98])
    >>> [round(float(end), 2) for end in axes.get_ylim()], axes.get_ylabel()
    ([0.65, 1.02], 'affinity score (axis from 0.65)')
    """
    panels = [axes] if isinstance(axes, Axes) else list(axes)
    numbers = np.asarray(values, dtype=float).ravel()
    numbers = numbers[np.isfinite(numbers)]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    room = 0.04 * max(high - low, 0.2)
    bottom = math.floor(20 * (low - room)) / 20  # in steps of 0.05
    bottom = bottom if low < 0 or bottom >= 0.2 else 0.0  # little is won by less, and 0 is easier to read
    top = math.ceil(20 * (high + room)) / 20 if not 0.95 < high <= 1 else 1.02  # a score of 1 is in sight
    for panel in panels:
        label = getattr(panel, f"get_{direction}label")() or ("affinity score" if len(panels) == 1 else "")
        if label and bottom > 0:
            label += f" (axis from {bottom:.2g})"
        panel.set(**{f"{direction}lim": (bottom, top), f"{direction}label": label})
