"""``exercise_cells`` and ``classroom`` turn MyST Markdown into plain Markdown with it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin

DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\} ?(?P<title>.*)")
OPTIONS = re.compile(r"\A(?:\s*:[\w-]+:.*(?:\n|\Z))+")
ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?:(?P<words>[^`<]+?)\s*<)?(?:[^`>]*/)?(?P<target>[^`>]+)>?`")
KEY = re.compile(r"([a-z]+)(\d{4})\w*")
LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
PARSER = MarkdownIt().use(colon_fence_plugin)


def pieces(myst: str, directive: re.Pattern[str] = DIRECTIVE) -> Iterator[tuple[str, str, str]]:
    r"""A text cut at its directives: of each its name, its title, and what is in it; between them text with no name.

    >>> [*pieces("One.\n\n:::{note} Two\n:class: x\n\nThree.\n:::\nFour.")]
    [('', '', 'One.'), ('note', 'Two', 'Three.'), ('', '', 'Four.')]
    """
    lines, place = myst.splitlines(), 0
    for token in PARSER.parse(myst):
        match = directive.match(token.info)
        if match is None or token.level or token.map is None:
            continue
        if text := "\n".join(lines[place : token.map[0]]).strip():
            yield "", "", text
        yield match["name"], match["title"].strip(), OPTIONS.sub("", token.content).strip()
        place = token.map[1]
    if text := "\n".join(lines[place:]).strip():
        yield "", "", text


def plain(myst: str) -> str:
    r"""A text whose directives are quotations, and whose roles are their words, or the name of what they refer to.

    >>> print(plain("{doc}`../book/theory` {cite}`ada1843note`\n\n```{note}\n{ref}`The proof <p>` of {eq}`e`.\n```"))
    theory (Ada 1843)
    <BLANKLINE>
    > **Note**
    >
    > The proof of (e).
    """
    found = []
    for name, title, text in pieces(LABEL.sub("", myst)):
        if name:
            box = f"**{title or name.rpartition(':')[2].capitalize()}**\n\n{plain(text)}"
            found.append("\n".join(f"> {line}".rstrip() for line in box.splitlines()))
        else:
            found.append(ROLE.sub(shown, text))
    return "\n\n".join(found)


def shown(role: re.Match[str]) -> str:
    """What a role shows; author and year for the key of a work."""
    text = " ".join((role["words"] or role["target"]).split())
    if role["role"].startswith("cite"):
        text = KEY.sub(lambda key: f"{key[1].capitalize()} {key[2]}", text).replace(",", ", ")
    return f"({text})" if role["role"] in ("cite", "eq") else text
