"""A Sphinx extension: the site without the files, and the icons, that no page of it uses.

MathJax comes in a dozen bundles, of which a page loads one, and the theme's file of icons has two thousand.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

MATHEMATICS = "tex-chtml.js"
"""The bundle that pages load."""

UNUSED = ("*.map", "mathjax/*.js", "mathjax/output/svg/**/*.js", "mathjax/output/svg.js", "mathjax/adaptors/**/*.js")

ICONS = "scripts/fontawesome.js"
ICON = re.compile(r'(?:(\w+)|"([\w-]+)"):\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?')
"""An icon in that file: its name, its size, its other names, its place in the font, its path."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("build-finished", make_lean)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def make_lean(app: Sphinx, exception: Exception | None) -> None:
    """Take from the finished site what its pages do not use."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for path in (path for pattern in UNUSED for path in static.rglob(pattern)):
        if path.name != MATHEMATICS:
            path.unlink()
    icons = static / ICONS
    if icons.exists():
        texts = [*Path(app.outdir).rglob("*.html"), *(path for path in static.glob("scripts/*.js") if path != icons)]
        used = {name for path in texts for name in re.findall(r"\bfa-([a-z0-9-]+)", path.read_text(encoding="utf-8"))}
        icons.write_text(only(used, icons.read_text(encoding="utf-8")), encoding="utf-8")


def only(used: set[str], icons: str) -> str:
    """The script of icons with those alone that are used.

    >>> only({"bars"}, '{bars:[448,512,["navicon"],"f0c9","M0 96"],"cc-visa":[576,512,[],"f1f0","M1 2"]}')
    '{bars:[448,512,["navicon"],"f0c9","M0 96"],}'
    """

    def kept(icon: re.Match[str]) -> str:
        names = {icon[1] or icon[2], *re.findall(r'"([\w-]+)"', icon[3])}
        return icon[0] if names & used else ""

    return ICON.sub(kept, icons)
