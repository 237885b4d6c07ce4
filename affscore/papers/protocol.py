"""How the printed numbers of a network were measured, and measuring them so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from affscore.network.result import Signature
from affscore.papers.networks import short_name
from affscore.survey import kept_signatures
from affscore.zoo.characteristics import weight_versions
from affscore.zoo.sources import torchvision_networks

__all__ = [
    "CHANNELS_LAST",
    "IMAGENET",
    "N",
    "by_printed_reduction",
    "measure_as_printed",
    "measured_alike",
    "not_as_printed",
    "printed_reduction",
]

N = 512
"""Images in a batch, in the papers and in all that is held against them."""

IMAGENET = "imagenet"
"""The papers' data set: a folder imagenet:DIR."""

CHANNELS_LAST = ("vit", "swin", "convnext", "maxvit")
"""Networks whose activations have their channels last: there the published code averages over other axes."""


def printed_reduction(name: str) -> str:
    """The reduction that gave the printed numbers of a network: the published code's, which for most is the mean.

    Args:
        name: A network of torchvision, without its weights.

    >>> printed_reduction("resnet50"), printed_reduction("swin_t")
    ('mean', 'published')
    """
    return "published" if name.startswith(CHANNELS_LAST) else "mean"


def measured_alike(signature: Signature) -> list[str]:
    """What of the options is not as in the papers, reductions apart; nothing where all are.

    Args:
        signature: A finished signature.
    """
    about = signature.metadata
    wanted = {"order": "activate-first", "covariance": "ledoit-wolf", "coupling": "exact", "n": N}
    found = {key: about.get(key, "exact" if key == "coupling" else "") for key in wanted}
    return [f"{key} is {found[key]} and not {value}" for key, value in wanted.items() if str(found[key]) != str(value)]


def not_as_printed(signature: Signature, dataset: str = IMAGENET) -> list[str]:
    """Why a result is not the same measurement as the printed ones: nothing where it is.

    The same are torchvision's networks with their default weights, since the accuracies in figure 4 are theirs
    (:mod:`affscore.papers.figure_4`), batches of 512 images, at least two of them, and the reduction
    that gave the printed numbers: another one moves scores by 0.1 to 0.3.

    Args:
        signature: A finished signature.
        dataset: ``imagenet``, or another data set of figure 15.

    Returns:
        The reasons, each in words.
    """
    name, weights, on = (str(signature.metadata.get(key, "")) for key in ("model", "weights", "dataset"))
    if name not in torchvision_networks.names():
        return [f"{name} is not torchvision's network"]
    default = weight_versions(name)[:1]
    reasons = [] if [weights] == default else [f"the weights are {weights} and not {' '.join(default) or 'trained'}"]
    if not (on.startswith(f"{IMAGENET}:") if dataset == IMAGENET else on == dataset):
        reasons.append(f"the images are {on} and not {f'{IMAGENET}:DIR' if dataset == IMAGENET else dataset}")
    reduction, wanted = signature.metadata.get("reduction"), printed_reduction(name)
    if reduction != wanted:
        reasons.append(f"the reduction is {reduction} and not {wanted}")
    reasons += measured_alike(signature)
    batches = int(signature.table["batch"].nunique())
    return reasons + ([f"there is {batches} batch and not at least two"] if batches < 2 else [])


def by_printed_reduction(models: Iterable[str]) -> dict[str, list[str]]:
    """Networks by the reduction that gave their printed numbers.

    Args:
        models: MODEL[@WEIGHTS], each.

    >>> by_printed_reduction(["vit_b_16@DEFAULT", "resnet18"])
    {'published': ['vit_b_16@DEFAULT'], 'mean': ['resnet18']}
    """
    found: dict[str, list[str]] = {}
    for model in models:
        found.setdefault(printed_reduction(short_name(model)), []).append(model)
    return found


def measure_as_printed(models: Iterable[str], dataset: str, store: str | Path, **options: Any) -> dict[str, Signature]:
    """The signatures of networks with the reduction that gave their printed numbers; what is missing is measured.

    Args:
        models: MODEL[@WEIGHTS], each.
        dataset: SPEC.
        store: The folder of the store.
        options: Those of :func:`affscore.survey.kept_signatures`.

    Returns:
        A signature for each of the models, by its name as it was given.

    Raises:
        AffscoreError: As :func:`affscore.survey.kept_signatures`.
    """
    models = list(models)
    found: dict[str, Signature] = {}
    for reduction, networks in by_printed_reduction(models).items():
        found |= kept_signatures(networks, dataset, store, reduction=reduction, **options)
    return {model: found[model] for model in models}
