"""A network of one's own, as ``path/to/file.py:factory``."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from affscore.errors import AffscoreError, guarded
from affscore.models.card import ONE_AT_A_TIME, ModelCard, check_has_weights, seeded, stated_preprocessing
from affscore.models.naming import near, weights_file, weights_label
from affscore.models.paths import file_hash, user_path
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

    def knows(self, name: str) -> bool:
        """Loading says whether there is such a file, and such a function in it."""
        return True

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """The seed fixes random weights of the factory, and those that are made when the file is imported."""
        path, _, factory = name.rpartition(":")
        file = user_path(path)
        name = f"{file.name}:{factory}"
        with ONE_AT_A_TIME, _importing_from(file.parent.resolve()):
            module = seeded(lambda: _imported(file), seed)  # which fixes a network that the file itself makes, too
            made = getattr(module, factory, None)
            if made is None:
                defined = [known for known in vars(module) if not known.startswith("_")]
                raise AffscoreError(f"the file {file.name!r} defines no {factory!r}{near(factory, defined)}")
            model = made if isinstance(made, nn.Module) else guarded(lambda: seeded(made, seed), f"{name}() fails")
        if not isinstance(model, nn.Module):
            raise AffscoreError(f"{name} must give a torch.nn.Module, got a {type(model).__name__}")
        check_has_weights(model, name)
        if weights == "random":
            raise AffscoreError(f"{name} decides its weights itself; omit @random")
        if weights != "DEFAULT":
            load_weights(model, weights_file(name, weights, []))
        label = "as built" if weights == "DEFAULT" else weights_label(weights)
        preprocessing, known = stated_preprocessing(model) or (IMAGENET, False)
        return model, ModelCard(name, label, preprocessing, known)

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """The source is a file, too."""
        path, _, factory = name.rpartition(":")
        file, about = user_path(path), super().identity(name, weights)
        files = {file.name: file_hash(file), **about["files"]}
        return about | {"model": f"{file.name}:{factory}", "files": files}


SOURCE = OwnFile()


def _imported(file: Path) -> ModuleType:
    """The module in a file: what the file says now, and not compiled code of an earlier version of it."""
    module = ModuleType(f"affscore_user_{file.stem}_{zlib.crc32(os.fsencode(file.resolve())):08x}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses and pickle look their module up by name

    def run() -> None:
        exec(compile(file.read_bytes(), str(file), "exec"), vars(module))

    guarded(run, f"the file {file.name!r} fails when imported")
    return module


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """The files beside a script can be imported by it, as when Python runs it; afterwards they are forgotten.

    Another script may have other files of the same names beside it. For the same reason a module that was loaded
    before is hidden where Python would find another one of its name, with this folder in front of its path.
    """
    place, bytecode = str(folder), sys.dont_write_bytecode
    beside = {path.name.partition(".")[0] for path in folder.glob("*")}
    loaded = (beside & sys.modules.keys()) - sys.stdlib_module_names
    found = {name: PathFinder.find_spec(name, [place, *sys.path]) for name in loaded}
    others = {name for name, spec in found.items() if spec and _places(spec) != _places(_spec(name))}
    hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in others}
    for name in hidden:
        del sys.modules[name]
    before = set(sys.modules)
    # an environment may lie in the folder of the script: what is installed there stays
    installed = [path for path in map(Path, sys.path) if path != folder and path.is_relative_to(folder)]
    sys.path.insert(0, place)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = bytecode
        if place in sys.path:
            sys.path.remove(place)
        for name in sys.modules.keys() - before:
            places = map(Path, _places(_spec(name)))
            if any(p.is_relative_to(folder) and not any(map(p.is_relative_to, installed)) for p in places):
                del sys.modules[name]
        sys.modules.update(hidden)


def _spec(name: str) -> ModuleSpec | None:
    return getattr(sys.modules[name], "__spec__", None)


def _places(spec: ModuleSpec | None) -> list[str]:
    """The file that a module is from, and the folders of a package."""
    return [place for place in (spec.origin, *(spec.submodule_search_locations or ())) if place] if spec else []
