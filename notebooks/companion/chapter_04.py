"""Chapter 4: the ranges that scores have in trained networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import torch
import torchvision
from matplotlib.figure import Figure
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.plots.style import house_style, legend_below, name_rows, page, series_style
from affscore.recorder import ActivationCall, recording
from affscore.recorder.model_state import prepared, unwrapped
from companion.answers import NotAnAnswerError, as_function, as_number, matching, raised
from companion.exercises import Hints, exercise, right

RANGE = {"lowest": 0.0, "low": 0.05, "median": 0.5, "high": 0.95, "highest": 1.0}
"""The columns of a reference range, and the quantiles that they are."""

_ACTIVATION = ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling", "index")


def reference_ranges(results: pd.DataFrame, by: Sequence[str] = ("kind", "activation")) -> pd.DataFrame:
    """Quantiles of the scores of many networks, by what an activation is or where it stands.

    Each activation counts once, with its mean score over the batches. The activations of a network are not independent,
    so these are descriptions and no intervals of confidence: see ``networks`` for how many there are.

    Args:
        results: Rows as :func:`affscore.load_results` returns them, of one specification.
        by: Columns that make groups.

    Returns:
        A row for each group, the largest first: ``networks``, ``activations``, and the columns of :data:`RANGE`.

    Raises:
        AffscoreError: A column is missing, there is no score, or the scores are of several specifications, which cannot
            be compared.

    >>> rows = pd.DataFrame({"model": "a", "index": range(21), "kind": "hidden", "score": [i / 20 for i in range(21)]})
    >>> reference_ranges(rows, ["kind"]).loc["hidden", ["activations", "low", "median", "high"]].tolist()
    [21.0, 0.05, 0.5, 0.95]
    """
    for name in ("reduction", "order", "covariance", "coupling"):
        found = sorted(map(str, set(results[name]))) if name in results else []
        if len(found) > 1:
            words = ", ".join(found)
            raise AffscoreError(f"the scores are of several specifications ({name}: {words}); choose one of them")
    each = [name for name in _ACTIVATION if name in results and name not in by]
    scores = results.dropna(subset="score").groupby([*each, *by], sort=False)["score"].mean().reset_index()
    if scores.empty:
        raise AffscoreError("there is no score in these results")
    groups = scores.groupby(list(by), sort=False)
    table = groups.agg(networks=("model", "nunique"), activations=("score", "size"))
    table = table.assign(**{name: groups["score"].quantile(share) for name, share in RANGE.items()})
    return table.sort_values("activations", ascending=False, kind="stable")


@house_style()
def score_ranges(ranges: pd.DataFrame, names: Sequence[str], groups: Sequence[str]) -> Figure:
    """Draw reference ranges as bars with their medians, a row for each.

    Args:
        ranges: Rows of :func:`companion.chapter_04.reference_ranges`, from the top.
        names: What to call each row.
        groups: The group of each row (what the networks saw, say), which has a colour and a marker.

    Returns:
        The figure, as wide as a page: a line from the lowest to the highest score, a bar over the middle nine tenths,
        the median as a marker. The axis is fitted to the scores.

    Raises:
        AffscoreError: No rows, or not a name and a group for each.

    >>> rows = pd.DataFrame({"lowest": [0.5], "low": [0.6], "median": [0.7], "high": [0.8], "highest": [0.9]})
    >>> score_ranges(rows, ["after a sum"], ["CIFAR-10"]).axes[0].get_yticklabels()[0].get_text()
    'after a sum'
    """
    if ranges.empty or not len(ranges) == len(names) == len(groups):
        raise AffscoreError(f"expected a name and a group for each of {len(ranges)} ranges")
    looks = {name: series_style(number) for number, name in enumerate(dict.fromkeys(groups))}
    figure, (axes,) = page(1, 0.9 + 0.24 * len(ranges))
    values = ranges[["lowest", "low", "median", "high", "highest"]].to_numpy(dtype=float)
    for row, ((lowest, low, median, high, highest), group) in enumerate(zip(values, groups, strict=True)):
        colour = looks[group]["color"]
        axes.hlines(row, lowest, highest, color=colour, linewidth=1.0)
        axes.hlines(row, low, high, color=colour, linewidth=6.0, alpha=0.45)
        axes.plot(median, row, label=group, linestyle="", markersize=6, **looks[group])
    name_rows(axes, names)
    axes.set(xlabel="affinity score (axis fitted; 1 is affine)", xlim=(None, 1.005))
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    legend_below(figure, len(looks), title="median, middle nine tenths, and whole range, on")
    return figure


WIDTH = 10
"""Length of the vectors that the network of exercise 4.2 is fed."""


@exercise("4.1", as_number)
def length_of_a_signature(number: float) -> Hints:
    """How many scores the signature of torchvision's ResNet-34 has, an integer."""
    network = torchvision.models.resnet34(weights=None)
    calls = len(_calls(network, torch.zeros(1, 3, 64, 64)))
    modules = sum(isinstance(module, nn.ReLU) for module in network.modules())
    answers = (
        (calls, right("One in the stem and two in each of the sixteen blocks, whose one module is called twice.")),
        (modules, "These are the modules. How often is the ReLU of a block called?"),
        (calls - 1, "Very close: is there an activation before the first block?"),
        (calls + 1, "Very close: does an activation follow the last linear layer?"),
        (number != int(number), "Expected an integer: one for each call of an activation."),
        (True, "Count the blocks of each stage and the calls in a block; the shortcuts have none."),
    )
    return matching(number, answers, 0)


@exercise("4.2", as_function, "a network, a torch.nn.Module")
def parallel_branches(answer: Any) -> Hints:
    """A module for inputs (N, 10) with at least six activation calls and a largest depth of three."""
    is_class = isinstance(answer, type) and issubclass(answer, nn.Module)
    yield is_class, "Expected a network, got the class: call it once, Network()."
    network = unwrapped(answer)  # raises a message for what is no module
    try:
        calls = _calls(network, torch.zeros(4, WIDTH))
    except (Exception, SystemExit) as reason:  # whatever a student's network raises is theirs to see
        raise NotAnAnswerError(f"Your network fails on an input of shape (4, {WIDTH}): {raised(reason)}") from reason
    number, depth = len(calls), max((c.depth for c in calls), default=0)
    side_by_side = f"{number} activations, none deeper than {depth}: some of them run side by side."
    yield number >= 6 and depth == 3, right(side_by_side)
    yield not calls, "No activation was called. A module that is only defined does not count."
    yield number < 6, f"Only {number} activation calls depend on the input; at least six are asked for."
    yield depth == number, f"All {number} activations follow one another. Which could start from the same tensor?"
    yield True, f"{number} activations are enough, but the longest path through them has {depth}, not 3."


def _calls(network: nn.Module, inputs: Tensor) -> list[ActivationCall]:
    """The activation calls of one forward pass in evaluation mode."""
    with prepared(network, inputs.device) as model, torch.no_grad(), recording(model) as recorder:
        recorder.start(inputs)
        model(inputs)
    return recorder.calls
