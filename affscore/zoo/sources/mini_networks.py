"""The small networks of the package, as ``mini:NAME``."""

from __future__ import annotations

from typing import Any

from torch import nn

from affscore.errors import AffscoreError
from affscore.zoo.card import ModelCard, seeded
from affscore.zoo.mini import MINI_NETWORKS, list_models
from affscore.zoo.naming import weights_file, weights_label
from affscore.zoo.paths import file_hash
from affscore.zoo.sources import Source
from affscore.zoo.weight_files import load_weights


class Mini(Source):
    """The small networks; WEIGHTS is "DEFAULT", "random" or a file."""

    form = "mini:NAME"
    prefix = "mini"

    def names(self) -> list[str]:
        """The names of the small networks.

        >>> "mini:digitsnet" in SOURCE.names()
        True
        """
        return [f"mini:{name}" for name in MINI_NETWORKS]

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """The family is that of the architecture for which the network stands."""
        network = MINI_NETWORKS[name.removeprefix("mini:")]
        model = seeded(network.build, seed)
        if weights != "random":
            load_weights(model, network.weights if weights == "DEFAULT" else weights_file(name, weights, []))
        family = network.architecture.family
        return model, ModelCard(name, weights_label(weights), network.preprocessing, family=family)

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """The trained weights are a file, too."""
        file = MINI_NETWORKS[name.removeprefix("mini:")].weights
        about = super().identity(name, weights)
        return about | {"files": {file.name: file_hash(file)}} if weights == "DEFAULT" else about

    def facts(self, name: str, weights: str) -> dict[str, Any]:
        """A line of :func:`affscore.zoo.list_models`."""
        short = name.removeprefix("mini:")
        if short not in MINI_NETWORKS:
            raise AffscoreError(f"there is no small network {short!r}; affscore.zoo.list_models() shows all")
        if weights not in ("DEFAULT", "random"):
            raise AffscoreError(
                f"nothing is stated of '{name}@{weights}'; the weights of small networks are DEFAULT and random"
            )
        known: dict[Any, Any] = list_models().set_index("name").loc[short].to_dict()
        trained = ("accuracy", "accuracy_standard_error") if weights == "DEFAULT" else ()
        stated = {key: known[key] for key in ("family", "year", "parameters", "depth", *trained)}
        return super().facts(short, weights) | stated | {"gflops": known["flops"] / 1e9}


SOURCE = Mini()
