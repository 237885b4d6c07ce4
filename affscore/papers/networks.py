"""What is known of networks by their names: family, year and group, as in the study of the paper."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from affscore.errors import AffscoreError
from affscore.papers.printed import printed_table
from affscore.zoo.card import architecture_of


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


def short_names(models: Iterable[str]) -> dict[str, str]:
    """The bare names of several networks, for labels: as short as they can be and still differ.

    Args:
        models: MODEL or MODEL@WEIGHTS, each.

    Returns:
        The short name of each model; the name as it was given where two have the same short one.

    >>> short_names(["mini:vgg11", "resnet50@IMAGENET1K_V1", "resnet50@IMAGENET1K_V2"])
    {'mini:vgg11': 'vgg11', 'resnet50@IMAGENET1K_V1': 'resnet50@IMAGENET1K_V1',
     'resnet50@IMAGENET1K_V2': 'resnet50@IMAGENET1K_V2'}
    """
    models = list(models)
    short = [short_name(model) for model in models]
    return {model: name if short.count(name) == 1 else model for model, name in zip(models, short, strict=True)}


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
    if isinstance(models, str):
        raise AffscoreError(f"expected a list of networks, got the text {models!r}; write [{models!r}]")
    models = list(models)
    if wrong := [model for model in models if not isinstance(model, str)]:
        raise AffscoreError(f"networks are given by their names, got {wrong[0]!r}")
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
