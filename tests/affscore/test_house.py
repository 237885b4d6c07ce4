"""The size of the library: how many modules, and how long one may be."""

from pathlib import Path

import affscore

MODULES = [*Path(affscore.__file__).parent.rglob("*.py")]


def test_there_are_at_most_a_hundred_modules_of_350_lines():
    assert 50 < len(MODULES) <= 100
    long = [path.name for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) > 350]
    assert long == []
