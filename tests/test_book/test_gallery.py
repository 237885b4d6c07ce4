"""The page of all figures."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import nbformat
from gallery import PICTURES, WIDTH, figures_of, gallery_page, names_on, smaller
from PIL import Image


def png(width: int, height: int) -> bytes:
    stream = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(stream, "PNG")
    return stream.getvalue()


def drawn(name: str, caption: str = "A finding of $x$ and {eq}`eq-1`.", **more: Any) -> nbformat.NotebookNode:
    data = {"image/png": base64.b64encode(png(1440, 700)).decode()}
    output = nbformat.v4.new_output("display_data", data)
    about = {"figure": {"name": name, "caption": caption}, "image": {"alt": "Two bars:\n one is higher."}}
    return nbformat.v4.new_code_cell("draw()", outputs=[output], metadata={"mystnb": about} | more)


def book(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A title\n\nAn opening."), *cells])


def test_every_figure_has_its_card_and_its_picture() -> None:
    chapters = {
        Path("notebooks/05_a.ipynb"): book(drawn("fig-decade"), drawn("fig-vggs")),
        Path("notebooks/80_b.ipynb"): book(nbformat.v4.new_code_cell("1 + 1")),
        Path("notebooks/93_c.ipynb"): book(drawn("fig-93-ranges")),
    }
    page, files = gallery_page(chapters)
    assert names_on(page) == ["fig-decade", "fig-vggs", "fig-93-ranges"]
    assert set(files) == {PICTURES / f"{name}.png" for name in names_on(page)}
    assert page.startswith("---\nnosearch: true\n---\n\n# All figures\n\n3 figures of 2 pages")
    assert "## 5 · A title\n\nFrom {doc}`the chapter <../notebooks/05_a>`." in page
    assert "80_b" not in page
    assert ":target: ../notebooks/05_a.html#fig-vggs" in page
    assert ":alt: Two bars: one is higher." in page
    assert "{numref}`fig-decade`. A finding of $x$ and {eq}`eq-1`." in page


def test_what_is_not_shown_in_the_chapter_is_not_shown_here() -> None:
    without = drawn("fig-a")
    without.outputs = []
    assert figures_of(book(without, drawn("fig-b", ""), drawn("fig-c", tags=["remove-cell"]))) == []


def test_pictures_are_small_and_the_same_at_each_run() -> None:
    picture = smaller(png(1440, 720))
    with Image.open(io.BytesIO(picture)) as image:
        assert image.size == (WIDTH, WIDTH // 2)
    assert picture == smaller(png(1440, 720))
    with Image.open(io.BytesIO(smaller(png(200, 100)))) as image:
        assert image.size == (200, 100)
