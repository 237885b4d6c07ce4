"""The front page says what this run found, counted and drew."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from front_page import INTRODUCTION, SHOWN, as_svg, front_page, two_signatures
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from companion.shipped import shipped_signature
from tests.book.small_book import REPOSITORY


def executed(**numbers: str) -> dict[Path, nbformat.NotebookNode]:
    """A chapter 5 that ran and gave these numbers a name."""
    code = [
        "from myst_nb import glue",
        *(f"glue({name!r}, {value!r}, display=False)" for name, value in numbers.items()),
    ]
    notebook = new_notebook(cells=[new_code_cell("\n".join(code))])
    return {Path("notebooks/05_x.ipynb"): NotebookClient(notebook).execute()}


def test_numbers_of_the_chapters() -> None:
    ran = executed(share="99 %", networks="19")
    text = front_page("In {glue:text}`05::share` of {glue:text}`05::networks` networks.", ran)[INTRODUCTION]
    assert text.decode() == "In 99\N{NO-BREAK SPACE}% of 19 networks."
    with pytest.raises(SystemExit, match="asks for a number 'mean' of chapter 05, which has none so called"):
        front_page("{glue:text}`05::mean`", ran)


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
