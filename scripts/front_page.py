"""The front page: its marks are filled with what the notebooks of this run found, counted and drew."""

from __future__ import annotations

import base64
import io
import re
from html import escape
from pathlib import Path

import numpy as np
from findings import bullets, findings_of
from matplotlib.figure import Figure
from nbformat import NotebookNode
from notebook_files import error

from affscore.figures.style import PAGE_WIDTH, PALETTE, house_style, page
from affscore.survey.shipped import PREFIX, shipped_signature

INTRODUCTION = Path("book/intro.md")
STATIC = Path("book/_static")
LEDGER = Path("notebooks/80_the_ledger.ipynb")
WINDOWS = "fig-1-ranges"
"""The figure for readers without a script: ReLU on six windows."""

FINDINGS = re.compile(r"<!-- (\d+) findings of (.+?) -->")
SHOWN = {"plainnet56": "plain, 56 layers", "resnet56": "residual, 56 layers"}
COUNTED = (
    r"(?P<numbers>\d+) printed numbers; measured here: (?P<measured>\d+) reproduced, (?P<differ1>\d+) differs?; "
    r"computed from public metadata: (?P<computed>\d+) reproduced, (?P<differ2>\d+) differs?; "
    r"looked up: (?P<looked_up>\d+) reproduced, (?P<differ3>\d+) differs?; needs data: (?P<needs_data>\d+)"
)
"""How :class:`affscore.papers.ledger.Ledger` sums itself up."""


def front_page(introduction: str, executed: dict[Path, NotebookNode]) -> dict[Path, bytes]:
    """The introduction with its marks filled, and the pictures that it shows."""
    picture, alt = figure_called(WINDOWS, executed)
    text = FINDINGS.sub(lambda found: first_findings(int(found[1]), found[2].split(), executed), introduction)
    text = text.replace("<!-- relu-window -->", relu_window(alt))
    text = text.replace("<!-- reproduction -->", reproduction(executed[LEDGER]))
    return {
        INTRODUCTION: text.encode(),
        STATIC / "relu_windows.png": picture,
        STATIC / "front_page.svg": as_svg(two_signatures()),
    }


def figure_called(label: str, executed: dict[Path, NotebookNode]) -> tuple[bytes, str]:
    """The figure with this label, and its description."""
    for notebook in executed.values():
        for cell in notebook.cells:
            options = cell.metadata.get("mystnb", {})
            outputs = (output.get("data", {}) for output in cell.get("outputs", []))
            drawn = [data["image/png"] for data in outputs if "image/png" in data]
            if options.get("figure", {}).get("name") == label and drawn:
                return base64.b64decode(drawn[0]), options["image"]["alt"]
    raise error(f"no notebook drew the figure {label!r}, which the front page shows")


def relu_window(alt: str) -> str:
    """Where a script draws the window of ReLU, and the picture for readers without one."""
    picture = f'<img src="../_static/relu_windows.png" alt="{escape(alt)}">'
    return f'```{{raw}} html\n<div id="relu-window"></div>\n<noscript>{picture}</noscript>\n```'


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


def reproduction(ledger: NotebookNode) -> str:
    """How many of the papers' numbers were reproduced, and in which way: a bar, and its numbers in words."""
    outputs = (output for cell in ledger.cells for output in cell.get("outputs", []))
    said = "\n\n".join(output.get("data", {}).get("text/markdown", "") for output in outputs)
    found = re.search(COUNTED, said)
    if found is None:
        raise error(f"{LEDGER} must show str(Ledger) in Markdown(...): the front page draws its counts")
    counts = {name: int(number) for name, number in found.groupdict().items()}
    parts = {
        "measured": (counts["measured"], "measured here and reproduced"),
        "computed": (counts["computed"], "computed from public metadata and reproduced"),
        "looked-up": (counts["looked_up"], "looked up and the same"),
        "differs": (sum(counts[f"differ{way}"] for way in (1, 2, 3)), "differ, with the reason"),
        "needs-data": (counts["needs_data"], "need data that are not in this package"),
    }
    if sum(count for count, _ in parts.values()) != counts["numbers"]:
        raise error(f"{LEDGER} counts {counts}, whose verdicts do not add up to its numbers")
    bar = "".join(f'<span class="{name}" style="flex-grow: {count}"></span>' for name, (count, _) in parts.items())
    key = "".join(
        f'<li><span class="{name}" aria-hidden="true"></span><strong>{count}</strong> {words}</li>'
        for name, (count, words) in parts.items()
    )
    return (
        "The paper and its preprint, and the two papers of the other measures, "
        f"print {counts['numbers']} numbers. Of these\n\n"
        f'```{{raw}} html\n<div class="reproduction"><div aria-hidden="true">{bar}</div><ul>{key}</ul></div>\n```'
    )


@house_style()
def two_signatures() -> Figure:
    """The signatures of a plain and a residual network, at half the width of a page."""
    figure, panels = page(2, 0.5, each=1.35, columns=1, xlabel="activation, first to last", sharex=True, sharey=True)
    figure.set_figwidth(PAGE_WIDTH * 0.62)
    looks = {"others": (PALETTE["vermilion"], "^"), "after a sum": (PALETTE["blue"], "o")}
    for (name, title), panel in zip(SHOWN.items(), panels, strict=True):
        summary = shipped_signature(PREFIX + name).summary
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
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "affscore", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
