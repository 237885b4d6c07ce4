"""The groups in which the papers compare networks."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from affscore.papers.networks import network_table
from affscore.papers.printed import printed_table

FIRST_PAPER_GROUPS = {
    "Traditional and residual": ("Pure convnets", "ResNets", "DenseNets"),
    "Efficient": ("SqueezeNets", "ShuffleNets", "ConvNeXts"),
    "Vision transformers": ("ViTs",),
}
"""The three groups of the first paper's section 4.4 (its figure 9), by the families that it names."""

FIRST_PAPER_STATISTICS = ("mean", "std", "min", "max", "max/mean")
"""The five statistics that the first paper chooses from, by the largest correlation with accuracy."""


def study_groups() -> dict[str, list[str]]:
    """The networks of each group of figure 4.

    Source: section 4; the networks are those of figure 14.

    >>> study_groups()["ViTs"]
    ['vit_b_16', 'vit_b_32', 'vit_l_16', 'vit_l_32', 'vit_h_14']
    """
    members = printed_table("study_networks").query("in_figure14 == 1").groupby("figure4_group", sort=False).groups
    return {str(group): list(names) for group, names in members.items()}


def group_of_each() -> dict[str, str]:
    """The group of each network in figure 4, the other way round than :func:`study_groups`.

    >>> group_of_each()["vit_h_14"]
    'ViTs'
    """
    return {name: group for group, names in study_groups().items() for name in names}


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
