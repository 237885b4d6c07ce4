"""How the printed numbers of a network were measured, and measuring them so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from affscore.analysis.networks import short_name
from affscore.network.result import Signature
from affscore.survey import kept_signatures

__all__ = ["CHANNELS_LAST", "by_printed_reduction", "measure_as_printed", "printed_reduction"]

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
