"""The house style of the figures: one page width, one palette, legible in colour and in grey."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.figure import Figure

__all__ = ["FIT", "INPUT", "MARKERS", "OUTPUT", "PAGE_WIDTH", "PALETTE", "draw_once", "house_style", "literal"]

PAGE_WIDTH = 7.5
"""Width of a figure in inches. The page shows it at this size, so font sizes are what the reader sees."""

PALETTE = {
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "black": "#000000",
    "grey": "#A6A6A6",
}
"""The colours of Okabe and Ito, which colour-blind readers tell apart, without their yellow, and a light grey."""

INPUT, OUTPUT, FIT = PALETTE["grey"], PALETTE["vermilion"], PALETTE["green"]
"""The input of an activation, its output, and the affine image of the input: one colour each, everywhere."""

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""Markers for the series of a scatter plot, so that colour is never the only difference."""

_LINESTYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

_SETTINGS: Any = {
    "figure.figsize": (PAGE_WIDTH, 3.2),
    "figure.dpi": 192,  # twice the 96 of a page, for screens that show two dots per pixel
    "savefig.dpi": "figure",
    "figure.facecolor": "white",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=list(PALETTE.values())[:7]) + cycler(linestyle=_LINESTYLES),
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "svg.fonttype": "none",
    "text.usetex": False,
    "figure.hooks": ["affscore.figures.style:draw_once"],
}


def draw_once(figure: Figure) -> None:
    """Let a notebook draw a figure once where it is the value of a cell: as that, and not as an open figure, too."""
    figure._repr_mimebundle_ = partial(_close, figure)  # type: ignore[attr-defined]  # what IPython asks for first


def _close(figure: Figure, **_: Any) -> None:
    plt.close(figure)


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

    The text is 8 to 9.5 points at the width of a page, bitmaps have two dots per pixel, and the lines of
    a plot differ in colour and in dashes, so that a print in grey still tells them apart. Points get
    their own marker for each series from :data:`MARKERS`.

    >>> before = plt.rcParams["font.size"]
    >>> with house_style():
    ...     figure, axes = plt.subplots()
    >>> float(figure.get_figwidth()), plt.rcParams["font.size"] == before
    (7.5, True)
    >>> plt.close(figure)
    """
    with plt.rc_context(_SETTINGS):
        yield
        interactive = plt.isinteractive()
    plt.rcParams["interactive"] = interactive  # the first figure of a notebook turns it on, for all that follow
