"""The public names of a floor, loaded when they are first used: who wants one does not wait for the others."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a package assigns to ``__getattr__``, ``__dir__`` (the public names alone) and ``__all__``.

    Its public names are those that it imports for type checkers under their own names, below ``if TYPE_CHECKING:``
    (``from affscore.errors import AffscoreError as AffscoreError``); ``from affscore import models as models`` makes a
    module public. No name may be that of another module of the package.

    Args:
        package: Its name.

    >>> load, _, names = lazy_names("affscore.callbacks")
    >>> names, load("LightningTracker").__module__
    (['LightningTracker', 'TrainerTracker'], 'affscore.callbacks.of_lightning')
    """
    nodes = ast.walk(ast.parse(pkgutil.get_data(package, "__init__.py") or b""))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    homes = {str(name.asname): str(node.module) for node in imports for name in node.names if name.asname}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(homes[name]), name)

    return load, lambda: sorted(homes), sorted(name for name, home in homes.items() if home != package)
