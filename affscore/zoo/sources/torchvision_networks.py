"""The classification networks of torchvision, and their weights."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from affscore.errors import AffscoreError, guarded
from affscore.zoo.architectures import architecture_of
from affscore.zoo.card import ModelCard, seeded
from affscore.zoo.downloads import answers, patience
from affscore.zoo.naming import WEIGHT_SUFFIXES, weights_file, weights_label
from affscore.zoo.paths import file_hash
from affscore.zoo.preprocessing import Preprocessing
from affscore.zoo.sources import Source
from affscore.zoo.state_dicts import load_weights, read_state_dict

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
        stated = _stated(name, weight, trained)
        return model, ModelCard(
            name,
            weight.name if trained else weights_label(weights),
            Preprocessing.from_torchvision(weight.transforms()),
            accuracy_on=None if stated["accuracy"] is None else ACCURACY_ON,
            classes=tuple(weight.meta["categories"]),
            **stated,
        )

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """Of trained weights their own name, and the hash in the name of their file unless the file has another."""
        enum = weights_of(name)
        if weights != "DEFAULT" and weights not in enum.__members__:
            return super().identity(name, weights)
        file = _file_of(enum[weights].url)
        stated = torch.hub.HASH_REGEX.search(file.name)
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
        weight = enum[weights] if trained else next(iter(enum))
        return {
            **super().facts(name, weight.name if trained else weights),
            "parameters": weight.meta["num_params"],
            **_stated(name, weight, trained),
            **_counted().get(name, {}),
        }


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


def _stated(name: str, weight: Any, trained: bool) -> dict[str, Any]:
    """What cards and tables say of a network; of one that is not trained no accuracy."""
    about, accuracy = architecture_of(name), accuracy_of(weight) if trained else None
    known = {"family": about.family, "year": about.year} if about else {"family": None, "year": None}
    return {**known, "gflops": weight.meta["_ops"], "accuracy": accuracy}


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


def fetch(url: str, what: str, name: str) -> Path:
    """The file behind an address, downloaded to where torchvision looks for it unless it is there.

    Args:
        url: Its address; a hash at the end of the name is checked.
        what: What the file holds, for the message.
        name: MODEL, for the message.

    Raises:
        AffscoreError: It is not there and cannot be downloaded; the message says where to put it.
    """
    file = _file_of(url)
    if file.exists():
        return file
    expected = torch.hub.HASH_REGEX.search(file.name)

    def download() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with patience():
            answers(url)
            torch.hub.download_url_to_file(url, str(file), expected.group(1) if expected else None)

    advice = f"get {url} elsewhere and put it into {file.parent}, or give it as {name}@FILE"
    guarded(download, f"{what} are not on this machine and could not be downloaded", advice)
    return file


def _file_of(url: str) -> Path:
    """Where torchvision looks for what it downloads."""
    return Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
