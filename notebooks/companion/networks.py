"""What is known of networks by their names: family, year, group, and how their printed numbers were measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from affscore.errors import AffscoreError
from companion.characteristics import architecture_of
from companion.printed import printed_table

IMAGENET_FOLDER = "imagenet:data/imagenet"
"""Where the validation images are expected to lie, seen from where a command runs."""

ASK_AGAIN = "python -m companion.ledger --results results"
"""How a reader asks the ledger again who has measured what is missing."""

NOISE_IMAGES = 10_240
"""As many images of noise as CIFAR's test sets have in whole batches of 512, and one batch more."""

CHANNELS_LAST = ("vit", "swin", "convnext", "maxvit")
"""Networks whose activations have their channels last: there the published code averages over other axes."""

_TITLES = {
    "alexnet": "AlexNet", "vgg": "VGG-", "googlenet": "GoogLeNet", "inception_v": "Inception v", "resnet": "ResNet-",
    "plainnet": "plain-", "squeezenet": "SqueezeNet ", "densenet": "DenseNet-", "mobilenet_v": "MobileNetV",
    "shufflenet_v2_x": "ShuffleNetV2 ", "mnasnet": "MNASNet ", "efficientnet_b": "EfficientNet-B", "vit_": "ViT-",
    "swin_": "Swin-", "convnext_": "ConvNeXt ", "digitsnet": "DigitsNet",
}  # fmt: skip
"""What stands in place of the beginning of a name."""

FIRST_PAPER_GROUPS = {
    "Traditional and residual": ("Pure convnets", "ResNets", "DenseNets"),
    "Efficient": ("SqueezeNets", "ShuffleNets", "ConvNeXts"),
    "Vision transformers": ("ViTs",),
}
"""The three groups of the first paper's section 4.4 (its figure 9), by the families that it names."""

FIRST_PAPER_STATISTICS = ("mean", "std", "min", "max", "max/mean")
"""The five statistics that the first paper chooses from, by the largest correlation with accuracy."""


def study_models(prefix: str = "mini:") -> list[str]:
    """The 36 networks of the paper's study, oldest first, as names that the library knows.

    Args:
        prefix: What stands before each name: ``mini:`` for the small members of the same families, nothing
            for torchvision's own.

    Source: section 4 and figure 14 of the paper.

    >>> names = study_models()
    >>> len(names), names[0], names[-1]
    (36, 'mini:alexnet', 'mini:convnext_large')
    """
    return [f"{prefix}{name}" for name in printed_table("study_networks").query("in_figure14 == 1").index]


def short_name(model: str) -> str:
    """The bare name of a network, without where it comes from and without its weights.

    Args:
        model: MODEL or MODEL@WEIGHTS.

    >>> [short_name(model) for model in ("mini:resnet50", "resnet50@IMAGENET1K_V1", "my_file.py:resnet50")]
    ['resnet50', 'resnet50', 'resnet50']
    """
    return model.partition("@")[0].rpartition(":")[2]


def network_title(model: str) -> str:
    """The name of a network as papers write it; one that none of them has keeps its own.

    >>> [network_title(name) for name in ("mini:vgg16", "vit_b_16", "mnasnet0_5", "file.py:plainnet20", "mine")]
    ['VGG-16', 'ViT-B/16', 'MNASNet 0.5', 'plain-20', 'mine']
    """
    name = short_name(model)
    begins = next((begins for begins in _TITLES if name.startswith(begins)), "")
    rest = re.sub(r"(?<=\d)_(?=\d)", ".", name.removeprefix(begins))
    return _TITLES.get(begins, "") + (rest.replace("_", "/").upper() if begins in ("vit_", "swin_") else rest)


def network_table(models: Iterable[str]) -> pd.DataFrame:
    """Family, group and year of networks, by their names.

    A network of the study has what the paper says of it. Another one that is named as torchvision names it has
    the family and the year of its architecture, and no group. Any other is a family of its own, without a year.

    Args:
        models: MODEL or MODEL@WEIGHTS, each.

    Returns:
        A row for each of the models, by its name as it was given; columns ``name`` (the short name), ``family``,
        ``group`` (of figure 4, else missing) and ``year`` (else missing).

    Raises:
        AffscoreError: A model that is named twice, or what is no name.

    Source: section 4 of the paper; for other architectures the years of their publications.

    >>> network_table(["mini:vgg11", "squeezenet1_1@DEFAULT", "my_file.py:net"])[["family", "year"]].values.tolist()
    [['Pure convnets', 2014], ['SqueezeNets', 2016], ['net', <NA>]]
    """
    models = list(models)
    if twice := sorted({model for model in models if models.count(model) > 1}):
        raise AffscoreError(f"each network must be named once, got {', '.join(twice)} more than once")
    study = printed_table("study_networks").query("in_figure14 == 1")[["family", "figure4_group", "year"]]

    def family_group_and_year(name: str) -> tuple[object, ...]:
        if name in study.index:
            return tuple(study.loc[name])
        architecture = architecture_of(name)
        return (architecture.family, None, architecture.year) if architecture else (name, None, None)

    rows = [(name, *family_group_and_year(name)) for name in map(short_name, models)]
    columns = ["name", "family", "group", "year"]
    table = pd.DataFrame(rows, index=pd.Index(models, dtype=object), columns=columns, dtype=object)
    return table.astype({"year": "Int64"})


def study_groups() -> dict[str, list[str]]:
    """The networks of each group of figure 4.

    Source: section 4; the networks are those of figure 14.

    >>> study_groups()["ViTs"]
    ['vit_b_16', 'vit_b_32', 'vit_l_16', 'vit_l_32', 'vit_h_14']
    """
    members = printed_table("study_networks").query("in_figure14 == 1").groupby("figure4_group", sort=False).groups
    return {str(group): list(names) for group, names in members.items()}


def accuracy_groups(models: Iterable[str]) -> pd.DataFrame:
    """The family of networks, and their groups in figure 4 of the paper and figure 9 of the first one.

    Args:
        models: MODEL or MODEL@WEIGHTS, each.

    Returns:
        A row for each of the models, by its name as it was given; columns ``name``, ``family``, ``group`` and
        ``first_paper_group``, the last two missing for networks that are in none.

    Raises:
        AffscoreError: A model that is named twice.

    >>> accuracy_groups(["mini:vgg11", "squeezenet1_0"])[["group", "first_paper_group"]].fillna("").values.tolist()
    [['Pre-residual', 'Traditional and residual'], ['', 'Efficient']]
    """
    table = network_table(models)[["name", "family", "group"]]
    of_family = {family: group for group, families in FIRST_PAPER_GROUPS.items() for family in families}
    return table.assign(first_paper_group=table["family"].map(of_family).astype(object))


def table_1_families(models: Iterable[str]) -> dict[str, str]:
    """The families of table 1, which has the VGGs apart from AlexNet.

    Args:
        models: MODEL or MODEL@WEIGHTS, each.

    >>> table_1_families(["alexnet", "mini:vgg11", "resnet18"])
    {'alexnet': 'AlexNet', 'mini:vgg11': 'VGGs', 'resnet18': 'ResNets'}
    """
    table = network_table(models)
    family = table["family"].where(~table["name"].str.startswith("vgg"), "VGGs")
    return {str(model): str(name) for model, name in family.where(table["name"] != "alexnet", "AlexNet").items()}


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


def survey_command(models: Iterable[str], datasets: Sequence[str] = (IMAGENET_FOLDER,)) -> str:
    """The command with which a reader who has the data measures these networks, and asks the ledger again.

    Networks with their channels last are measured with the published reduction, which gave the printed numbers.

    Args:
        models: MODEL[@WEIGHTS] of torchvision.
        datasets: SPECs.

    >>> survey_command(["resnet18"])
    'affscore survey --models resnet18 --datasets imagenet:data/imagenet --store results && python -m companion.ledger
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


def networks() -> list[str]:
    """The networks that the figure names.

    >>> len(networks())
    33
    """
    return [str(name) for name in printed_table("study_networks").query("in_figure15 == 1").index]
