"""``stage_book`` fills the marks of the front page with it, by what the notebooks of this run found."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
from findings import bullets, findings_of
from matplotlib.figure import Figure
from nbformat import NotebookNode
from notebook_files import error

from affscore.plots.style import PAGE_WIDTH, PALETTE, house_style, page
from companion.shipped import shipped_signature

INTRODUCTION = Path("book/intro.md")
FINDINGS = re.compile(r"<!-- (\d+) findings of (.+?) -->")
SHOWN = {"plainnet56": "plain, 56 layers", "resnet56": "residual, 56 layers"}


def front_page(introduction: str, executed: dict[Path, NotebookNode]) -> dict[Path, bytes]:
    """The introduction with its marks filled, and the picture that it shows."""
    text = FINDINGS.sub(lambda found: first_findings(int(found[1]), found[2].split(), executed), introduction)
    return {INTRODUCTION: text.encode(), Path("book/_static/front_page.svg"): as_svg(two_signatures())}


def first_findings(count: int, chapters: list[str], executed: dict[Path, NotebookNode]) -> str:
    """What so many chapters found first: the earliest of those named that have a cell tagged ``findings``."""
    sentences: list[str] = []
    for chapter in chapters:
        name = Path(f"notebooks/{chapter}.ipynb")
        if name not in executed:
            raise error(f"{INTRODUCTION} asks for the findings of {chapter}, and there is no such notebook")
        found = bullets(findings_of(name, executed[name]) or "")
        if found and len(sentences) < count:
            sentence = re.sub(r"\{doc\}`(?=[^/`]+`)", "{doc}`../notebooks/", found[0])
            sentences.append(f"* {sentence} ({{doc}}`../{name.with_suffix('')}`)")
    return "\n".join(sentences) or "Each chapter opens with what it found."


@house_style()
def two_signatures() -> Figure:
    """The signatures of a plain and a residual network, at half the width of a page."""
    figure, panels = page(2, 0.5, each=1.35, columns=1, xlabel="activation, first to last", sharex=True, sharey=True)
    figure.set_figwidth(PAGE_WIDTH * 0.62)
    looks = {"others": (PALETTE["vermilion"], "^"), "after a sum": (PALETTE["blue"], "o")}
    for (name, title), panel in zip(SHOWN.items(), panels, strict=True):
        summary = shipped_signature(name).summary
        places = np.arange(1, len(summary) + 1)
        panel.plot(places, summary["score"], color=PALETTE["grey"], linestyle="-", linewidth=0.7)
        for label, (colour, marker) in looks.items():
            of = (summary["kind"] == "after-sum") == (label == "after a sum")
            panel.plot(places[of], summary["score"][of], marker, color=colour, label=label)
        panel.set(title=title, ylim=(0.35, 1.02), ylabel="affinity score")
    panels[-1].legend(loc="lower left", ncols=2, handletextpad=0.1)
    return figure


def as_svg(figure: Figure) -> bytes:
    """A figure as an SVG that is the same each time."""
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "affscore", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
