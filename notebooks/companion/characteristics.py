"""What the authors of networks state of them, their families and years, and how deep they are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError
from affscore.models.naming import names_a_file, split_spec
from affscore.models.sources import torchvision_networks

ARCHITECTURES = Path(__file__).parent / "architectures.csv"

DEPTHS = Path(__file__).parent / "depths.csv"

NUMBERS = ("accuracy", "accuracy_standard_error", "parameters", "gflops", "depth", "activations")


@cache
def _architectures() -> list[Any]:
    return list(pd.read_csv(ARCHITECTURES).itertuples(index=False, name="Architecture"))


def architecture_of(name: str) -> Any:
    """The architecture of a network of torchvision, by the longest beginning of its name; None if unknown.

    Its attributes are ``begins`` (how the names of its members begin), ``family`` (named as in the papers where they
    have it), ``year`` (in which it was first made public), and ``publication`` (authors, title and where to find it).

    >>> architecture_of("swin_v2_t").year, architecture_of("resnet18").family, architecture_of("mynet")
    (2021, 'ResNets', None)
    """
    fitting = [architecture for architecture in _architectures() if name.startswith(architecture.begins)]
    return max(fitting, key=lambda architecture: len(architecture.begins), default=None)


def torchvision_names() -> list[str]:
    """The names of all classification networks of torchvision.

    >>> "resnet18" in torchvision_names(), "fasterrcnn_resnet50_fpn" in torchvision_names()
    (True, False)
    """
    return torchvision_networks.SOURCE.names()


def weight_versions(name: str) -> list[str]:
    """The pretrained weights of a network of torchvision whose accuracy on ImageNet-1K is stated, the default first.

    Args:
        name: A network of torchvision.

    >>> weight_versions("resnet50")
    ['IMAGENET1K_V2', 'IMAGENET1K_V1']
    """
    enum = _weights_of(name)
    stated = [weight.name for weight in enum if not math.isnan(_accuracy_of(weight))]
    return sorted(stated, key=lambda version: version != enum["DEFAULT"].name)


def characteristics(models: Iterable[str]) -> pd.DataFrame:
    """What the authors of networks state of them, and how deep they are.

    Args:
        models: MODEL[@WEIGHTS], each. Random weights and weights in a file have no accuracy; of networks that are
            neither torchvision's nor small ones (mini:NAME) nothing is stated, and everything but the name is missing.

    Returns:
        A row for each model, by its name as it was given. Columns: ``name`` and ``weights``, ``family``, ``year``,
        ``accuracy`` (in percent: Acc@1 on the validation set of ImageNet-1K, or of a small network on the held-out
        digits), ``accuracy_standard_error`` (missing for torchvision, where nobody states it), ``parameters``,
        ``gflops`` (10^9 multiply-adds of one image of the size that the network expects), ``depth`` (the largest
        number of activations on a path, as the recorder counts) and ``activations`` (how many there are in all); both
        are missing for networks that were not counted.

    Raises:
        AffscoreError: A network or weights that are not known.

    Source: torchvision's metadata of weights; the records of the small networks' trainings; depth: counted.

    >>> table = characteristics(["resnet50", "resnet50@IMAGENET1K_V1"])
    >>> table[["accuracy", "parameters", "gflops", "depth"]].values.tolist()
    [[80.858, 25557032.0, 4.089, 49.0], [76.13, 25557032.0, 4.089, 49.0]]
    """
    rows = {model: _stated(*split_spec(model)) for model in models}
    table = pd.DataFrame.from_dict(rows, orient="index")
    numbers = ("accuracy", "accuracy_standard_error", "depth", "activations")
    return table.astype(dict.fromkeys(numbers, float)) if rows else table


def _stated(name: str, weights: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": Path(name).name, "weights": Path(weights).name, "family": None, "year": None}
    row |= dict.fromkeys(NUMBERS, math.nan)
    if name.startswith("mini:"):
        return row | _of_small_network(name.removeprefix("mini:"), weights)
    return row | _of_torchvision(name, weights) if ":" not in name else row


def _of_small_network(name: str, weights: str) -> dict[str, Any]:
    from companion.mini_zoo import list_models

    known = list_models().set_index("name").drop(columns="group")
    if name not in known.index or weights not in ("DEFAULT", "random"):
        raise AffscoreError(
            f"nothing is stated of 'mini:{name}@{weights}': the weights of small networks are DEFAULT and random, and "
            f"there are {', '.join(known.index)}"
        )
    row = known.assign(gflops=known.pop("flops") / 1e9).astype(object).loc[name]
    unknown = [] if weights == "DEFAULT" else ["accuracy", "accuracy_standard_error"]
    return {"name": name, **row.drop(unknown)}


def _of_torchvision(name: str, weights: str) -> dict[str, Any]:
    enum, about = _weights_of(name), architecture_of(name)
    trained = weights != "random" and not names_a_file(weights)
    if trained and weights not in (*enum.__members__, "DEFAULT"):
        raise AffscoreError(
            f"torchvision states nothing of '{name}@{weights}'; its weights of {name} are {', '.join(enum.__members__)}"
        )
    weight = enum[weights] if trained else next(iter(enum))
    row = {"parameters": weight.meta["num_params"], "gflops": weight.meta["_ops"], **_counted().get(name, {})}
    row |= {"weights": weight.name, "accuracy": _accuracy_of(weight)} if trained else {}
    return row | ({"family": about.family, "year": about.year} if about else {})


def _weights_of(name: str) -> Any:
    import torchvision

    if name not in torchvision_names():
        raise AffscoreError(
            f"the characteristics of {name!r} are not known; expected a classification network of torchvision "
            "or mini:NAME"
        )
    return torchvision.models.get_model_weights(name)


def _accuracy_of(weight: Any) -> float:
    return weight.meta["_metrics"].get("ImageNet-1K", {}).get("acc@1", math.nan)


@cache
def _counted() -> dict[Any, dict[Any, Any]]:
    """Depth and number of activations of the networks whose activations were counted (scripts/count_depths.py)."""
    return pd.read_csv(DEPTHS, comment="#", index_col="name").to_dict(orient="index")
