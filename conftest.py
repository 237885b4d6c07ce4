"""For all tests, those of docstrings included."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """No figure stays open after a test, and none is shown."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
