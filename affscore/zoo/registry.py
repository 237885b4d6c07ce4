"""Sources that are found by themselves: a module in a folder is registered by being there."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

__all__ = ["found_in"]


def found_in(package: str, name: str) -> list[Any]:
    """What the modules of a package define under a name, in the order of the names of the modules.

    Args:
        package: As it is imported.
        name: A name; modules that do not define it are helpers of the others.

    >>> [source.prefix for source in found_in("affscore.zoo.sources", "SOURCE")]
    ['mini', 'file.py', 'timm', '', 'hf']
    """
    folder = importlib.import_module(package).__path__
    modules = [importlib.import_module(f"{package}.{found.name}") for found in pkgutil.iter_modules(folder)]
    return [getattr(module, name) for module in modules if hasattr(module, name)]
