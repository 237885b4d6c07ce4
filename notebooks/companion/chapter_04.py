"""Chapter 4: the signature of a network."""

from __future__ import annotations

from typing import Any

import pandas as pd
import torch
import torchvision
from matplotlib.figure import Figure
from torch import Tensor, nn

from affscore.plots.signature import place_in_words
from affscore.plots.style import house_style, kind_style, legend_below, page, score_axis
from affscore.recorder import ActivationCall, recording
from affscore.recorder.model_state import prepared, unwrapped
from companion.answers import NotAnAnswerError, as_function, as_number, matching, raised
from companion.exercises import Hints, exercise, right
from companion.style import narrow


@house_style()
def scores_and_zeros(rows: pd.DataFrame) -> Figure:
    """Draw the score of each activation over the share of zeros in its output, a panel for each value of ``images``.

    Args:
        rows: ``images``, ``kind``, ``zeros`` and ``score``.

    Returns:
        The figure, its panels below each other.

    >>> rows = pd.DataFrame({"images": "", "kind": ["first", "hidden"], "zeros": [0.8, 0.2], "score": [0.6, 0.9]})
    >>> [text.get_text() for text in scores_and_zeros(rows).legends[0].get_texts()]
    ['first inside a block', 'outside of blocks']
    """
    panels = dict(list(rows.groupby("images", sort=False)))
    what = "share of zeros in the output"
    figure, grid = page(len(panels), 0.9, each=1.9, columns=1, sharex=True, xlabel=what, ylabel="score")
    narrow(figure)
    for axes, (images, some) in zip(grid, panels.items(), strict=True):
        for kind, own in some.groupby("kind"):
            colour, marker = kind_style(str(kind))
            label = place_in_words(str(kind))
            look: Any = {"color": colour, "marker": marker, "linewidths": 0, "alpha": 0.6}
            axes.scatter(own["zeros"], own["score"], 18, label=label, **look)
        axes.set_title(str(images))
    score_axis(grid, rows["score"])
    legend_below(figure, 4)
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
