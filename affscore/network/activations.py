"""Which function calls, and which classes of modules, count as an elementwise activation, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["ACTIVATIONS", "LIBRARY_CLASSES", "activation_name", "library_class_name"]

# One line an activation: every spelling under which PyTorch offers it. Softmax is not elementwise and
# does not count. Gated units are no entry: the function inside counts (the recorder takes F.glu apart).
_SPELLINGS: dict[str, list[tuple[Any, str]]] = {
    "relu": [(F, "relu relu_"), (torch, "relu relu_"), (Tensor, "relu relu_")],
    "relu6": [(F, "relu6")],
    "leaky_relu": [(F, "leaky_relu leaky_relu_")],
    "prelu": [(F, "prelu"), (torch, "prelu"), (Tensor, "prelu")],
    "rrelu": [(F, "rrelu rrelu_"), (torch, "rrelu rrelu_")],
    "elu": [(F, "elu elu_")],
    "selu": [(F, "selu selu_"), (torch, "selu selu_")],
    "celu": [(F, "celu celu_"), (torch, "celu celu_")],
    "gelu": [(F, "gelu")],
    "silu": [(F, "silu")],
    "mish": [(F, "mish")],
    "softplus": [(F, "softplus")],
    "hardswish": [(F, "hardswish")],
    "hardsigmoid": [(F, "hardsigmoid")],
    "hardtanh": [(F, "hardtanh hardtanh_")],
    "sigmoid": [
        (F, "sigmoid"),
        (torch, "sigmoid sigmoid_"),
        (Tensor, "sigmoid sigmoid_"),
        (torch.special, "expit"),
    ],
    "logsigmoid": [(F, "logsigmoid")],
    "tanh": [(F, "tanh"), (torch, "tanh tanh_"), (Tensor, "tanh tanh_")],
    "erf": [(torch, "erf erf_"), (Tensor, "erf erf_"), (torch.special, "erf")],
    "softsign": [(F, "softsign")],
    "tanhshrink": [(F, "tanhshrink")],
    "softshrink": [(F, "softshrink")],
    "hardshrink": [(F, "hardshrink"), (torch, "hardshrink"), (Tensor, "hardshrink")],
    "threshold": [(F, "threshold threshold_"), (torch, "threshold threshold_")],
}

ACTIVATIONS: Mapping[Callable[..., Any], str] = {
    getattr(home, spelling): name
    for name, homes in _SPELLINGS.items()
    for home, spellings in homes
    for spelling in spellings.split()
}
"""Every function that counts, and the name of its activation."""

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

_CLAMPS = frozenset(
    {torch.clamp, torch.clamp_, torch.clamp_min, torch.clamp_min_, torch.clip, torch.clip_, Tensor.clamp, Tensor.clamp_,
     Tensor.clamp_min, Tensor.clamp_min_, Tensor.clip, Tensor.clip_}
)  # fmt: skip


def _bounds(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    given = dict(zip(("input", "min", "max"), args, strict=False)) | dict(kwargs)
    return tuple(  # type: ignore[return-value]
        None if bound is None or isinstance(bound, Tensor) else bound for bound in (given.get("min"), given.get("max"))
    )


def activation_name(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
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
    if function in _CLAMPS:
        low, high = _bounds(args, kwargs)
        return {(0, None): "relu", (0, 6): "relu6"}.get((low, high))
    name = ACTIVATIONS.get(function)
    if name == "hardtanh":
        low = args[1] if len(args) > 1 else kwargs.get("min_val", -1.0)
        high = args[2] if len(args) > 2 else kwargs.get("max_val", 1.0)
        if (low, high) == (0.0, 6.0):
            return "relu6"
    return name


def library_class_name(module: nn.Module) -> str | None:
    """The name of the activation that a module of a known library is, or None.

    >>> library_class_name(nn.ReLU()) is None  # its function is seen
    True
    """
    kind = type(module)
    return LIBRARY_CLASSES.get(kind.__module__.partition(".")[0], {}).get(kind.__name__)
