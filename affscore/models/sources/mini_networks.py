"""Small networks on digits, as ``mini:NAME``: ``mini:digitsnet``, and those that another package registers."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from affscore.errors import AffscoreError
from affscore.models.card import ModelCard, architecture_of, seeded
from affscore.models.naming import weights_file, weights_label
from affscore.models.paths import file_hash
from affscore.models.preprocessing import Preprocessing
from affscore.models.sources import Source
from affscore.models.weight_files import load_weights


@dataclass(frozen=True)
class MiniNetwork:
    """A small network.

    Attributes:
        name: As in ``mini:NAME``.
        builder: What builds it, a class or function by its dotted name: its module, which imports torchvision, is
            imported when it is built.
        weights: The file of the trained weights; beside it, as .json, lies the record of the training.
        arguments: What the builder is called with.
    """

    preprocessing: ClassVar = Preprocessing(channels=1, size=32, resize=32, mean=(0.305,), std=(0.324,))
    """The scans at 32 x 32 pixels; mean and standard deviation are those of the training part."""

    name: str
    builder: str
    weights: Path
    arguments: tuple[Any, ...] = ()

    def build(self) -> nn.Module:
        """The network, with random weights."""
        return pkgutil.resolve_name(self.builder)(*self.arguments)

    @property
    def architecture(self) -> Any:
        """The architecture that it stands for (:func:`affscore.models.card.architecture_of`)."""
        return architecture_of("resnet" if self.name == "digitsnet" else self.name)

    def training_record(self) -> dict[str, Any]:
        """How the weights were made, and what they reach."""
        return json.loads(self.weights.with_suffix(".json").read_text(encoding="utf-8"))


class Mini(Source):
    """The small networks; WEIGHTS is "DEFAULT", "random" or a file."""

    form = "mini:digitsnet (others come with the companion of the book)"
    prefix = "mini"

    def __init__(self, networks: Mapping[str, MiniNetwork]) -> None:
        self.networks = networks

    def names(self) -> list[str]:
        """The names of the small networks.

        >>> SOURCE.names()
        ['mini:digitsnet']
        """
        return [f"mini:{name}" for name in self.networks]

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """The family is that of the architecture for which the network stands."""
        network = self.networks[name.removeprefix("mini:")]
        model = seeded(network.build, seed)
        if weights != "random":
            load_weights(model, network.weights if weights == "DEFAULT" else weights_file(name, weights, []))
        family = network.architecture.family
        return model, ModelCard(name, weights_label(weights), network.preprocessing, family=family)

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """The trained weights are a file, too."""
        file = self.networks[name.removeprefix("mini:")].weights
        about = super().identity(name, weights)
        return about | {"files": {file.name: file_hash(file)}} if weights == "DEFAULT" else about

    def facts(self, name: str, weights: str) -> dict[str, Any]:
        """What its architecture and the record of its training say."""
        short = name.removeprefix("mini:")
        if short not in self.networks:
            raise AffscoreError(f"there is no small network {short!r}; there are {', '.join(self.networks)}")
        if weights not in ("DEFAULT", "random"):
            raise AffscoreError(
                f"nothing is stated of '{name}@{weights}'; the weights of small networks are DEFAULT and random"
            )
        network = self.networks[short]
        record, trained = network.training_record(), ("accuracy", "accuracy_standard_error")
        stated = {"family": network.architecture.family, "year": network.architecture.year}
        reached = {key: round(100 * record[key], 2) for key in trained if weights == "DEFAULT"}
        return super().facts(short, weights) | stated | reached | {"parameters": record["parameters"]}


DIGITSNET = {
    "digitsnet": MiniNetwork(
        "digitsnet",
        "affscore.models.digitsnet.DigitsNet",
        Path(__file__).parents[1] / "weights" / "digitsnet.safetensors",
    )
}
"""The one that comes with affscore."""

SOURCE = Mini(DIGITSNET)
