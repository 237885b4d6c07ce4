"""The front page says what this run found, counted and drew."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from front_page import INTRODUCTION, LEDGER, SHOWN, STATIC, WINDOWS, as_svg, front_page, two_signatures
from nbformat.v4 import new_code_cell, new_notebook, new_output

from affscore.survey.shipped import shipped_signature
from tests.test_book.small_book import REPOSITORY

COUNTS = (
    "**9 printed numbers; measured here: 3 reproduced, 0 differ; "
    "computed from public metadata: 2 reproduced, 1 differs; "
    "looked up: 1 reproduced, 0 differ; needs data: 2; 5 have an analogue.**"
)


def showing(data: dict[str, str], **metadata: Any) -> nbformat.NotebookNode:
    cell = new_code_cell("shown", outputs=[new_output("display_data", data)], metadata=metadata)
    return new_notebook(cells=[cell])


def run(counts: str = COUNTS, **chapters: str) -> dict[Path, nbformat.NotebookNode]:
    """Executed notebooks: a figure of windows, the ledger, and chapters with these findings."""
    options = {"figure": {"name": WINDOWS, "caption": "Windows."}, "image": {"alt": 'Six "windows".'}}
    pixels = {"image/png": base64.b64encode(b"pixels").decode()}
    executed = {
        Path("notebooks/01_x.ipynb"): showing(pixels, mystnb=options),
        LEDGER: showing({"text/markdown": counts}),
    }
    for name, found in chapters.items():
        executed[Path(f"notebooks/{name}.ipynb")] = (
            showing({"text/markdown": found}, tags=["findings"]) if found else new_notebook()
        )
    return executed


def page(text: str, *, executed: dict[Path, nbformat.NotebookNode] | None = None) -> str:
    return front_page(text, executed or run())[INTRODUCTION].decode()


def test_the_first_findings_of_the_chapters_that_have_some() -> None:
    executed = run(c12="", c05="* The **first**\n  is 0.6 ({doc}`c06`).\n* No.", c06="* Here.", c07="* Not shown.")
    text = page("<!-- 2 findings of c12 c05 c06 c07 -->", executed=executed)
    assert text.splitlines() == [
        "* The **first** is 0.6 ({doc}`../notebooks/c06`). ({doc}`../notebooks/c05`)",
        "* Here. ({doc}`../notebooks/c06`)",
    ]


def test_findings_of_no_chapter_are_an_error() -> None:
    with pytest.raises(SystemExit, match="asks for the findings of 12_x, and there is no such notebook"):
        page("<!-- 3 findings of 12_x -->")


def test_the_bar_has_the_counts_of_the_ledger() -> None:
    text = page("<!-- reproduction -->")
    assert " print 9 numbers. Of these" in text
    assert re.findall(r'class="([\w-]+)" style="flex-grow: (\d+)"', text) == [
        ("measured", "3"),
        ("computed", "2"),
        ("looked-up", "1"),
        ("differs", "1"),
        ("needs-data", "2"),
    ]
    assert "<strong>2</strong> need data" in text


@pytest.mark.parametrize("counts", ["", COUNTS.replace("**9", "**10")], ids=["none", "not all"])
def test_counts_that_are_none_are_an_error(counts: str) -> None:
    with pytest.raises(SystemExit, match=r"80_the_ledger"):
        page("<!-- reproduction -->", executed=run(counts))


def test_a_reader_without_a_script_sees_the_windows() -> None:
    files = front_page("<!-- relu-window -->", run())
    text = files[INTRODUCTION].decode()
    assert '<noscript><img src="../_static/relu_windows.png" alt="Six &quot;windows&quot;."></noscript>' in text
    assert files[STATIC / "relu_windows.png"] == b"pixels"


def test_without_the_windows_there_is_no_front_page() -> None:
    executed = run()
    del executed[Path("notebooks/01_x.ipynb")]
    with pytest.raises(SystemExit, match=f"no notebook drew the figure '{WINDOWS}'"):
        page("", executed=executed)


def test_the_two_signatures_are_those_that_the_package_ships() -> None:
    figure = two_signatures()
    for axes, name in zip(figure.axes, SHOWN, strict=True):
        assert list(axes.lines[0].get_ydata()) == list(shipped_signature(f"shipped:{name}").scores)
        assert axes.get_ylim()[0] < axes.lines[0].get_ydata().min()
    assert as_svg(figure) == as_svg(two_signatures())


def test_the_picture_of_the_readme_is_current() -> None:
    """``affscore compare`` drew it from these scores: a marker for each, above one axis."""
    drawing = ElementTree.fromstring((REPOSITORY / "book" / "_static" / "two_signatures.svg").read_text())
    lines = [one for one in drawing.iter() if one.get("id", "").startswith("line2d")]
    markers = [[float(use.attrib["y"]) for use in line.iter() if use.tag.endswith("}use")] for line in lines]
    curves = [heights for heights in markers if len(heights) > 1]
    for name, heights in zip(("plainnet56", "resnet56"), curves, strict=True):
        scores = shipped_signature(f"shipped:{name}").scores
        assert len(heights) == len(scores)
        assert np.corrcoef(heights, scores)[0, 1] == pytest.approx(-1, abs=1e-9)
