"""How many channels of each activation are not linear. These are our definitions: the paper's was not at hand."""

from __future__ import annotations

import pandas as pd
from torch import nn

from affscore.nonlinear_advantage.prelu import existing_slopes


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

    Our definition. The effective depth is :func:`average_path_length`.

    Raises:
        AffscoreError: The network has no such slopes.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> effective_width(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 5), nn.ReLU())))
    4.0
    """
    active = active_channels(model)["active"]
    return float(active[active > 0].mean()) if bool((active > 0).any()) else 0.0
