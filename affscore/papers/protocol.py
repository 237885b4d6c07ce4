"""How the printed numbers of a network were measured, measuring them so, and the command that does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from affscore.network.result import Signature
from affscore.options import Specification
from affscore.papers.networks import short_name
from affscore.survey import load_or_measure
from affscore.zoo.sources import torchvision_networks
from affscore.zoo.sources.torchvision_networks import weight_versions

OPTIONS = {"order": "activate-first", "covariance": "ledoit-wolf", "coupling": "exact", "bias": "none", "n": 512}
"""The options of the papers, and of all that is compared with them."""

IMAGENET = "imagenet"
"""The papers' data set: a folder imagenet:DIR."""

IMAGENET_FOLDER = "imagenet:data/imagenet"
"""Where the validation images are expected to lie, seen from where a command runs."""

ASK_AGAIN = "affscore ledger --results results"
"""How a reader asks the ledger again who has measured what is missing."""

NOISE_IMAGES = 10_240
"""As many images of noise as CIFAR's test sets have in whole batches of 512, and one batch more."""

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


def options_of(specification: Specification, name: str) -> dict[str, str]:
    """The options with which a network is measured under a specification, a value for each choice.

    The reduction ``published`` averages over the axes of the published code, which are other ones where channels come
    last; elsewhere it is the mean.

    Args:
        specification: The specification.
        name: The network, without its weights.

    >>> options_of(Specification("published"), "resnet50")["reduction"]
    'mean'
    """
    reduction = printed_reduction(short_name(name)) if specification.reduction == "published" else None
    return {**specification._asdict(), "reduction": reduction or specification.reduction}


PAPERS_CHOICE, PUBLISHED_CODE = Specification(), Specification("published")
"""What the papers say that they do, and what gave their numbers; the two differ where channels come last."""


def other_options(signature: Signature, **wanted: Any) -> list[str]:
    """What of the options is not as in the papers, reductions apart; nothing where all are.

    Args:
        signature: A finished signature.
        wanted: What is wanted instead of the papers' :data:`OPTIONS`.
    """
    found = {"coupling": "exact", "bias": "none", **signature.metadata}
    return [
        f"{key} is {found.get(key, '')} and not {value}"
        for key, value in {**OPTIONS, **wanted}.items()
        if str(found.get(key, "")) != str(value)
    ]


def not_as_printed(
    signature: Signature, dataset: str = IMAGENET, specification: Specification = PUBLISHED_CODE
) -> list[str]:
    """Why a result is not the same measurement as the printed ones: nothing where it is.

    The same are torchvision's networks with their default weights, since the accuracies in figure 4 are theirs
    (:mod:`affscore.papers.alexnet_to_transformers.figure_04`), batches of 512 images, at least two of them, and the
    reduction that gave the printed numbers: another one moves scores by 0.1 to 0.3.

    Args:
        signature: A finished signature.
        dataset: ``imagenet``, or another data set of figure 15.
        specification: What is asked for instead of the papers' choice, all else being the same.

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
    wanted, reduction = options_of(specification, name), signature.metadata.get("reduction")
    if reduction != (other := wanted.pop("reduction")):
        reasons.append(f"the reduction is {reduction} and not {other}")
    reasons += other_options(signature, **wanted)
    batches = int(signature.table["batch"].nunique())
    return reasons + ([f"there is {batches} batch and not at least two"] if batches < 2 else [])


def few_images(signatures: Mapping[str, Signature]) -> list[str]:
    """That networks were not measured on all images of the validation set, in words; nothing where they were.

    Args:
        signatures: Some of the papers' networks on ImageNet.
    """
    counts = {int(one.metadata.get("images", 0)) for one in signatures.values()}
    return sorted(f"on {count} of the 50,000 images" for count in counts if count < 49_000)


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
        options: Those of :func:`affscore.survey.load_or_measure`.

    Returns:
        A signature for each of the models, by its name as it was given.

    Raises:
        AffscoreError: As :func:`affscore.survey.load_or_measure`.
    """
    models = list(models)
    found: dict[str, Signature] = {}
    for reduction, networks in by_printed_reduction(models).items():
        found |= load_or_measure(networks, dataset, store, reduction=reduction, **options)
    return {model: found[model] for model in models}


def survey_command(models: Iterable[str], datasets: Sequence[str] = (IMAGENET_FOLDER,)) -> str:
    """The command with which a reader who has the data measures these networks, and asks the ledger again.

    Networks with their channels last are measured with the published reduction, which gave the printed numbers.

    Args:
        models: MODEL[@WEIGHTS] of torchvision.
        datasets: SPECs.

    >>> survey_command(["resnet18"])
    'affscore survey --models resnet18 --datasets imagenet:data/imagenet --store results && affscore ledger
    --results results'
    """
    images = ",".join(dataset for dataset in datasets if dataset != "random")
    noise = f"random --images {NOISE_IMAGES}" if "random" in datasets else ""
    parts = []
    for reduction, names in by_printed_reduction(models).items():
        way = "" if reduction == "mean" else f" --reductions {reduction}"
        for data in filter(None, (images, noise)):
            parts.append(f"affscore survey --models {','.join(names)} --datasets {data}{way} --store results")
    return " && ".join([*parts, ASK_AGAIN])
