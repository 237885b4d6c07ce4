"""The small networks of the package, as ``mini:NAME``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from torch import nn

from affscore.errors import AffscoreError
from affscore.zoo.card import ModelCard, seeded
from affscore.zoo.mini import list_models
from affscore.zoo.naming import weights_file, weights_label
from affscore.zoo.paths import file_hash
from affscore.zoo.sources import Source
from affscore.zoo.state_dicts import load_weights

if TYPE_CHECKING:
    from affscore.zoo.mini.registry import MiniNetwork


def _networks() -> dict[str, MiniNetwork]:
    from affscore.zoo.mini.registry import MINI_NETWORKS  # imports torchvision, which takes seconds

    return {f"mini:{name}": network for name, network in MINI_NETWORKS.items()}


class Mini(Source):
    """The small networks; WEIGHTS is "DEFAULT", "random" or a file."""

    form = "mini:NAME"
    prefix = "mini"

    def names(self) -> list[str]:
        """The names of the small networks.

        >>> "mini:digitsnet" in SOURCE.names()
        True
        """
        return list(_networks())

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """The accuracy is that of the trained weights, on the held-out digits."""
        network = _networks()[name]
        model = seeded(network.build, seed)
        if weights != "random":
            load_weights(model, network.weights if weights == "DEFAULT" else weights_file(name, weights, []))
        about: dict[str, Any] = {"family": network.family, "year": network.year}
        if weights == "DEFAULT":
            about |= {"accuracy": 100 * network.training_record()["accuracy"], "accuracy_on": "digits"}
        return model, ModelCard(name, weights_label(weights), network.preprocessing, **about)

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """The trained weights are a file, too."""
        file = _networks()[name].weights
        about = super().identity(name, weights)
        return about | {"files": {file.name: file_hash(file)}} if weights == "DEFAULT" else about

    def facts(self, name: str, weights: str) -> dict[str, Any]:
        """A line of :func:`affscore.zoo.list_models`."""
        table, short = list_models().set_index("name"), name.removeprefix("mini:")
        if short not in table.index:
            raise AffscoreError(f"there is no small network {short!r}; affscore.zoo.list_models() shows all")
        if weights not in ("DEFAULT", "random"):
            raise AffscoreError(
                f"nothing is stated of '{name}@{weights}'; the weights of small networks are DEFAULT and random"
            )
        known: dict[Any, Any] = table.loc[short].to_dict()
        if weights == "random":
            known |= {"accuracy": math.nan, "accuracy_standard_error": math.nan}
        facts = super().facts(short, weights)
        return facts | {key: known[key] for key in known.keys() & facts.keys()} | {"gflops": known["flops"] / 1e9}


SOURCE = Mini()
