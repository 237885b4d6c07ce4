"""The page of all figures: small pictures with their captions, each leading to its place in a chapter."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from nbformat import NotebookNode
from PIL import Image

PAGE = Path("book/gallery.md")
PICTURES = Path("book/gallery")
WIDTH, COLOURS = 300, 48
"""Of a small picture, in pixels: about what a card of the page shows; the page must stay light."""

HEAD = """---
nosearch: true
---

# All figures

{count} figures of {chapters} pages, as they were drawn when this book was built. A picture leads to its figure, beside
the code that draws it.
"""

CARD = """\
::::{{grid-item-card}}
```{{image}} gallery/{name}.png
:alt: {alt}
:target: {target}
```
{{numref}}`{name}`. {caption}
::::
"""


class Figure(NamedTuple):
    """A figure of a notebook: its name, caption, description, and picture (PNG)."""

    name: str
    caption: str
    alt: str
    picture: bytes


def gallery_page(executed: dict[Path, NotebookNode]) -> tuple[str, dict[Path, bytes]]:
    """The page, and the small pictures that it shows, by their places in the tree of the site.

    Args:
        executed: The executed notebooks by their paths, in the order of the page.

    Returns:
        The page in Markdown, and files. Chapters without figures are left out.
    """
    sections, files, count = [], dict[Path, bytes](), 0
    for path, notebook in executed.items():
        figures = figures_of(notebook)
        if not figures:
            continue
        page = PurePosixPath("..", path.with_suffix("").as_posix())
        cards = []
        for figure in figures:
            target = f"{page}.html#{figure.name}"
            cards.append(CARD.format(name=figure.name, alt=figure.alt, target=target, caption=figure.caption))
            files[PICTURES / f"{figure.name}.png"] = smaller(figure.picture)
        grid = ":::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n".join(cards) + ":::::\n"
        title = re.sub(r"^#+ *", "", notebook.cells[0].source.strip().splitlines()[0])
        heading = (
            f"## {int(path.name[:2])} · {title}"  # no link, which the list of contents would show as it is written
        )
        sections.append(f"{heading}\n\nFrom {{doc}}`the chapter <{page}>`.\n\n{grid}")
        count += len(figures)
    return "\n".join([HEAD.format(count=count, chapters=len(sections)), *sections]), files


def figures_of(notebook: NotebookNode) -> list[Figure]:
    """The figures of an executed notebook that have a caption and were drawn."""
    found = []
    for cell in notebook.cells:
        options: dict[str, Any] = cell.metadata.get("mystnb", {})
        about = options.get("figure", {})
        pictures = [
            output.data["image/png"] for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
        ]
        if (
            about.get("caption")
            and about.get("name")
            and pictures
            and "remove-cell" not in cell.metadata.get("tags", [])
        ):
            alt = " ".join(str(options.get("image", {}).get("alt", "")).split())
            found.append(Figure(about["name"], about["caption"], alt, base64.b64decode(pictures[0])))
    return found


def smaller(picture: bytes) -> bytes:
    """A picture of at most :data:`WIDTH` pixels, in few colours, since a page has many; the same bytes at each run."""
    with Image.open(io.BytesIO(picture)) as image:
        drawn = image.convert("RGB")
    if drawn.width > WIDTH:
        drawn = drawn.resize((WIDTH, round(drawn.height * WIDTH / drawn.width)), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def names_on(page: str) -> list[str]:
    """The names of the figures on a page of the gallery, in order.

    >>> names_on("```{image} gallery/fig-decade.png")
    ['fig-decade']
    """
    return re.findall(r"\{image\} gallery/([\w-]+)\.png", page)
