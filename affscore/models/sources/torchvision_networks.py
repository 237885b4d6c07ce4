"""The classification networks of torchvision, and their weights."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from torch import nn

from affscore.errors import AffscoreError, guarded
from affscore.models.card import ModelCard, architecture_of, seeded
from affscore.models.downloads import HASH, checkpoint, fetch
from affscore.models.naming import WEIGHT_SUFFIXES, weights_file, weights_label
from affscore.models.paths import file_hash
from affscore.models.preprocessing import Preprocessing
from affscore.models.sources import Source
from affscore.models.weight_files import load_weights, read_state_dict

ACCURACY_ON = "ImageNet-1K"

DEPTHS = Path(__file__).parents[1] / "depths.csv"


class Torchvision(Source):
    """Names without a prefix; WEIGHTS may be a member of the enumeration of a network's weights."""

    form = "a torchvision classification network"
    prefix = ""

    def names(self) -> list[str]:
        """The names of all classification networks.

        >>> "resnet18" in names(), "fasterrcnn_resnet50_fpn" in names()
        (True, False)
        """
        return _models().list_models(module=_models())

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """With a file of weights or random ones the input is that of the first weights of the enumeration."""
        enum = weights_of(name)
        trained = weights == "DEFAULT" or weights in enum.__members__
        weight = enum[weights] if trained else next(iter(enum))
        if trained:
            model = _pretrained(name, weight)
        else:
            file = None if weights == "random" else weights_file(name, weights, enum.__members__)
            # these two initialise themselves only when asked to, and warn when not asked; their trained weights come
            # from TensorFlow, with its normalisation
            asked = {"init_weights": True, "transform_input": file is not None}
            options = asked if name in ("googlenet", "inception_v3") else {}
            model = seeded(lambda: _models().get_model_builder(name)(weights=None, **options), seed)
            if file is not None:
                load_weights(model, file)
        label = weight.name if trained else weights_label(weights)
        expected = Preprocessing.from_torchvision(weight.transforms())
        family, classes = getattr(architecture_of(name), "family", None), tuple(weight.meta["categories"])
        return model, ModelCard(name, label, expected, family=family, classes=classes)

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """Of trained weights their own name, and the hash in the name of their file unless the file has another."""
        enum = weights_of(name)
        if weights != "DEFAULT" and weights not in enum.__members__:
            return super().identity(name, weights)
        file = checkpoint(enum[weights].url)
        stated = HASH.search(file.name)
        short = stated.group(1) if stated else ""
        found = file_hash(file) if file.is_file() else short
        files = {file.name: short if found.startswith(short) else found}
        return {"model": name, "weights": enum[weights].name, "files": files}

    def facts(self, name: str, weights: str) -> dict[str, Any]:
        """What torchvision states; of random weights and of a file no accuracy."""
        enum = weights_of(name)
        trained = weights != "random" and not weights.endswith(WEIGHT_SUFFIXES)
        if trained and weights not in (*enum.__members__, "DEFAULT"):
            raise AffscoreError(
                f"torchvision states nothing of '{name}@{weights}'; its weights of {name} are "
                f"{', '.join(enum.__members__)}"
            )
        weight, about = enum[weights] if trained else next(iter(enum)), architecture_of(name)
        stated = {"parameters": weight.meta["num_params"], "gflops": weight.meta["_ops"]}
        stated |= {"accuracy": accuracy_of(weight)} if trained else {}
        stated |= {"family": about.family, "year": about.year} if about else {}
        return super().facts(name, weight.name if trained else weights) | stated | _counted().get(name, {})


SOURCE = Torchvision()
names = SOURCE.names


def weights_of(name: str) -> Any:
    """The enumeration of the weights that torchvision has of a network.

    Raises:
        AffscoreError: It has no such network.
    """
    if name not in names():
        raise AffscoreError(
            f"the characteristics of {name!r} are not known; expected a classification network of torchvision "
            "or mini:NAME"
        )
    return _models().get_model_weights(name)


def accuracy_of(weight: Any) -> float | None:
    """Acc@1 of a weight on ImageNet-1K in percent; None where it is not stated."""
    stated = weight.meta["_metrics"].get(ACCURACY_ON, {}).get("acc@1", math.nan)
    return None if math.isnan(stated) else stated


def weight_versions(name: str) -> list[str]:
    """The pretrained weights of a network of torchvision whose accuracy on ImageNet-1K is stated, the default first.

    Args:
        name: A network of torchvision.

    Raises:
        AffscoreError: torchvision has no such network.

    >>> weight_versions("resnet50")
    ['IMAGENET1K_V2', 'IMAGENET1K_V1']
    """
    enum = weights_of(name)
    stated = [weight.name for weight in enum if accuracy_of(weight)]
    return sorted(stated, key=lambda version: version != enum["DEFAULT"].name)


def with_version(name: str, version: str) -> str:
    """A network with the weights of a version where it has these, and with its default ones where it does not.

    Args:
        name: A network of torchvision.
        version: "DEFAULT", or weights such as "IMAGENET1K_V1".

    Returns:
        MODEL@WEIGHTS.

    >>> with_version("vit_b_16", "IMAGENET1K_SWAG_E2E_V1"), with_version("vit_b_32", "IMAGENET1K_SWAG_E2E_V1")
    ('vit_b_16@IMAGENET1K_SWAG_E2E_V1', 'vit_b_32@IMAGENET1K_V1')
    """
    known = weight_versions(name)
    return f"{name}@{version if version in known else known[0]}"


@cache
def _counted() -> dict[Any, dict[Any, Any]]:
    """Depth and number of activations of the networks whose activations were counted (scripts/count_depths.py)."""
    return pd.read_csv(DEPTHS, comment="#", index_col="name").to_dict(orient="index")


def _models() -> Any:
    import torchvision  # takes seconds, and networks from elsewhere need none of it

    return torchvision.models


def _pretrained(name: str, weight: Any) -> nn.Module:
    file = fetch(weight.url, f"the weights {weight.name} of {name}", name)
    broken = f"the weights of {name} in the file {file.name} of {file.parent} cannot be used"
    advice = "remove the file so that it is downloaded again"
    try:
        read_state_dict(file)  # torchvision would run what a pickle says; after this it is known to hold only tensors
    except AffscoreError as error:
        raise AffscoreError(f"{broken} (it holds nothing that can be read safely as weights); {advice}") from error
    return guarded(lambda: _models().get_model_builder(name)(weights=weight), broken, advice)
