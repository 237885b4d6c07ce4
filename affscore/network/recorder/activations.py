"""Which functions of PyTorch, and which classes of modules, are an elementwise activation, and what it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.network.recorder.operations import Function, spellings

__all__ = [
    "ACTIVATIONS", "LIBRARY_CLASSES", "NAMED_BY_VALUES", "activation_name", "library_class_name", "name_by_values",
]  # fmt: skip

# Softmax is not elementwise and does not count. Gated units are no entry: the function inside counts (the recorder
# takes F.glu apart).
_NAMES = (
    "relu relu6 leaky_relu prelu rrelu elu selu celu gelu silu mish softplus hardswish hardsigmoid hardtanh sigmoid "
    "logsigmoid tanh erf softsign tanhshrink softshrink hardshrink threshold"
)
ACTIVATIONS: Mapping[Function, str] = {
    **{function: name for name in _NAMES.split() for function in spellings(name)},
    torch.special.expit: "sigmoid",
}
"""Every function that counts, and the name of its activation."""

_CLAMPS = spellings("clamp clamp_min clip")
_CLAMPED: Mapping[tuple[Any, Any], str] = {(0, None): "relu", (0, 6): "relu6"}

LIBRARY_CLASSES: Mapping[str, Mapping[str, str]] = {
    "timm": {
        "GELU": "gelu", "GELUTanh": "gelu", "HardMish": "hard_mish", "HardMishMe": "hard_mish",
        "HardSigmoid": "hardsigmoid", "HardSigmoidMe": "hardsigmoid", "HardSwish": "hardswish",
        "HardSwishMe": "hardswish", "Mish": "mish", "MishMe": "mish", "PReLU": "prelu", "QuickGELU": "quick_gelu",
        "Sigmoid": "sigmoid", "SquaredReLU": "relu_squared", "StarReLU": "star_relu", "Swish": "silu",
        "SwishMe": "silu", "Tanh": "tanh",
    },
    "transformers": {
        "AccurateGELUActivation": "gelu", "BloomGelu": "gelu", "ClippedGELUActivation": "clipped_gelu",
        "FastGELUActivation": "gelu", "GELUActivation": "gelu", "GELUTanh": "gelu", "LaplaceActivation": "laplace",
        "MishActivation": "mish", "NewGELUActivation": "gelu", "PytorchGELUTanh": "gelu",
        "QuickGELUActivation": "quick_gelu", "ReLUSquaredActivation": "relu_squared", "SiLUActivation": "silu",
        "Snake1d": "snake", "SnakeBeta": "snake", "SqrtSoftplusActivation": "sqrt_softplus", "XIELUActivation": "xielu",
    },
}  # fmt: skip
"""Modules of other libraries that count as one activation, whatever they compute it from: by package and class.

The libraries are not imported: a class is known by its name and the package that defines it.
"""

# How far (relative to its largest value) a formula may be from an activation to get its name. The bound takes the usual
# approximations of GELU for GELU, but not x * sigmoid(1.702 x), which has a name of its own.
_SMOOTH, _EXACT = 1e-3, 1e-6
_TOLERANCES = {
    "relu": 0.0,  # not maximum(x, 1e-6), which guards a quotient
    **dict.fromkeys("relu6 hardtanh hardsigmoid hardswish hard_mish relu_squared softsign".split(), _EXACT),
    **dict.fromkeys("gelu quick_gelu silu mish elu selu softplus sigmoid tanh".split(), _SMOOTH),
}
_WRITTEN_OUT: Mapping[str, Callable[[Tensor], Tensor]] = {
    "hard_mish": lambda z: 0.5 * z * (z + 2).clamp(0, 2),
    "relu_squared": lambda z: F.relu(z).square(),
    "quick_gelu": lambda z: z * torch.sigmoid(1.702 * z),
}

NAMED_BY_VALUES = (*_TOLERANCES, "leaky_relu")
"""The activations that a formula can turn out to be."""


def activation_name(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The name of the activation that a call computes, or None if the call is not an activation.

    ``torch.nn.ReLU6`` calls ``hardtanh`` with the bounds 0 and 6, and is named for what it is; so are
    ``x.clamp(min=0)`` and ``x.clamp(0, 6)``, while other clamps do not count.

    >>> activation_name(torch.relu, (torch.zeros(1),), {})
    'relu'
    >>> activation_name(F.hardtanh, (torch.zeros(1), 0.0, 6.0), {})
    'relu6'
    >>> activation_name(F.softmax, (torch.zeros(1),), {"dim": 0}) is None
    True
    """
    name = ACTIVATIONS.get(function)
    if name != "hardtanh" and function not in _CLAMPS:
        return name
    given = {key.removesuffix("_val"): value for key, value in kwargs.items()}
    given |= zip(("input", "min", "max"), args, strict=False)
    least, largest = (-1, 1) if name else (None, None)
    return _CLAMPED.get((given.get("min", least), given.get("max", largest)), name)


def library_class_name(module: nn.Module) -> str | None:
    """The name of the activation that a module of a known library is, or None.

    >>> library_class_name(nn.ReLU()) is None  # its function is seen
    True
    """
    kind = type(module)
    return LIBRARY_CLASSES.get(kind.__module__.partition(".")[0], {}).get(kind.__name__)


def name_by_values(function: Callable[[Tensor], Tensor], device: torch.device | None = None) -> str | None:
    """The name of the known activation of which a function is a positive multiple on [-8, 8], or None.

    >>> name_by_values(lambda z: z / (1 + torch.exp(-z)))
    'silu'
    >>> name_by_values(lambda z: torch.where(z > 0, z, 0.2 * z))
    'leaky_relu'
    >>> name_by_values(lambda z: z.clamp(min=-2)) is None
    True
    """
    grid = torch.linspace(-8, 8, 129, device=None if device is None or device.type == "meta" else device)
    try:
        values = function(grid).double().cpu()
    except (RuntimeError, TypeError):  # a constant of another shape or without numbers: it cannot be evaluated here
        return None
    if values.shape != grid.shape or not bool(torch.isfinite(values).all()) or not bool(values.any()):
        return None
    grid = grid.double().cpu()
    for name, tolerance in _TOLERANCES.items():
        expected = (_WRITTEN_OUT.get(name) or getattr(F, name))(grid)
        scale = float(values @ expected / expected.square().sum())
        rounding = 0.0 if tolerance == 0 else 1e-7
        zeros = bool((values[expected == 0] == 0).all()) or tolerance > 0
        error = float((values - scale * expected).abs().max() / values.abs().max())
        if scale > 0 and zeros and error <= max(tolerance, _EXACT) + rounding:
            return name
    slopes = values[grid != 0] / grid[grid != 0]
    below, above = slopes[:64], slopes[64:]
    straight = max(float(side.max() - side.min()) for side in (below, above)) <= _EXACT * float(slopes.abs().max())
    return "leaky_relu" if straight and 0 < float(below.mean()) < 0.99 * float(above.mean()) else None
