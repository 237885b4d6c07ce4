"""Accuracy, size, operations, depth and year of networks by name, without loading or downloading them."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from affscore.zoo.models import source_of
from affscore.zoo.naming import split_spec
from affscore.zoo.sources.torchvision_networks import accuracy_of, weights_of


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
    named = {model: split_spec(model) for model in models}
    rows = {model: source_of(name).facts(name, weights) for model, (name, weights) in named.items()}
    table = pd.DataFrame.from_dict(rows, orient="index")
    numbers = ("accuracy", "accuracy_standard_error", "depth", "activations")
    return table.astype(dict.fromkeys(numbers, float)) if rows else table


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
