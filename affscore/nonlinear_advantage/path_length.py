"""How many non-linear units a path through a network meets on average, and how many stand side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd
import torch
from torch import nn

from affscore.errors import AffscoreError
from affscore.models.card import check_has_weights
from affscore.nonlinear_advantage.example import run_on_example
from affscore.nonlinear_advantage.following import counts_of_outputs
from affscore.nonlinear_advantage.prelu import existing_slopes
from affscore.recorder.model_state import unwrapped


def average_path_length(model: nn.Module, example_input: Any = None, normalized: bool = True) -> float:
    r"""The average number of non-linear units on a path from the input to the output of a network.

    A path is a chain of channels. A unit is a channel of an activation; it counts where it is not linear: a PReLU whose
    slope is exactly 1 counts 0.

    .. math:: \mathrm{APL} = \frac{1}{|\mathcal P|} \sum_{p} \ell(p), \qquad \mathrm{NAPL} = \sum_{p} \pi(p)\,\ell(p)

    :math:`\pi` goes from the output back to the input, and takes each of the two branches of an addition with
    probability 1/2, and each channel that an operation mixes with the same probability. It is a property of the graph
    and the slopes; the example only runs the network once. Where loops or branches depend on the data, it is that of
    the graph that the example takes.

    What the paper does not state, and we chose:

    * One edge joins two channels, whatever the size of the kernel; weights of 0 are edges, too.
    * Every elementwise activation counts, also those that :func:`to_prelu` leaves; h * relu(h) is one. Max pooling,
      softmax, normalisations and products are not counted.
    * A sum x + a + b is two additions, as it is written. Concatenation joins channels.
    * What softmax or a sigmoid returns are weights: of weights times features the paths go through the features. So
      attention is a linear branch that mixes positions, which multiply no paths, and units that only feed a gate
      (squeeze and excitation) or attention weights are on no path. In any other product both factors are branches.

    Args:
        model: The network, as it is or from :func:`to_prelu`.
        example_input: As in :func:`to_prelu`; one sample is enough.
        normalized: Whether NAPL is computed; else APL.

    Raises:
        AffscoreError: The network fails, or a path leads through an operation that cannot be followed (the message
            names it), or its output is not one tensor.

    Source: Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023), figure 1; the recursion is ours.

    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> average_path_length(net, torch.zeros(1, 4))
    2.0
    """
    if not isinstance(normalized, bool):
        raise AffscoreError(f"normalized must be True (NAPL) or False (APL), got {normalized!r}")
    model = unwrapped(model)
    check_has_weights(model, type(model).__name__)
    outputs = run_on_example(model, example_input, lambda example: counts_of_outputs(model, example))
    if len(outputs) != 1:
        raise AffscoreError(
            f"the network must return one tensor for its paths to end in, got {len(outputs)}; wrap it in a module that "
            "returns the one that counts"
        )
    counts = outputs[0]
    if counts is None or not bool((counts.paths > -torch.inf).any()):
        raise AffscoreError("no path leads from the input to the output, as far as functions of PyTorch show")
    if counts.lost:
        raise AffscoreError(
            f"the paths through this network cannot be followed: {counts.lost}; give a network without it"
        )
    if normalized:
        return float(counts.expected[counts.paths > -torch.inf].mean())
    return float((torch.softmax(counts.paths.flatten(), 0) * counts.length.flatten()).sum())


def active_channels(model: nn.Module) -> pd.DataFrame:
    """A row for each channel-wise activation of a network of :func:`to_prelu`, in the order of its modules.

    Returns:
        ``layer`` and ``call`` as in the signature of the original network, ``channels`` (how many there are),
        ``active`` (how many have a slope other than 1).

    Raises:
        AffscoreError: The network has no such slopes.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> net = to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    >>> net[1].weight.data[0] = 1
    >>> active_channels(net).values.tolist()
    [['1', 0, 3, 2]]
    """
    units = existing_slopes(model).items()
    rows = [(layer, call, unit.num_parameters, int((unit.slope != 1).sum())) for (layer, call), unit in units]
    return pd.DataFrame(rows, columns=["layer", "call", "channels", "active"])


def effective_width(model: nn.Module) -> float:
    """The mean number of channels that are not linear, over the activations that have any; 0.0 where none has.

    Our definition: the paper's was not at hand. The effective depth is :func:`average_path_length`.

    Raises:
        AffscoreError: The network has no such slopes.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> effective_width(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 5), nn.ReLU())))
    4.0
    """
    active = active_channels(model)["active"]
    return float(active[active > 0].mean()) if bool((active > 0).any()) else 0.0
