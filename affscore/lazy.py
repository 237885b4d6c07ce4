"""The public names of a floor, loaded when they are first used: who wants one does not wait for the others."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str], inside: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a package assigns to ``__getattr__``, ``__dir__`` (the public names alone) and ``__all__``.

    Args:
        package: Its name.
        modules: For each of its modules (or of other packages, by their full name) the names to load from there, apart
            by blanks. No name may be that of a module of the package.
        inside: Modules of the package that are public themselves, apart by blanks.

    >>> load, _, names = lazy_names("affscore", {"errors": "AffscoreError AffscoreWarning"}, "transport")
    >>> names, load("AffscoreError").__module__, load("transport").__name__
    (['AffscoreError', 'AffscoreWarning'], 'affscore.errors', 'affscore.transport')
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        if name in inside.split():
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name] if homes[name].startswith("affscore.") else f"{package}.{homes[name]}"
        return getattr(importlib.import_module(home), name)

    return load, lambda: sorted({*homes, *inside.split()}), sorted(homes)
