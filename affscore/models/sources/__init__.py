"""Where networks come from: one module for each source, which makes a ``SOURCE`` of its class."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from affscore.errors import AffscoreError, guarded
from affscore.models.card import ModelCard
from affscore.models.naming import weights_label
from affscore.models.paths import file_hash, user_path
from affscore.models.text import Expected

__all__ = ["Source", "register"]


class Source(ABC):
    """Networks by name.

    Attributes:
        form: What MODEL is, as messages say it.
        prefix: What stands in front of the colon in MODEL: ``mini:digitsnet``; empty where there is none.
        package: The optional package whose networks these are, and whose version is part of what they are.
    """

    form: ClassVar[str]
    prefix: ClassVar[str]
    package: ClassVar[str | None] = None

    def names(self) -> Iterable[str]:
        """The names that a user may have meant, as in ``mini:digitsnet``; none where its package is missing."""
        return ()

    def knows(self, name: str) -> bool:
        """Whether there is a network of this name; where only loading it can tell, true."""
        return name in self.names()

    @abstractmethod
    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """A network, and what is known of it.

        Args:
            name: MODEL, with its prefix.
            weights: "DEFAULT", "random", a name that the source knows, or a file.
            seed: Fixes random weights.

        Raises:
            AffscoreError: Weights that are unknown or cannot be had, or a missing package.
        """

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """What makes a network another one (:func:`affscore.models.by_name.identity_of_model`), for keys of results.

        Here that are the names, and a file that WEIGHTS means.
        """
        label, files = weights_label(weights), {}
        if weights not in ("DEFAULT", "random") and user_path(weights).is_file():
            files[label] = file_hash(weights)
        about: dict[str, Any] = {"model": name, "weights": label, "files": files}
        if self.package:  # None where it is missing, as loading the network will say
            installed = version(self.package) if find_spec(self.package) else None
            about["package"] = installed and ".".join(installed.split(".")[:2])
        return about

    def facts(self, name: str, weights: str) -> dict[str, Any]:
        """A row of :func:`affscore.models.characteristics`: here the names, and nothing else."""
        numbers = ("accuracy", "accuracy_standard_error", "parameters", "gflops", "depth", "activations")
        names = {"name": Path(name).name, "weights": weights_label(weights), "family": None, "year": None}
        return names | dict.fromkeys(numbers, math.nan)

    def expected_by(self, model: nn.Module) -> tuple[Expected, bool] | None:
        """What a network in memory expects, if it is one of these, and whether all of that is known."""
        return None


_registered: dict[str, Source] = {}

GROUP = "affscore.sources"
"""Entry points of this group have the name of a prefix, and name a module that registers its source."""


def register(source: Source) -> None:
    """Make the networks of another package known by name, as MODEL, instead of those that had this prefix.

    A package that is installed need not be imported first: the module that an entry point of the group
    ``affscore.sources`` names is imported when a network of the entry point's name, its prefix, is asked for.

    Args:
        source: An object of a class of :class:`Source`.

    Raises:
        AffscoreError: It is none.
    """
    if not isinstance(source, Source):
        raise AffscoreError(f"expected an object of a class of affscore.models.Source, got {source!r}")
    _registered[source.prefix] = source


def registered(prefix: str | None = None) -> dict[str, Source]:
    """What other packages have registered, by prefix.

    Args:
        prefix: The entry points of this prefix are looked at first, where nothing has been registered for it.

    Raises:
        AffscoreError: The module of such an entry point cannot be imported.
    """
    for point in entry_points(group=GROUP, name=prefix) if prefix and prefix not in _registered else ():
        guarded(point.load, f"the networks {prefix}:NAME come from {point.value}, which cannot be imported")
    return _registered
