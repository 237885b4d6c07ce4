"""The small networks that come with the package, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from affscore.zoo.architectures import architecture_of
from affscore.zoo.mini import efficient, inception, plain, residual, searched, transformers
from affscore.zoo.preprocessing import Preprocessing

WEIGHTS = Path(__file__).parents[1] / "weights"
"""The folder of the trained weights."""

DIGITS = Preprocessing(channels=1, size=32, resize=32, mean=(0.305,), std=(0.324,))
"""The scans at 32 x 32 pixels; mean and standard deviation are those of the training part."""


@dataclass(frozen=True)
class MiniNetwork:
    """What is known of a small network.

    Attributes:
        name: As in ``mini:NAME``.
        build: Makes the network, with random weights.
        family: The family of architectures that it stands for.
        year: The year of that architecture.
        preprocessing: What it expects.
    """

    name: str
    build: Callable[[], nn.Module]
    family: str
    year: int
    preprocessing: Preprocessing = DIGITS

    @property
    def weights(self) -> Path:
        """The file of the trained weights."""
        return WEIGHTS / f"{self.name}.safetensors"

    def training_record(self) -> dict[str, Any]:
        """How the weights were made, and what they reach (written by the training script)."""
        return json.loads((WEIGHTS / f"{self.name}.json").read_text(encoding="utf-8"))


BUILDERS: dict[str, Callable[[], nn.Module]] = {
    "digitsnet": residual.DigitsNet,
    "alexnet": plain.MiniAlexNet,
    **{name: partial(plain.MiniVGG, name) for name in plain.VGG_CONVOLUTIONS},
    "googlenet": inception.MiniGoogLeNet,
    "inception_v3": inception.MiniInception,
    **residual.RESNETS,
    "squeezenet1_0": partial(efficient.MiniSqueezeNet, "1_0"),
    "squeezenet1_1": partial(efficient.MiniSqueezeNet, "1_1"),
    **residual.DENSENETS,
    "mobilenet_v2": efficient.mobilenet,
    **searched.MNASNETS,
    **efficient.SHUFFLENETS,
    **searched.EFFICIENTNETS,
    **transformers.VITS,
    **transformers.SWINS,
    **transformers.CONVNEXTS,
}
"""What makes each network, in the order of the years."""


def _mini_network(name: str, build: Callable[[], nn.Module]) -> MiniNetwork:
    architecture = architecture_of("resnet" if name == "digitsnet" else name)
    return MiniNetwork(name, build, architecture.family, architecture.year)


MINI_NETWORKS: dict[str, MiniNetwork] = {name: _mini_network(name, build) for name, build in BUILDERS.items()}
"""All of them: ``digitsnet``, and one under the name of each network of torchvision that it stands for."""
