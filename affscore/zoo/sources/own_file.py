"""A network of one's own, as ``path/to/file.py:factory``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import torch
from torch import nn

from affscore.errors import AffscoreError
from affscore.zoo.card import ModelCard, check_has_weights, parameter_count, seeded, stated_preprocessing
from affscore.zoo.paths import user_path
from affscore.zoo.sources.naming import near, weights_file, weights_label
from affscore.zoo.state_dicts import load_weights

__all__ = ["load"]


def load(spec: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
    """A network that a Python file makes.

    Args:
        spec: ``path/to/file.py:factory``, where factory is a function without arguments that returns a
            network, a class of networks, or a network.
        weights: "DEFAULT" for what the factory returns, or a file.
        seed: Fixes random weights.

    Raises:
        AffscoreError: No such file or factory, one that fails, or weights that do not fit.
    """
    path, _, factory = spec.rpartition(":")
    file = user_path(path)
    if not file.is_file():
        raise AffscoreError(f"there is no file {path!r}; write path/to/file.py:factory")
    name = f"{file.name}:{factory}"
    with torch.random.fork_rng(devices=[]):  # a network that the file itself makes is fixed by the seed, too
        torch.manual_seed(seed)
        module = _imported(file)
    made = getattr(module, factory, None)
    if made is None:
        defined = [known for known in vars(module) if not known.startswith("_")]
        raise AffscoreError(f"the file {file.name!r} defines no {factory!r}{near(factory, defined)}")
    try:
        with _importing_from(file.parent):
            model = made if isinstance(made, nn.Module) else seeded(made, seed)
    except (Exception, SystemExit) as error:
        raise AffscoreError(f"{name}() fails: {type(error).__name__}: {error}") from error
    if not isinstance(model, nn.Module):
        raise AffscoreError(f"{name} must give a torch.nn.Module, got a {type(model).__name__}")
    check_has_weights(model, name)
    if weights == "random":
        raise AffscoreError(f"{name} decides its weights itself; leave @random away")
    if weights != "DEFAULT":
        load_weights(model, weights_file(name, weights, []))
    label = "as built" if weights == "DEFAULT" else weights_label(weights)
    return model, ModelCard(name, label, *stated_preprocessing(model), parameters=parameter_count(model))


def _imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"affscore_user_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look their module up by name
    try:
        with _importing_from(file.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise AffscoreError(f"the file {file.name!r} fails when imported: {type(error).__name__}: {error}") from error
    return module


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """The files beside a script can be imported by it, as when Python runs it."""
    place = str(folder.resolve())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        if place in sys.path:
            sys.path.remove(place)
