"""The nine activation functions that figures 6 and 7 compare, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.transport import AffinityScore

Activation: TypeAlias = Callable[[Tensor], Tensor]
"""A function that acts on each entry of a tensor."""

ACTIVATIONS: Mapping[str, Activation] = MappingProxyType({
    "gelu": F.gelu, "hardswish": F.hardswish, "hardtanh": F.hardtanh, "leaky_relu": F.leaky_relu, "relu": F.relu,
    "relu6": F.relu6, "sigmoid": torch.sigmoid, "silu": F.silu, "tanh": torch.tanh,
})  # fmt: skip
"""The nine activations of figures 6 and 7, as PyTorch computes them; the slope of LeakyReLU is 0.01."""


def named_activations(activations: Sequence[str] | Mapping[str, Activation]) -> dict[str, Activation]:
    """The functions that are meant by names or by a mapping.

    >>> list(named_activations(["relu", "tanh"]))
    ['relu', 'tanh']
    """
    if not isinstance(activations, Mapping):
        names = [activations] if isinstance(activations, str) else list(activations)
        if unknown := [name for name in names if name not in ACTIVATIONS]:
            raise AffscoreError(f"there is no activation {unknown[0]!r}; known are {', '.join(ACTIVATIONS)}")
        activations = {name: ACTIVATIONS[name] for name in names}
    if not activations:
        raise AffscoreError("expected at least one activation, got none")
    return dict(activations)


def activation_graphs(
    activations: Sequence[str] | Mapping[str, Activation] = tuple(ACTIVATIONS),
    low: float = -21.0,
    high: float = 21.0,
    points: int = 801,
) -> pd.DataFrame:
    """The values of activations on an interval.

    Args:
        activations: Names from :data:`ACTIVATIONS`, or functions of tensors by name.
        low: Lower end of the interval.
        high: Upper end.
        points: At how many places, equally spaced.

    Returns:
        A row for each place (the index), a column for each activation.

    Raises:
        AffscoreError: An unknown activation.

    >>> activation_graphs(["relu"], -1, 1, points=3)["relu"].tolist()
    [0.0, 0.0, 1.0]
    """
    x = torch.linspace(low, high, points, dtype=torch.float64)
    graphs = {name: function(x).numpy() for name, function in named_activations(activations).items()}
    return pd.DataFrame(graphs, index=x.numpy())


def score_row(score: AffinityScore) -> dict[str, Any]:
    """The columns that tables of scores share: score, raw, pairing_optimal, bound_exceeded."""
    others = ("raw", "pairing_optimal", "bound_exceeded")
    return {"score": score.value, **{name: getattr(score, name) for name in others}}
