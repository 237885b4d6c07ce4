"""The small networks of the package, as ``mini:NAME``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from affscore.zoo.card import ModelCard, parameter_count, seeded
from affscore.zoo.sources.naming import weights_file, weights_label
from affscore.zoo.state_dicts import load_weights

if TYPE_CHECKING:
    from affscore.zoo.mini.registry import MiniNetwork

__all__ = ["knows", "load", "names"]


def _networks() -> dict[str, MiniNetwork]:
    from affscore.zoo.mini.registry import MINI_NETWORKS  # imports torchvision, which takes seconds

    return MINI_NETWORKS


def names() -> list[str]:
    """The names of the small networks.

    >>> "mini:digitsnet" in names()
    True
    """
    return [f"mini:{name}" for name in _networks()]


def knows(name: str) -> bool:
    """Whether there is a small network of this name, as in ``mini:digitsnet``."""
    return name in names()


def load(name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
    """A small network: one of :func:`names`; the weights are "DEFAULT", "random" or a file."""
    network = _networks()[name.removeprefix("mini:")]
    model = seeded(network.build, seed)
    if weights != "random":
        load_weights(model, network.weights if weights == "DEFAULT" else weights_file(name, weights, []))
    accuracy = 100 * network.training_record()["accuracy"] if weights == "DEFAULT" else None
    return model, ModelCard(
        name,
        weights_label(weights),
        network.preprocessing,
        family=network.family,
        year=network.year,
        accuracy=accuracy,
        accuracy_on=None if accuracy is None else "digits",
        parameters=parameter_count(model),
    )
