"""The house style of the figures: one page width, one palette, one look for families, series, rows and legends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PAGE_WIDTH = 7.5
"""Width of a figure in inches. The page shows it at this size, so font sizes are what the reader sees."""

PALETTE = {
    "blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7",
    "orange": "#E69F00", "sky": "#56B4E9", "black": "#000000", "grey": "#A6A6A6",
}  # fmt: skip
"""The colours of Okabe and Ito, which colour-blind readers tell apart, without their yellow, and a light grey."""

INPUT, OUTPUT, FIT = PALETTE["grey"], PALETTE["vermilion"], PALETTE["green"]
"""The input of an activation, its output, and the affine image of the input: one colour each, everywhere."""

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""Markers for the series of a scatter plot, so that colour is never the only difference."""

_COLOURS = tuple(PALETTE.values())[:7]

FAMILIES = (
    "Pure convnets", "Inception", "ResNets", "DenseNets", "MNASNets", "EfficientNets", "ViTs", "Swins", "ConvNeXts",
)  # fmt: skip
"""The families of the paper's study, oldest first."""

_LINESTYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

_SETTINGS: Any = {
    # twice the 96 dots of a page, for screens that show two dots per pixel
    "figure.figsize": (PAGE_WIDTH, 3.2), "figure.dpi": 192, "savefig.dpi": "figure", "figure.facecolor": "white",
    "font.size": 9, "axes.titlesize": 9.5, "axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "legend.fontsize": 8.5, "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "xtick.major.width": 0.7, "ytick.major.width": 0.7, "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=_COLOURS) + cycler(linestyle=_LINESTYLES), "lines.linewidth": 1.6,
    "lines.markersize": 4, "svg.fonttype": "none", "text.usetex": False,
    "figure.hooks": ["affscore.figures.style:draw_once"],
}  # fmt: skip


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
    for axes in grid.flat[count - columns : count]:
        axes.set_xlabel(xlabel)
    for axes in grid[:, 0]:
        axes.set_ylabel(ylabel)
    return figure, list(grid.flat[:count])


def legend_below(figure: Figure, columns: int, *, loc: Any = "outside lower center", **look: Any) -> None:
    """One legend for all panels below the figure; what several of them have stands there once."""
    handles: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(list(handles.values()), list(handles), loc=loc, ncols=columns, **look)


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


def family_styles(families: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each family.

    Args:
        families: Names, in any order and as often as one likes.

    Returns:
        Colour and marker by family: first those of :data:`FAMILIES` in their order, then others as they come. A family
        of the study looks the same whichever others are there, and no two of the first 49 look alike.

    >>> family_styles(["ViTs", "mine", "ResNets"])
    {'ResNets': ('#009E73', 's'), 'ViTs': ('#000000', 'X'), 'mine': ('#009E73', 'D')}
    """
    named = set(families := list(families))
    looks = {}
    for number, family in enumerate(dict.fromkeys([*FAMILIES, *families])):
        looks[family] = tuple(series_style(number).values())
    return {family: look for family, look in looks.items() if family in named}
