"""A network of one's own, as ``path/to/file.py:factory``."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from affscore.errors import AffscoreError, guarded, guarding
from affscore.models.card import ONE_AT_A_TIME, ModelCard, check_has_weights, seeded, stated_preprocessing
from affscore.models.naming import file_hash, near, readable_file, switched, user_path, weights_file
from affscore.models.preprocessing import IMAGENET
from affscore.models.sources import Source
from affscore.models.weight_files import load_weights


class OwnFile(Source):
    """A file of the user's: a function without arguments that returns a network, a class of networks, or a network.

    The file may import others of its folder, at its top or in the factory. WEIGHTS is "DEFAULT", for what the factory
    returns, or a file.
    """

    form = "path/to/file.py:factory"
    prefix = "file.py"

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """The seed fixes random weights of the factory, and those that are made when the file is imported."""
        path, _, factory = name.rpartition(":")
        file = readable_file(path, "write path/to/file.py:factory")
        name = f"{file.name}:{factory}"
        with ONE_AT_A_TIME, _importing_from(file.parent.resolve()):
            module = seeded(lambda: _imported(file), seed)  # which fixes a network that the file itself makes, too
            made = getattr(module, factory, None)
            if made is None:
                public = [known for known in vars(module) if not known.startswith("_")]
                raise AffscoreError(f"the file {file.name!r} defines no {factory!r}{near(factory, public)}")
            model = made if isinstance(made, nn.Module) else guarded(lambda: seeded(made, seed), f"{name}() fails")
        if not isinstance(model, nn.Module):
            raise AffscoreError(f"{name} must give a torch.nn.Module, got a {type(model).__name__}")
        check_has_weights(model, name)
        if weights == "random":
            raise AffscoreError(f"{name} decides its weights itself; omit @random")
        if weights != "DEFAULT":
            load_weights(model, weights_file(name, weights))
        label = "as built" if weights == "DEFAULT" else Path(weights).name
        return model, ModelCard(name, label, *(stated_preprocessing(model) or (IMAGENET, False)))

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """The source is a file, too."""
        path, _, factory = name.rpartition(":")
        file, about = user_path(path), super().identity(name, weights)
        return about | {"model": f"{file.name}:{factory}", "files": {file.name: file_hash(file)} | about["files"]}


SOURCE = OwnFile()


def _imported(file: Path) -> ModuleType:
    """The module in a file: what the file says now, and not compiled code of an earlier version of it."""
    module = ModuleType(f"affscore_user_{file.stem}_{zlib.crc32(os.fsencode(file.resolve())):08x}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses and pickle look their module up by name
    with guarding(f"the file {file.name!r} fails when imported"):
        exec(compile(file.read_bytes(), str(file), "exec"), vars(module))
    return module


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Within this the files of a folder can be imported, as by a script that lies there; afterwards they are forgotten.

    Another script may have other files of the same names beside it: a module of such a name that was loaded from
    elsewhere is hidden meanwhile.
    """

    def is_inside(module: ModuleType) -> bool:
        # a folder without an __init__.py is a module without a file
        home = Path(getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "/"))
        # an environment may lie in the folder of the script: what is installed there stays
        return home.is_relative_to(folder) and "site-packages" not in home.parts

    beside = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    same = {name for name in sys.modules if name.partition(".")[0] in beside - sys.stdlib_module_names}
    hidden = {name: sys.modules.pop(name) for name in same if not is_inside(sys.modules[name])}
    before = set(sys.modules)
    sys.path.insert(0, place := str(folder))
    try:
        with switched(lambda: sys.dont_write_bytecode, partial(setattr, sys, "dont_write_bytecode"), True):
            yield
    finally:
        if place in sys.path:  # what the file adds stays, as its forward may import from there
            sys.path.remove(place)
        for name in sys.modules.keys() - before:
            if is_inside(sys.modules[name]) and not name.startswith("affscore_user_"):
                del sys.modules[name]
        sys.modules.update(hidden)
