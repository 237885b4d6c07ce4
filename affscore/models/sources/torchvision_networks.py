"""The classification networks of torchvision, and their weights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from torch import nn

from affscore.errors import guarded
from affscore.models.card import ModelCard, seeded
from affscore.models.naming import weights_file
from affscore.models.preprocessing import Preprocessing
from affscore.models.sources import Source
from affscore.models.weight_files import fetch, load_weights, read_tensors


class Torchvision(Source):
    """Names without a prefix; WEIGHTS may be a member of the enumeration of a network's weights."""

    form = "a torchvision classification network"
    prefix = ""

    def names(self) -> list[str]:
        """The names of all classification networks.

        >>> "resnet18" in SOURCE.names(), "fasterrcnn_resnet50_fpn" in SOURCE.names()
        (True, False)
        """
        return _models().list_models(module=_models())

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """With a file of weights or random ones the input is that of the first weights of the enumeration."""
        enum = _models().get_model_weights(name)
        trained = weights in enum.__members__  # DEFAULT, too
        weight = enum[weights] if trained else next(iter(enum))
        if trained:
            stored = fetch(weight.url, f"the weights {weight.name} of {name}", name)
            advice = f"remove {stored} so that it is downloaded again"
            read_tensors(stored, advice=advice)  # torchvision would run what a pickle says
            what = f"the weights of {name} in the file {stored.name} cannot be used"
            model = guarded(lambda: _models().get_model_builder(name)(weights=weight), what, advice)
        else:
            file = None if weights == "random" else weights_file(name, weights, enum.__members__)
            # these two initialise themselves only when asked to, and warn when not asked; their trained weights come
            # from TensorFlow, with its normalisation
            asked = {"init_weights": True, "transform_input": file is not None}
            options = asked if name in ("googlenet", "inception_v3") else {}
            model = seeded(lambda: _models().get_model_builder(name)(weights=None, **options), seed)
            if file is not None:
                load_weights(model, file)
        label = weight.name if trained else Path(weights).name
        expected = Preprocessing.from_torchvision(weight.transforms())
        return model, ModelCard(name, label, expected, classes=tuple(weight.meta["categories"]))

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """Of trained weights their own name, and the hash in the name of their file."""
        enum = _models().get_model_weights(name)
        if weights not in enum.__members__:
            return super().identity(name, weights)
        file = enum[weights].url.rpartition("/")[2]
        return {"model": name, "weights": enum[weights].name, "files": dict(re.findall(r"(.*-([a-f0-9]+)\..*)", file))}


SOURCE = Torchvision()


def _models() -> Any:
    import torchvision  # takes seconds, and networks from elsewhere need none of it

    return torchvision.models
