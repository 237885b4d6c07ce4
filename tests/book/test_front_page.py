"""The front page says what this run found, counted and drew."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from front_page import INTRODUCTION, SHOWN, as_svg, front_page, two_signatures
from nbformat.v4 import new_code_cell, new_notebook, new_output

from companion.shipped import shipped_signature
from tests.book.small_book import REPOSITORY


def run(**chapters: str) -> dict[Path, nbformat.NotebookNode]:
    """Executed notebooks: chapters with these findings."""
    executed = {}
    for name, found in chapters.items():
        output = new_output("display_data", {"text/markdown": found})
        cells = [new_code_cell("shown", outputs=[output], metadata={"tags": ["findings"]})]
        executed[Path(f"notebooks/{name}.ipynb")] = new_notebook(cells=cells if found else [])
    return executed


def page(text: str, **chapters: str) -> str:
    return front_page(text, run(**chapters))[INTRODUCTION].decode()


def test_the_first_findings_of_the_chapters_that_have_some() -> None:
    found = {
        "c12": "",
        "c05": "* The **first**\n  is 0.6 ({doc}`c06`).\n* No.",
        "c06": "* Here.",
        "c07": "* Not shown.",
    }
    text = page("<!-- 2 findings of c12 c05 c06 c07 -->", **found)
    assert text.splitlines() == [
        "* The **first** is 0.6 ({doc}`../notebooks/c06`). ({doc}`../notebooks/c05`)",
        "* Here. ({doc}`../notebooks/c06`)",
    ]
    with pytest.raises(SystemExit, match="asks for the findings of 12_x, and there is no such notebook"):
        page("<!-- 3 findings of 12_x -->")


def test_the_two_signatures_are_those_that_the_package_ships() -> None:
    figure = two_signatures()
    for axes, name in zip(figure.axes, SHOWN, strict=True):
        assert list(axes.lines[0].get_ydata()) == list(shipped_signature(name).scores)
        assert axes.get_ylim()[0] < axes.lines[0].get_ydata().min()
    assert as_svg(figure) == as_svg(two_signatures())


def test_the_picture_of_the_readme_is_current() -> None:
    """``affscore compare`` drew it from these scores: a marker for each, above one axis."""
    drawing = ElementTree.fromstring((REPOSITORY / "book" / "_static" / "two_signatures.svg").read_text())
    lines = [one for one in drawing.iter() if one.get("id", "").startswith("line2d")]
    markers = [[float(use.attrib["y"]) for use in line.iter() if use.tag.endswith("}use")] for line in lines]
    curves = [heights for heights in markers if len(heights) > 1]
    for name, heights in zip(("plainnet56", "resnet56"), curves, strict=True):
        scores = shipped_signature(name).scores
        assert len(heights) == len(scores)
        assert np.corrcoef(heights, scores)[0, 1] == pytest.approx(-1, abs=1e-9)
