"""The pages of the API have every public name, and docstrings name what exists."""

from __future__ import annotations

import importlib
import inspect
import pydoc
import re
from pathlib import Path

import pytest

from tests.book.built_site import site

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "book" / "api.md", *sorted((REPOSITORY / "book" / "api").glob("*.md"))]
PACKAGES = re.findall(r"automodule:: (\S+)", "".join(page.read_text() for page in PAGES))


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


@pytest.mark.browser
@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_a_page(package: str) -> None:
    pages = [site() / page.relative_to(REPOSITORY).with_suffix(".html") for page in PAGES]
    text = "".join(page.read_text() for page in pages)
    documented = set(re.findall(r'id="(?:affscore|companion)\.(?:\w+\.)?(\w+)"', text))
    assert public_names(package)
    assert [name for name in public_names(package) if name not in documented] == []
    assert ">Type<span" not in text, "Napoleon takes the words before a colon in a property's first line for its type"


def test_what_docstrings_name_exists() -> None:
    rooms = (REPOSITORY / "affscore", REPOSITORY / "notebooks" / "companion")
    text = "".join(path.read_text() for room in rooms for path in room.rglob("*.py"))
    named = set(re.findall(r":(?:func|class|meth|data|mod):`((?:affscore|companion)\.[\w.]+)`", text))
    assert len(named) > 100
    assert [name for name in sorted(named) if pydoc.locate(name) is None] == []
