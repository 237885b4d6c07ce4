"""What depth, size and operations explain of accuracy according to figure 4, computed again from public metadata."""

from __future__ import annotations

import pandas as pd

from affscore.analysis import FITS, fit
from affscore.papers.groups import study_groups
from affscore.papers.reference import printed_table
from affscore.zoo.characteristics import characteristics, with_version

__all__ = ["COMMON_CHARACTERISTICS", "common_characteristic_fits", "common_characteristics_again"]

COMMON_CHARACTERISTICS = {"depth": "depth", "num_params": "parameters", "ops": "gflops"}
"""The names in the printed figure, and ours."""

VERSIONS = ("DEFAULT", "IMAGENET1K_V1", "IMAGENET1K_SWAG_E2E_V1", "IMAGENET1K_SWAG_LINEAR_V1")
"""Weights that torchvision states accuracies for; a network without one of them keeps its default."""


def common_characteristic_fits() -> pd.DataFrame:
    """Every R2 that could stand behind the five common characteristics of figure 4.

    The paper says neither which fit nor which weights it used. Accuracies, parameters and operations are those of
    torchvision's metadata; depth is counted by the recorder, as torchvision does not state it.

    Returns:
        A row for each group, choice of weights and fit: ``group``, ``characteristic`` (the one that the paper prints
        for this group), ``weights``, ``fit``, ``points``, ``r2``, ``adjusted_r2``, ``printed``, ``difference`` (r2 -
        printed) and ``adjusted_difference``. Choices of weights that are the same for a whole group stand once, under
        the first of their names: ``DEFAULT``, then ``IMAGENET1K_V1`` and so on; a network that has no weights of a
        name keeps its default.

    >>> table = common_characteristic_fits().set_index(["group", "weights", "fit"])
    >>> table.loc[("ViTs", "DEFAULT", "logarithm"), ["r2", "adjusted_r2", "printed"]].astype(float).round(3).tolist()
    [0.882, 0.842, 0.842]
    """
    printed = printed_table("figure4_r2")
    rows = []
    for group, names in study_groups().items():
        column = COMMON_CHARACTERISTICS[str(printed.loc[group, "best_common_characteristic"])]
        published = printed["common_r2"].astype(float)[group]
        seen: list[list[str]] = []
        for version in VERSIONS:
            models = [with_version(name, version) for name in names]
            if models in seen:
                continue
            seen.append(models)
            table = characteristics(models)
            for kind in FITS:
                found = fit(table[column], table["accuracy"], kind)
                rows.append(
                    {
                        "group": group,
                        "characteristic": column,
                        "weights": version,
                        "fit": kind,
                        "points": found.points,
                        "r2": found.r2,
                        "adjusted_r2": found.adjusted_r2,
                        "printed": published,
                        "difference": found.r2 - published,
                        "adjusted_difference": found.adjusted_r2 - published,
                    }
                )
    return pd.DataFrame(rows)


def common_characteristics_again() -> pd.DataFrame:
    """The five common characteristics of figure 4, by the one definition that gives the printed numbers.

    That is the adjusted R2 of a fit in the logarithm of the characteristic, with torchvision's default weights: it
    agrees with the printed number to 0.001 for the three characteristics of its metadata. With depth as the
    recorder counts it, the other two do not agree: the paper does not say how it counts depth.

    Returns:
        A row for each group, by its name: ``characteristic``, ``points``, ``printed``, ``ours`` and ``difference``
        (ours - printed).

    Source: figure 4.

    >>> common_characteristics_again().loc["Residual", ["printed", "ours"]].astype(float).round(3).tolist()
    [0.666, 0.666]
    """
    table = common_characteristic_fits()
    chosen = table[(table["weights"] == "DEFAULT") & (table["fit"] == "logarithm")].set_index("group")
    renamed = chosen.rename(columns={"adjusted_r2": "ours", "adjusted_difference": "gap"})
    return renamed[["characteristic", "points", "printed", "ours"]].assign(difference=renamed["gap"])
