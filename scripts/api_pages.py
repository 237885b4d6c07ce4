"""``stage_book`` makes the tables of the API reference with it: names, and the first sentences of their docstrings."""

from __future__ import annotations

import importlib
import inspect
import pydoc
import re
from pathlib import Path

PAGES = (Path("book/api.md"), Path("book/api/more.md"))
IN_FULL = re.compile(r"^\.\. auto(?:function|class):: (\S+)", re.MULTILINE)
NAMES = re.compile(r"<!-- names: (.*?) -->")
MEMBERS = re.compile(r"<!-- members: (\S+) -->")


def filled(page: str, in_full: frozenset[str]) -> str:
    """A page with its tables.

    Args:
        page: Its text, in which ``<!-- names: PACKAGES -->`` and ``<!-- members: CLASS -->`` stand for tables.
        in_full: The names that some page documents in full, which no table repeats.
    """
    page = NAMES.sub(lambda found: names_of(found[1].split(), in_full), page)
    return MEMBERS.sub(lambda found: members_of(found[1]), page)


def in_full(pages: list[str]) -> frozenset[str]:
    """The names that pages document in full."""
    return frozenset(name for page in pages for name in IN_FULL.findall(page))


def names_of(packages: list[str], in_full: frozenset[str]) -> str:
    """A table of the public names of packages; each name once, in the first package that has it."""
    rows, seen = [], {id(pydoc.locate(name)) for name in in_full}
    for package in packages:
        for name in public_names(package):
            thing = getattr(importlib.import_module(package), name)
            if id(thing) not in seen:
                seen.add(id(thing))
                rows.append((f"{package}.{name}", first_sentence(thing)))
    return _table("name", rows)


def members_of(name: str) -> str:
    """A table of the methods and properties of a class."""
    owner: type = pydoc.locate(name)  # type: ignore[assignment]
    members = [key for key, value in vars(owner).items() if not key.startswith("_") and inspect.getdoc(value)]
    return _table("member", [(f".{key}", first_sentence(vars(owner)[key])) for key in members])


def public_names(package: str) -> list[str]:
    """The functions and classes that a package has of the library; of a module, its own."""
    module = importlib.import_module(package)
    inside = f"{package.partition('.')[0]}." if hasattr(module, "__path__") else package
    found = []
    for name in dir(module):
        thing = getattr(module, name)
        if callable(thing) and not inspect.ismodule(thing) and str(thing.__module__).startswith(inside):
            found.append(name)
    return [name for name in found if not name.startswith("_") and name != "lazy_names"]


def first_sentence(thing: object) -> str:
    """What a docstring says first, in Markdown."""
    paragraph = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    sentence = re.split(r"(?<=[.!?]) (?=[A-Z])|(?<=\w): (?=\.\.)", paragraph)[0].replace("``", "`")
    sentence = re.sub(r":math:`([^`]*)`", r"$\1$", sentence)
    return re.sub(r":\w+:`[~.]?(?:affscore\.)?([^`<]*)`", r"`\1`", sentence).replace("|", "\\|")


def _table(head: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| `{name}` | {sentence} |" for name, sentence in rows]
    return "\n".join([f"| {head} | |", "|---|---|", *lines])
