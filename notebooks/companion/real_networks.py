"""Trained networks that others trained, on photographs and on CIFAR-10: what they are, and their scores.

Their results were measured with ``affscore survey``; the command stands in each file's metadata. ``networks.csv`` says
whose weights they are.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import pandas as pd

from affscore import load_results
from affscore.options import OrderName, ReductionName
from affscore.survey import stored_multiverses
from companion.shipped import MULTIVERSES, RESULTS

FOLDER = Path(__file__).parent / "data" / "real_networks"

_PHOTOGRAPHS, _CIFAR = "photographs", "CIFAR-10"


@cache
def real_networks() -> pd.DataFrame:
    """What the networks are, a row each, by the name that pages have for them.

    Columns: ``model``, ``family``, ``images`` (what they were measured on: 512 photographs of ImageNet's training set,
    or 9,728 test images of CIFAR-10 as JPEG), ``accuracy`` (published, in per cent, on the images that ``of`` names;
    empty where none is known), ``parameters``, and ``weights_are`` (whose, or how they were changed after training).

    >>> real_networks().groupby("images").size().to_dict()
    {'CIFAR-10': 12, 'photographs': 14}
    >>> float(real_networks().loc["ResNet-18", "accuracy"])
    66.7
    """
    return pd.read_csv(FOLDER / "networks.csv", index_col="network")


@cache
def _results() -> pd.DataFrame:
    rows = pd.concat([load_results(RESULTS), load_results(FOLDER / "results")])
    return rows[rows["weights"].ne("random") & rows["model"].isin(real_networks()["model"])]


def real_scores(
    images: Literal["photographs", "CIFAR-10", "CIFAR-10 lossless", "CIFAR-10 as JPEG"] = "photographs",
    reduction: ReductionName = "mean",
    order: OrderName = "activate-first",
) -> pd.DataFrame:
    """The scores of all activations of these networks, a row each, means over batches.

    Args:
        images: What they were measured on. The last two are the same 221 images, without loss and as JPEG.
        reduction: How positions are reduced.
        order: Whether the activation comes before the reduction.

    Returns:
        ``network``, ``family`` and ``accuracy`` of :func:`real_networks`, and ``index`` (place in the network),
        ``layer``, ``kind``, ``activation``, ``depth``, ``width``, ``score``, and the criteria.

    >>> scores = real_scores("CIFAR-10")
    >>> float(scores.groupby("network")["score"].mean().round(2)["ResNet-56"])
    0.77
    """
    if images in (_PHOTOGRAPHS, _CIFAR):
        rows = _results().query("reduction == @reduction and order == @order")
    else:
        rows = load_results(FOLDER / "lossless")
        rows = rows[rows["dataset"].str.contains("lossless" if images.endswith("lossless") else "jpeg")]
    about = real_networks().reset_index()
    about = about[about["images"] == (images if images == _PHOTOGRAPHS else _CIFAR)]
    words = ["layer", "kind", "activation", "depth", "width"]
    means = rows.groupby(["model", "index", *words], as_index=False, sort=False).mean(numeric_only=True)
    return about[["model", "network", "family", "accuracy"]].merge(means, on="model")


def real_multiverses(images: str = "photographs") -> pd.DataFrame:
    """The same under every specification: what the network is, ``kind``, the words of the specification, ``score``."""
    about = real_networks().reset_index().query("images == @images")
    found = [*stored_multiverses(MULTIVERSES), *stored_multiverses(FOLDER / "multiverses")]
    trained = [one for one in found if one.metadata["weights"] != "random"]
    tables = [one.table.assign(model=one.metadata["model"]) for one in trained]
    return about[["model", "network", "family", "accuracy"]].merge(pd.concat(tables, ignore_index=True), on="model")
