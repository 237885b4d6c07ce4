"""Figures are numbered by page, in captions and where the text refers to them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from figure_numbers import chapter_number
from sphinx.testing.util import SphinxTestApp

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000" "1f15c4890000000d49444154789c6360000000000200"
    "01e221bc330000000049454e44ae426082"
)  # fmt: skip
FIGURE = ".. _{label}:\n\n.. figure:: pixel.png\n\n   A caption.\n\n"
TABLE = ".. _{label}:\n\n.. table:: A caption.\n\n   == ==\n   1  2\n   == ==\n\n"


@pytest.mark.slow
def test_figures_are_numbered_by_page(tmp_path: Path) -> None:
    chapter = FIGURE.format(label="late-1") + TABLE.format(label="table") + FIGURE.format(label="late-2")
    pages = {
        "index": ".. toctree::\n\n   12_late\n   03_early\n   other\n",
        "12_late": chapter + ":numref:`late-2` and :numref:`table`\n",
        "03_early": FIGURE.format(label="early") + ":numref:`early` and :numref:`late-1` and :numref:`here`\n",
        "other": FIGURE.format(label="here"),
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.rst").write_text(f"{name}\n{'=' * len(name)}\n\n{text}")
    (tmp_path / "conf.py").write_text("extensions = ['figure_numbers']\nnumfig = True\nmaster_doc = 'index'\n")
    (tmp_path / "pixel.png").write_bytes(PIXEL)

    application = SphinxTestApp("html", srcdir=tmp_path, builddir=tmp_path / "_build")
    application.build()
    said = {}
    for name in pages:
        html = (tmp_path / "_build" / "html" / f"{name}.html").read_text()
        captions = re.findall(r'<span class="caption-number">(.*?) </span>', html)
        said[name] = captions, re.findall(r'<span class="std std-numref">(.*?)</span>', html)
    application.cleanup()
    assert said["12_late"] == (["Fig. 12.1", "Table 1", "Fig. 12.2"], ["Fig. 12.2", "Table 1"])
    assert said["03_early"] == (["Fig. 3.1"], ["Fig. 3.1", "Fig. 12.1", "Fig. 1"])
    assert said["other"] == (["Fig. 1"], [])


@pytest.mark.parametrize(
    ("page", "number"),
    [("notebooks/05_a", (5,)), ("notebooks/91_your_model", (91,)), ("book/theory", ()), ("book/2_d/plots", ())],
)
def test_the_number_of_a_page_is_that_of_its_file(page: str, number: tuple[int, ...]) -> None:
    assert chapter_number(page) == number
