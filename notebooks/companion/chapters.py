"""What the rooms of the chapters hold: claims, checks and sweeps are found by being there."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

# in the order of the papers' sections: section 4 of the first paper, its appendices, the sibling papers
_ORDER = ("07", "09", "06", "05", "08", "02", "03", "13", "12", "15", "16")


def of_chapters(part: str, number: str = "") -> Iterator[ModuleType]:
    """The modules with some part of the chapters' rooms, in the order of the papers' sections.

    Args:
        part: "claims", "checks" or "measurements"; a room that is a single module holds all of them.
        number: Of a chapter, as "05"; empty for all.

    >>> [module.__name__ for module in of_chapters("checks", "05")]
    ['companion.chapter_05.checks']
    """
    every = pkgutil.iter_modules([str(Path(__file__).parent)])
    rooms = [one for one in every if one.name.startswith(f"chapter_{number}")]
    for one in sorted(rooms, key=lambda one: _ORDER.index(one.name[-2:]) if one.name[-2:] in _ORDER else len(_ORDER)):
        name = f"companion.{one.name}" + f".{part}" * one.ispkg
        if find_spec(name):
            yield import_module(name)
