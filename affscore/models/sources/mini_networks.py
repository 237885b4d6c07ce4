"""Small networks on digits, as ``mini:NAME``: ``mini:digitsnet``, and those that another package registers."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn

from affscore.models.card import ModelCard, seeded
from affscore.models.naming import file_hash, weights_file
from affscore.models.preprocessing import Preprocessing
from affscore.models.sources import Source
from affscore.models.weight_files import load_weights

NOW = "5323a91eb7a5c0df07cddd5fd9a2ec52fc3fe9f4830baa44c31b79af6150e377"
FORMER = {"digitsnet.safetensors": "ce1eee310fdbd59c4cd88e65e9c82ff4d3865149c54b9b33498b47060669856b"}
"""The hash of a file, and how the results of version 1 name and hash the same weights, so that they are found again."""


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


class Mini(Source):
    """The small networks; WEIGHTS is "DEFAULT", "random" or a file."""

    form = "mini:NAME"
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
        """The network with its trained weights, random ones, or those of a file."""
        network = self.networks[name.removeprefix("mini:")]
        model = seeded(network.build, seed)
        if weights != "random":
            load_weights(model, network.weights if weights == "DEFAULT" else weights_file(name, weights))
        return model, ModelCard(name, Path(weights).name, network.preprocessing)

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """The trained weights are a file, too."""
        about = super().identity(name, weights)
        if weights == "DEFAULT":
            file = self.networks[name.removeprefix("mini:")].weights
            about["files"] = FORMER if (found := file_hash(file)) == NOW else {file.name: found}
        return about


class DigitsNet(nn.Module):
    """The one trained network that comes with affscore: a small residual one for digits, with nine ReLUs.

    It is He et al.'s design at a size that trains in a minute: a stem and four of torchvision's basic blocks of 16, 32
    and 64 channels, average pooling, one linear layer, 152 thousand parameters.

    Args:
        classes: Number of outputs.
    """

    def __init__(self, classes: int = 10) -> None:
        from torchvision.models.resnet import BasicBlock  # takes seconds

        def wider(before: int, after: int) -> nn.Module:
            return BasicBlock(before, after, stride=2, downsample=shortcut(before, after, stride=2))

        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True))
        self.blocks = nn.Sequential(BasicBlock(16, 16), wider(16, 32), wider(32, 64), BasicBlock(64, 64))
        self.head = nn.Linear(64, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        return self.head(self.blocks(self.stem(x)).mean(dim=(2, 3)))


def shortcut(before: int, after: int, stride: int) -> nn.Sequential:
    """What brings a shortcut to another width and stride: a convolution of one pixel."""
    return nn.Sequential(nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after))


_WEIGHTS = Path(__file__).parents[1] / "weights" / "digitsnet.pt"
DIGITSNET = {"digitsnet": MiniNetwork("digitsnet", f"{__name__}.DigitsNet", _WEIGHTS)}
"""The one that comes with affscore."""

SOURCE = Mini(DIGITSNET)
