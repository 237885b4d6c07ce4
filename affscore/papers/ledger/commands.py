"""The commands with which a reader who has the data gets the missing numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from affscore.papers.protocol import by_printed_reduction

__all__ = ["IMAGENET", "NOISE_IMAGES", "STORE", "survey_command"]

IMAGENET = "imagenet:data/imagenet"
"""Where the validation images are expected to lie, seen from where the command runs."""

STORE = "results"

NOISE_IMAGES = 10_240
"""As many images as CIFAR's test sets have whole batches of 512, and one more."""


def survey_command(models: Iterable[str], datasets: Sequence[str] = (IMAGENET,)) -> str:
    """Measure these networks on these data sets, then ask the ledger.

    Networks with their channels last are measured with the published reduction, which gave the printed numbers.

    Args:
        models: MODEL[@WEIGHTS] of torchvision.
        datasets: SPECs.

    >>> survey_command(["resnet18"])
    'affscore survey --models resnet18 --datasets imagenet:data/imagenet --store results && affscore ledger
    --results results'
    """
    noise = [dataset for dataset in datasets if dataset == "random"]
    rest = [dataset for dataset in datasets if dataset != "random"]
    parts = []
    for reduction, names in by_printed_reduction(models).items():
        way = "" if reduction == "mean" else f" --reductions {reduction}"
        start = f"affscore survey --models {','.join(names)} --datasets"
        if rest:
            parts.append(f"{start} {','.join(rest)}{way} --store {STORE}")
        if noise:
            parts.append(f"{start} random --images {NOISE_IMAGES}{way} --store {STORE}")
    return " && ".join([*parts, f"affscore ledger --results {STORE}"])
