"""The nine activation functions that figures 6 and 7 compare, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from affscore.errors import AffscoreError

__all__ = ["ACTIVATIONS", "Activation", "named_activations"]

Activation: TypeAlias = Callable[[Tensor], Tensor]
"""A function that acts on each entry of a tensor."""

ACTIVATIONS: Mapping[str, Activation] = MappingProxyType(
    {
        "gelu": F.gelu,
        "hardswish": F.hardswish,
        "hardtanh": F.hardtanh,
        "leaky_relu": F.leaky_relu,
        "relu": F.relu,
        "relu6": F.relu6,
        "sigmoid": torch.sigmoid,
        "silu": F.silu,
        "tanh": torch.tanh,
    }
)
"""The nine activations of figures 6 and 7, as PyTorch computes them; the slope of LeakyReLU is 0.01."""


def named_activations(activations: Sequence[str] | Mapping[str, Activation]) -> dict[str, Activation]:
    """The functions that are meant by names or by a mapping.

    >>> list(named_activations(["relu", "tanh"]))
    ['relu', 'tanh']
    """
    if isinstance(activations, Mapping):
        functions: dict[str, Activation] = dict(activations)
    else:
        names = [activations] if isinstance(activations, str) else list(activations)
        unknown = [name for name in names if name not in ACTIVATIONS]
        if unknown:
            raise AffscoreError(f"there is no activation {unknown[0]!r}; known are {', '.join(ACTIVATIONS)}")
        functions = {name: ACTIVATIONS[name] for name in names}
    if not functions:
        raise AffscoreError("expected at least one activation, got none")
    return functions
