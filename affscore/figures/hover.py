"""Names that appear while the pointer is on a point: a figure as SVG, which notebooks and pages show in its place."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from affscore.errors import AffscoreError

_SVG = "{http://www.w3.org/2000/svg}"
_NAMED = "_affscore_named"

_STYLE = """
#{id} .point > path {{ pointer-events: all }}
#{id} .linked > path {{ transform-box: fill-box; transform-origin: center; vector-effect: non-scaling-stroke }}
"""

_LINKED = """\
#{id}:has([data-link="{link}"]:is(:hover, :focus-within)) .linked:not([data-link="{link}"]) {{ opacity: 0.2 }}
#{id}:has([data-link="{link}"]:is(:hover, :focus-within)) [data-link="{link}"] > text {{ font-weight: bold }}
#{id}:has([data-link="{link}"]:is(:hover, :focus-within)) [data-link="{link}"] > path {{ transform: scale(1, 5) }}
"""
"""What is under the pointer or has the focus stands out with all that has its link. No script is needed for it."""


def name_points(figure: Figure, artist: Artist, names: Sequence[str], link: object = None) -> None:
    """Give each point that an artist draws a name, which a notebook shows while the pointer is on it.

    Args:
        figure: The figure of the artist.
        artist: A scatter, or what draws one thing, such as a line.
        names: One for each point, in their order; none where there is nothing to read.
        link: Artists with the same link stand out together while the pointer is on one of them.
    """
    named: dict[str, tuple[list[str], object]] = figure.__dict__.setdefault(_NAMED, {})
    artist.set_gid(f"named-{len(named)}")
    named[str(artist.get_gid())] = (list(names), link)


def has_names(figure: Figure) -> bool:
    """Whether something in a figure was given names."""
    return _NAMED in figure.__dict__


def hover_svg(figure: Figure) -> str:
    """A figure as one SVG element for a page: names at its points, and the colours of text and axes those of the page.

    The background is left out, and black is the colour of the text around it: light on a dark page.

    Raises:
        AffscoreError: Other points were drawn than were named, NaN among them, say.

    >>> import matplotlib.pyplot as plt
    >>> figure, axes = plt.subplots()
    >>> name_points(figure, axes.scatter([1, 2], [3, 4]), ["the first", "the second"])
    >>> hover_svg(figure).count("<title>the second</title>")
    1
    """
    named: dict[str, tuple[list[str], object]] = figure.__dict__.get(_NAMED, {})
    file = io.StringIO()
    nothing: Any = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "affscore"}):
        figure.savefig(file, format="svg", metadata=nothing, transparent=True)
    ET.register_namespace("", _SVG[1:-1])
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ET.fromstring(file.getvalue())
    name = "hover-" + hashlib.sha1(file.getvalue().encode(), usedforsecurity=False).hexdigest()[:8]
    for group in root.iter(f"{_SVG}g"):
        names, link = named.get(group.attrib.pop("id", ""), ([], None))  # ids of groups are the same in all figures
        if names:
            _name(group, names)
        if link is not None:
            group.attrib |= {"data-link": str(link), "class": "linked"}
    links = dict.fromkeys(link for _, link in named.values() if link is not None)
    style = root.find(f".//{_SVG}style")
    assert style is not None  # matplotlib writes one
    rules = (_LINKED.format(id=name, link=link) for link in links)
    style.text = "".join([f"#{name} {style.text}", _STYLE.format(id=name), *rules])
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    for element in root.iter():
        for place in element.attrib.keys() & {"d", "x", "y", "transform", "points"}:
            element.attrib[place] = re.sub(r"(\.\d\d)\d+", r"\1", element.attrib[place])
    titles = "; ".join(axes.get_title().replace("\n", " ") for axes in figure.axes if axes.get_title())
    root.attrib |= {"id": name, "class": "hover", "role": "group", "aria-label": titles or "figure"}
    root.attrib |= {"fill": "currentColor", "style": "width: 100%; max-width: 50rem; height: auto"}
    text = ET.tostring(root, encoding="unicode")
    text = re.sub(r"(fill|stroke): #000000", r"\1: currentColor", text)
    text = re.sub(r"'DejaVu Sans'[^;\"]*sans-serif", "sans-serif", text)
    return re.sub(r"\n *", "\n", text)


def _name(group: ET.Element, names: Sequence[str]) -> None:
    """Wrap each point of a group in a group with its name as the title."""
    drawn = f"{_SVG}use", f"{_SVG}path"
    points = [
        (parent, child)
        for parent in group.iter()
        if parent.tag != f"{_SVG}defs"
        for child in list(parent)
        if child.tag in drawn
    ]
    if len(points) != len(names):
        raise AffscoreError(f"expected a name for each of {len(points)} points that are drawn, got {len(names)}")
    for (parent, child), name in zip(points, names, strict=True):
        wrapped = ET.Element(f"{_SVG}g", {"class": "point"})
        ET.SubElement(wrapped, f"{_SVG}title").text = name
        parent[list(parent).index(child)] = wrapped
        wrapped.append(child)
