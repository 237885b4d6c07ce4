"""What the networks of the mini zoo reach, on the digits and on the hard task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from affscore.errors import AffscoreError
from affscore.figures.style import PALETTE, house_style, legend_below, name_rows, page, series_style

_OTHER = "no group"


@house_style()
def zoo_accuracies(models: pd.DataFrame, hard: pd.DataFrame) -> Figure:
    """Draw the accuracies of small networks: a line for each, those of one group together.

    Args:
        models: Columns ``name``, ``accuracy``, ``accuracy_standard_error`` (both in percent) and ``group``, as
            :func:`affscore.zoo.list_models` gives them.
        hard: Columns ``name``, ``seed``, ``accuracy``, as :func:`affscore.zoo.hard_task` gives them.

    Returns:
        The figure, as wide as a page: left the accuracy on the digits with a bar of one standard error to either
        side, right those on the hard task, a small dot for each seed and the group's marker at their mean.

    Raises:
        AffscoreError: No network, or one without a result on the hard task.

    >>> models = pd.DataFrame({"name": ["a"], "accuracy": [98.0], "accuracy_standard_error": [0.5], "group": ["ViTs"]})
    >>> figure = zoo_accuracies(models, pd.DataFrame({"name": ["a", "a"], "seed": [0, 1], "accuracy": [50.0, 54.0]}))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['accuracy on the digits, %', 'accuracy on the hard task, %']
    """
    missing = ", ".join(sorted(set(models["name"]) - set(hard["name"])))
    if models.empty or missing:
        missing = missing or "any"
        raise AffscoreError(f"every network needs a result on the hard task, got none for {missing}; run make zoo")
    groups = models["group"].fillna(_OTHER)
    names = sorted(dict.fromkeys(groups), key=lambda group: group == _OTHER)  # those without a group at the end
    order = models.assign(group=groups).sort_values("group", key=lambda group: group.map(names.index), kind="stable")
    figure, (left, right) = page(2, 1.2 + 0.15 * len(order), sharey=True)
    rows = pd.Series(np.arange(len(order)), index=order["name"])
    for number, (group, members) in enumerate(order.groupby("group", sort=False)):
        look: Any = {"linestyle": "none", **series_style(number)}
        heights = rows[members["name"]].to_numpy()
        left.errorbar(members["accuracy"], heights, xerr=members["accuracy_standard_error"], label=group, **look)
        seeds = hard[hard["name"].isin(members["name"])]
        right.scatter(seeds["accuracy"], rows[seeds["name"]], s=5, color=PALETTE["grey"], zorder=1)
        right.plot(seeds.groupby("name")["accuracy"].mean()[members["name"]], heights, **look)
    name_rows(left, list(order["name"]))
    left.set(xlabel="accuracy on the digits, %", ylim=(len(order) - 0.5, -0.5))
    right.set_xlabel("accuracy on the hard task, %")
    for axes in (left, right):
        axes.grid(axis="y", color=PALETTE["grey"], linewidth=0.3)
        axes.tick_params(axis="y", length=0, labelsize=7.5)
    legend_below(figure, 3)
    return figure
