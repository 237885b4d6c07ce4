"""The docstrings of Python's standard library, a text that every reader has: as data they are called ``docstrings``."""

from __future__ import annotations

import ast
import hashlib
import platform
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import Literal

from affscore.errors import AffscoreError
from affscore.models.data import DataSource, NamedData, register_data

LEFT_OUT = {"idlelib", "lib2to3", "turtledemo", "ensurepip", "distutils", "test", "tests", "idle_test"}
"""Modules and packages that not every Python of a version has, and tests."""

MOST = 2_000_000
"""Characters at most; a longer text ends with the last docstring that fits."""

HELD_OUT = 32
"""Of the 256 values of a docstring's first byte of SHA-256 so many are for testing: an eighth."""

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(maxsize=1)
def all_docstrings() -> tuple[str, ...]:
    """The docstrings in ASCII of this Python's standard library, each once, in the order of files and of their lines.

    They are read from the sources (:func:`ast.get_docstring`); no module is imported. Other versions of Python have
    other texts.

    Raises:
        AffscoreError: This Python came without the sources of its standard library.
    """
    root = Path(sysconfig.get_path("stdlib"))
    found: dict[str, None] = {}
    for file in sorted(root.rglob("*.py"), key=lambda file: file.relative_to(root).parts):
        first, *others = file.relative_to(root).with_suffix("").parts
        if first not in sys.stdlib_module_names or LEFT_OUT & {first, *others}:
            continue
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, OSError):  # a template, or a file that nobody may read
            continue
        nodes = [node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)]
        for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
            text = ast.get_docstring(node)
            if text and text.isascii() and text.replace("\n", " ").isprintable():
                found[text] = None
    if not found:
        raise AffscoreError(
            f"Python {platform.python_version()} came without the sources of its standard library, whose docstrings "
            "were asked for; give a text of yours as text:FILE"
        )
    kept, length = [], 0
    for text in found:
        length += len(text) + 2
        if length > MOST:
            break
        kept.append(text)
    return tuple(kept)


def docstrings(part: Literal["train", "test"]) -> str:
    """The docstrings of a part with an empty line between any two; a docstring's SHA-256 says which part it is of.

    The parts have no docstring in common; similar ones may be in both.
    """
    return "\n\n".join(text for text in all_docstrings() if is_held_out(text) == (part == "test"))


def is_held_out(text: str) -> bool:
    """Whether a docstring is in the test part; the same in every version of Python.

    >>> is_held_out("Return True."), is_held_out("Return False.")
    (False, False)
    """
    return hashlib.sha256(text.encode()).digest()[0] < HELD_OUT


def fingerprint_of_docstrings() -> str:
    """16 digits of the SHA-256 of both parts: the same where the docstrings are the same."""
    return hashlib.sha256("\n\n".join(all_docstrings()).encode()).hexdigest()[:16]


def _load(_: str, seed: int) -> NamedData:
    """The test part."""
    from affscore.models.data.texts_and_arrays import TextFile  # here, since networks alone need no texts

    version = platform.python_version()
    note = f"the docstrings are those of Python {version} ({fingerprint_of_docstrings()}); other versions have others"
    return TextFile("docstrings", None, docstrings("test"), notes=[note])


register_data(DataSource("docstrings", "", _load))
