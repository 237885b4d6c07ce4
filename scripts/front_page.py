"""``stage_book`` fills in with it what the front page says of the chapters of this run."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from nbformat import NotebookNode
from notebook_files import error

from affscore.plots.signature import place_in_words
from affscore.plots.style import KIND_LOOKS, PALETTE, house_style, kind_style, legend_below, page
from companion.shipped import shipped_signature

INTRODUCTION = Path("book/intro.md")
NUMBER = re.compile(r"\{glue:text\}`(\d\d)::([^`]+)`")
"""A number of another page: the number of the chapter, and the name that the chapter gives it (``glue``)."""

SHOWN = {"plainnet56": "plain, 56 layers", "resnet56": "residual, 56 layers"}


def front_page(introduction: str, executed: dict[Path, NotebookNode]) -> dict[Path, bytes]:
    """The introduction with the numbers of the chapters, and the pictures of it and of the page after it."""
    numbers = {(name.name[:2], key): shown for name, one in executed.items() for key, shown in glued(one).items()}

    def number(found: re.Match[str]) -> str:
        if (found[1], found[2]) not in numbers:
            raise error(
                f"{INTRODUCTION} asks for a number {found[2]!r} of chapter {found[1]}, which has none so called"
            )
        return re.sub(r"\s*%$", "\N{NO-BREAK SPACE}%", numbers[found[1], found[2]])

    text = NUMBER.sub(number, introduction)
    static = Path("book/_static")
    return {
        INTRODUCTION: text.encode(),
        static / "front_page.svg": as_svg(two_signatures()),
        static / "places.svg": as_svg(legend_of_places()),
    }


def glued(notebook: NotebookNode) -> dict[str, str]:
    """What a chapter gives a name for its sentences (``myst_nb.glue``), as they show it."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    named = ((output.get("metadata", {}).get("scrapbook", {}).get("name"), output) for output in outputs)
    return {name: next(iter(output.data.values())).strip("'") for name, output in named if name}


@house_style()
def two_signatures() -> Figure:
    """The signatures of a plain and a residual network, at half the width of a page."""
    figure, panels = page(2, 0.5, each=1.35, columns=1, xlabel="activation, first to last", sharex=True, sharey=True)
    figure.set_figwidth(4.65)
    for (name, title), panel in zip(SHOWN.items(), panels, strict=True):
        summary = shipped_signature(name).summary
        places = np.arange(1, len(summary) + 1)
        panel.plot(places, summary["score"], color=PALETTE["grey"], linestyle="-", linewidth=0.7)
        for kind in ("hidden", "first", "second", "after-sum"):
            (colour, marker), of = kind_style(kind), summary["kind"] == kind
            panel.plot(places[of], summary["score"][of], marker, color=colour, label=place_in_words(kind))
        panel.set(title=title, ylim=(0.35, 1.02), ylabel="affinity score")
    legend_below(figure, 4, handletextpad=0.1)
    return figure


@house_style()
def legend_of_places() -> Figure:
    """The colour and marker of each place of an activation."""
    figure, (panel,) = page(1, 1.1)
    for number, kind in enumerate(KIND_LOOKS):
        colour, marker = kind_style(kind)
        column, row = divmod(number, 4)
        panel.plot(column, -row, marker, color=colour, markersize=8)
        panel.annotate(kind, (column, -row), (10, 0), textcoords="offset points", va="center")
    panel.set(xlim=(-0.1, 2.9), ylim=(-3.6, 0.6))
    panel.axis("off")
    return figure


def as_svg(figure: Figure) -> bytes:
    """A figure as an SVG that is the same each time."""
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "affscore", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
