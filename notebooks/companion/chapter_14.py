"""Chapter 14: language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from torch import Tensor

from affscore.network.reduction import reduce
from affscore.plots.signature import FEW
from affscore.plots.style import PALETTE, house_style, legend_below, literal, page, score_axis, series_style
from companion.answers import as_function, call
from companion.exercises import Hints, exercise, right
from companion.style import narrow


@house_style()
def scores_along(panels: Mapping[str, pd.DataFrame], by: str, xlabel: str, *, doubling: bool = False) -> Figure:
    """Draw the score of each activation along something: a thin line for each repetition, and a thick one for the mean.

    Args:
        panels: For each title a row for each activation (``index``), value of ``by`` and repetition (a seed), with the
            ``score``.
        by: What is on the horizontal axis, a column of numbers from 0.
        xlabel: What that is called.
        doubling: Whether the axis is logarithmic, with 1 added to every number, as positions of a text are counted.

    Returns:
        The figure, its panels below each other: one for each title.

    >>> rows = [(step, index, seed, 0.9 - 0.1 * step) for step in (0, 1) for index in (0, 1) for seed in (1, 2)]
    >>> table = pd.DataFrame(rows, columns=["step", "index", "seed", "score"])
    >>> figure = scores_along({"net": table}, "step", "steps")
    >>> len(figure.axes[0].lines), figure.axes[0].get_xlabel()
    (5, 'steps')
    """
    labels = {"xlabel": xlabel, "ylabel": "score"}
    figure, grid = page(len(panels), 1.0, each=1.9, columns=1, sharex=True, sharey=True, **labels)
    narrow(figure)
    activations = sorted({index for rows in panels.values() for index in rows["index"]})
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        places = sorted(set(rows[by] + doubling))
        for place, activation in enumerate(activations):
            look: Any = {"color": series_style(place)["color"], "linewidth": 0.8, "alpha": 0.8}
            lines = rows[rows["index"] == activation].pivot_table("score", by, "seed")
            for number, seed in enumerate(lines):
                label = None if number else f"activation {place + 1}"
                axes.plot(lines.index + doubling, lines[seed], "-", label=label, **look)
        mean = rows.groupby(by)["score"].mean()
        marker = "o" if len(places) <= FEW else ""
        thick: Any = {"color": PALETTE["black"], "marker": marker, "markersize": 4, "linewidth": 2.2}
        axes.plot(mean.index + doubling, mean, linestyle="-", label="mean", **thick)
        axes.set_title(literal(title))
        if doubling:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator(places))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
    score_axis(grid, np.concatenate([rows["score"] for rows in panels.values()]))
    legend_below(figure, min(len(activations) + 1, 5))
    return figure


@exercise("14.1", as_function)
def average_without_padding(function: Callable[..., Any]) -> Hints:
    """The average over the tokens of a text."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(6, 5, 3, generator=generator)
    mask = (torch.arange(5) < torch.tensor([5, 4, 3, 2, 1, 3])[:, None]).long()
    expected = reduce(features, 6, 2, "mean", text=mask.bool())
    found = call(function, features.clone(), mask.clone())
    yield not isinstance(found, Tensor), f"Expected a tensor (n, c), got {type(found).__name__}."
    yield found.shape != expected.shape, f"Expected the shape {tuple(expected.shape)}, got {tuple(found.shape)}."
    yield _same(found, features.mean(dim=1)), "Padding counts still: the mean is over all positions."
    zeros = torch.where(mask.bool()[:, :, None], features, 0)
    yield _same(found, zeros.mean(dim=1)), "The sum is right. By how many tokens is it to be divided?"
    yield not _same(found, expected), "These are not the means over the tokens whose mask is 1."
    spoiled = torch.where(mask.bool()[:, :, None], features, float("nan"))
    again = call(function, spoiled, mask.clone())
    yield not isinstance(again, Tensor) or not _same(again, expected), "Where padding holds NaN, so does the answer."
    yield True, right("The library does the same where the data has an attention_mask.")


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one.float(), other.float(), atol=1e-5)
