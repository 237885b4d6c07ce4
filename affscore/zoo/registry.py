"""Sources that are found by themselves: a module in a folder is registered by being there."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any


def found_in(package: str, name: str, first: str = "") -> Iterator[Any]:
    """What the modules of a package define under a name; each module is imported when its turn comes.

    Args:
        package: As it is imported.
        name: A name; modules that do not define it are helpers of the others.
        first: Modules whose names begin so come first, the others in the order of their names.

    >>> [source.prefix for source in found_in("affscore.zoo.sources", "SOURCE", first="timm")]
    ['timm', 'mini', 'file.py', '', 'hf']
    """
    modules = [found.name for found in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    for module_name in sorted(modules, key=lambda module: not module.startswith(first)):
        module = importlib.import_module(f"{package}.{module_name}")
        if hasattr(module, name):
            yield getattr(module, name)
