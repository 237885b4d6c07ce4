"""Accuracy, size, operations, depth and year of networks by name, without loading or downloading them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError
from affscore.zoo.architectures import architecture_of
from affscore.zoo.mini.tables import list_models
from affscore.zoo.sources import torchvision_networks
from affscore.zoo.sources.naming import WEIGHT_SUFFIXES, split_spec, weights_label

__all__ = ["characteristics", "weight_versions", "with_version"]

MINI = "mini:"

_COLUMNS = ("accuracy", "accuracy_standard_error", "parameters", "gflops", "depth", "activations")

DEPTHS = Path(__file__).parent / "depths.csv"


def characteristics(models: Iterable[str]) -> pd.DataFrame:
    """What the authors of networks state of them, and how deep they are.

    Args:
        models: MODEL[@WEIGHTS], each. Random weights and weights in a file have no accuracy; of networks that are
            neither torchvision's nor mini:NAME nothing is stated, and everything but the name is missing.

    Returns:
        A row for each model, by its name as it was given. Columns: ``name`` and ``weights``, ``family``, ``year``,
        ``accuracy`` (in percent: Acc@1 on the validation set of ImageNet-1K, or of a small network on the held-out
        digits), ``accuracy_standard_error`` (missing for torchvision, where nobody states it), ``parameters``,
        ``gflops`` (10^9 multiply-adds of one image of the size that the network expects), ``depth`` (the largest
        number of activations on a path, as the recorder counts) and ``activations`` (how many there are in all); both
        are missing for networks that were not counted.

    Raises:
        AffscoreError: A network or weights that are not known.

    Source: torchvision's metadata of weights; :func:`affscore.zoo.list_models`; depth: counted.

    >>> table = characteristics(["resnet50", "resnet50@IMAGENET1K_V1"])
    >>> table[["accuracy", "parameters", "gflops", "depth"]].values.tolist()
    [[80.858, 25557032.0, 4.089, 49.0], [76.13, 25557032.0, 4.089, 49.0]]
    """
    rows = {model: _of(model) for model in models}
    table = pd.DataFrame.from_dict(rows, orient="index")
    numbers = ("accuracy", "accuracy_standard_error", "depth", "activations")
    return table.astype(dict.fromkeys(numbers, float)) if rows else table


def _of(model: str) -> dict[str, Any]:
    if model.startswith(MINI):
        return _of_mini(model)
    name, weights = split_spec(model)
    if ":" in name:  # a file of one's own, or another package
        return dict.fromkeys(_COLUMNS, math.nan) | {
            "name": Path(name).name,
            "weights": weights_label(weights),
            "family": None,
            "year": None,
        }
    if weights.endswith(WEIGHT_SUFFIXES):
        return _of_torchvision(f"{name}@random") | {"weights": weights_label(weights)}
    return _of_torchvision(model)


def weight_versions(name: str) -> list[str]:
    """The pretrained weights of a network of torchvision whose accuracy on ImageNet-1K is stated, the default first.

    Args:
        name: A network of torchvision.

    Raises:
        AffscoreError: torchvision has no such network.

    >>> weight_versions("resnet50")
    ['IMAGENET1K_V2', 'IMAGENET1K_V1']
    """
    enum = _enum(name)
    stated = [weight.name for weight in enum if math.isfinite(_accuracy(weight))]
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


def _of_mini(model: str) -> dict[str, Any]:
    name, _, weights = model.removeprefix(MINI).partition("@")
    table = list_models().set_index("name")
    if name not in table.index:
        raise AffscoreError(f"there is no small network {name!r}; affscore.zoo.list_models() shows all")
    if weights not in ("", "DEFAULT", "random"):
        raise AffscoreError(f"nothing is stated of {model!r}; the weights of small networks are DEFAULT and random")
    known = table.loc[name]
    return {
        "name": name,
        "weights": weights or "DEFAULT",
        "family": known["family"],
        "year": known["year"],
        "accuracy": math.nan if weights == "random" else known["accuracy"],
        "accuracy_standard_error": math.nan if weights == "random" else known["accuracy_standard_error"],
        "parameters": known["parameters"],
        "gflops": known["flops"] / 1e9,
        "depth": known["depth"],
        "activations": math.nan,
    }


def _of_torchvision(model: str) -> dict[str, Any]:
    name, _, weights = model.partition("@")
    enum = _enum(name)
    weights = weights or "DEFAULT"
    if weights != "random" and weights not in (*enum.__members__, "DEFAULT"):
        raise AffscoreError(
            f"torchvision states nothing of {model!r}; its weights of {name} are {', '.join(enum.__members__)}"
        )
    weight = next(iter(enum)) if weights == "random" else enum[weights]
    architecture = architecture_of(name)
    return {
        "name": name,
        "weights": "random" if weights == "random" else weight.name,
        "family": architecture.family if architecture else None,
        "year": architecture.year if architecture else None,
        "accuracy": math.nan if weights == "random" else _accuracy(weight),
        "accuracy_standard_error": math.nan,
        "parameters": weight.meta["num_params"],
        "gflops": weight.meta["_ops"],
        "depth": _counted()["depth"].get(name, math.nan),
        "activations": _counted()["activations"].get(name, math.nan),
    }


def _enum(name: str) -> Any:
    if not torchvision_networks.knows(name):
        raise AffscoreError(
            f"the characteristics of {name!r} are not known; expected a classification network of torchvision "
            "or mini:NAME"
        )
    return torchvision_networks.weights_of(name)


def _accuracy(weight: Any) -> float:
    stated = weight.meta["_metrics"].get(torchvision_networks.ACCURACY_ON, {}).get("acc@1")
    return math.nan if stated is None else float(stated)


@cache
def _counted() -> dict[Hashable, Any]:
    return pd.read_csv(DEPTHS, comment="#", index_col="name").to_dict()
