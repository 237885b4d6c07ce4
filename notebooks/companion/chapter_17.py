"""Chapter 17: training for non-linearity."""

from __future__ import annotations

from typing import Any

import pandas as pd
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from affscore.plots.style import house_style, legend_below, literal, page, score_axis, series_style
from affscore.transport import differentiable_affinity
from companion.answers import as_number
from companion.exercises import Hints, exercise, right
from companion.style import narrow

SMALL = {"vgg8": "mini VGG", "resnet8": "mini ResNet"}
"""What the networks of the study are called on the page."""


@house_style()
def accuracy_by_score(trainings: pd.DataFrame) -> Figure:
    """Draw how accuracy changed by a pull against the mean score it led to, a panel for each network.

    Args:
        trainings: A row for each: ``network``, ``task``, ``target``, ``mean score`` and ``change``, in points.

    >>> rows = pd.DataFrame({"network": ["mini VGG", "mini ResNet"], "task": "hard", "target": "low",
    ...     "mean score": [0.7, 0.6], "change": [-1, -9]})
    >>> [axes.get_title() for axes in accuracy_by_score(rows).axes]
    ['mini VGG', 'mini ResNet']
    """
    panels = list(trainings.groupby("network", sort=False))
    labels = {"xlabel": "mean score", "ylabel": "accuracy minus\nfree (points)"}
    figure, grid = page(len(panels), 0.9, each=1.7, columns=1, sharex=True, sharey=True, **labels)
    narrow(figure)
    for axes, (network, rows) in zip(grid, panels, strict=True):
        axes.axhline(0, color="0.5", linewidth=0.8)
        for number, ((target, task), some) in enumerate(rows.groupby(["target", "task"])):
            colour, marker = series_style(number // 2)["color"], series_style(number % 2)["marker"]
            look: Any = {"linestyle": "", "color": colour, "marker": marker, "label": f"{target}, {task}"}
            axes.plot(some["mean score"], some["change"], markersize=7, alpha=0.8, **look)
        axes.margins(y=0.12)
        axes.set_title(literal(str(network)))
    legend_below(figure, 2)
    return figure


@house_style()
def towards(goals: pd.DataFrame, reached: pd.DataFrame) -> Figure:
    """Draw signatures that were targets, and those of the networks that were trained towards them.

    Args:
        goals: A row for each target, a column for each depth.
        reached: Likewise a row for each ``target``, ``network`` and ``seed``.
    """
    labels = {"xlabel": "activation, in order", "ylabel": "affinity score"}
    figure, grid = page(len(goals), 0.9, each=2.1, columns=1, sharex=True, sharey=True, **labels)
    narrow(figure)
    for axes, (name, goal) in zip(grid, goals.iterrows(), strict=True):
        axes.plot(goal, "-", color="black", linewidth=2.5, label="target")
        towards_it = reached[reached.index.get_level_values("target") == name]
        for number, (network, rows) in enumerate(towards_it.groupby("network", sort=False)):
            look = series_style(number)
            axes.plot(rows.T, "-", color=look["color"], linewidth=0.7, alpha=0.45)
            axes.plot(rows.mean(), "-", **look, markersize=5, label=str(network))
        axes.set_title(f"towards a {literal(name)}")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    score_axis(grid, [*goals.to_numpy().ravel(), *reached.to_numpy().ravel()])
    legend_below(figure, 3)
    return figure


@exercise("17.1", as_number)
def gradient_by_hand(answered: float) -> Hints:
    """The derivative of the paired score of x = (-1, 0, 1) and y = (0, 0, 1) with respect to the last y."""
    y = torch.tensor([[0.0], [0.0], [1.0]], requires_grad=True)
    score = differentiable_affinity(torch.tensor([[-1.0], [0.0], [1.0]]), y)
    (gradient,) = torch.autograd.grad(score, y)
    wanted = float(gradient[2])
    yield answered > wanted + 1e-6, "The variance of y depends on this entry, too."
    yield abs(answered - wanted) > 1e-6, "Multiply all of y by a number: what becomes of the correlation?"
    yield True, right("Moving this entry only stretches y, and a score does not depend on the unit of y.")
