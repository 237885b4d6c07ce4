"""What kind of block a module is, as far as its class and its parts say it: no name of a network is needed."""

from __future__ import annotations

import torch
from torch import nn

BLOCKS = ("network", "residual", "attention", "mlp", "normalisation", "pooling", "linear", "block")
"""The kinds of blocks; "block" is a module that was declared and is none of the others."""

NORMALISATION, POOLING, LINEAR, ATTENTION = "normalisation", "pooling", "linear", "attention"

_NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.LocalResponseNorm, nn.CrossMapLRN2d)
_LINEAR = (nn.Linear, nn.modules.conv._ConvNd)


def kind_by_class(module: nn.Module) -> str:
    """The kind of block that a module is by its class, or "".

    * "normalisation": PyTorch's own, and any class with "norm" in its name whose parameters are vectors (an RMSNorm, a
      LayerNorm of images, a batch normalisation with frozen statistics);
    * "pooling": PyTorch's own, and any class with "pool" in its name that has no parameters;
    * "linear": a linear layer or a convolution: PyTorch's own, and any class with "linear" or "conv" in its name that
      has a matrix and no parts;
    * "attention": a class with "attention" or "attn" in its name.

    >>> [kind_by_class(nn.BatchNorm2d(3)), kind_by_class(nn.MaxPool2d(2)), kind_by_class(nn.MultiheadAttention(4, 2))]
    ['normalisation', 'pooling', 'attention']
    >>> kind_by_class(nn.Conv2d(1, 2, 3)), kind_by_class(nn.ReLU())
    ('linear', '')
    """
    name, parameters = type(module).__name__.lower(), list(module.parameters())
    if isinstance(module, _NORMS) or ("norm" in name and all(weights.ndim < 2 for weights in parameters)):
        return NORMALISATION
    homes = {base.__module__ for base in type(module).__mro__}
    if "torch.nn.modules.pooling" in homes or ("pool" in name and not parameters):
        return POOLING
    leaf = next(module.children(), None) is None
    if isinstance(module, _LINEAR) or (
        leaf and ("linear" in name or "conv" in name) and any(weights.ndim > 1 for weights in parameters)
    ):
        return LINEAR
    return ATTENTION if "attention" in name or "attn" in name else ""


def channel_axis(module: nn.Module) -> int | None:
    """The axis on which a module of PyTorch's own takes its channels; None for any other, and where it has none.

    A LayerNorm over several axes says nothing: these may be (C, H, W) or (H, W, C).

    >>> [channel_axis(module) for module in (nn.Conv1d(2, 3, 1), nn.Linear(2, 3), nn.LayerNorm(4), nn.MaxPool2d(2))]
    [-2, -1, -1, -3]
    >>> channel_axis(nn.BatchNorm1d(3)), channel_axis(nn.LayerNorm((2, 3))), channel_axis(nn.Identity())
    (1, None, None)
    """
    owner = next(base for base in type(module).__mro__ if "forward" in vars(base))
    if not owner.__module__.startswith("torch.nn.modules.") or "forward" in vars(module):
        return None  # its own forward may move the axes first, as a LayerNorm of images does
    if isinstance(module, nn.modules.conv._ConvNd):
        return -len(module.kernel_size) - 1
    if owner.__module__.endswith(".pooling"):
        return -int(owner.__name__[-2]) - 1
    if (over := getattr(module, "normalized_shape", None)) is not None:
        return -1 if len(over) == 1 else None
    if isinstance(module, (nn.Linear, nn.Bilinear, nn.MultiheadAttention)):
        return -1
    return 1 if isinstance(module, _NORMS) else None


def may_be_a_block(module: nn.Module) -> bool:
    """Whether a module can be a block at all: not one of PyTorch's own that have no parts and no kind, as ReLU."""
    own = type(module).__module__.startswith("torch.nn.modules")
    return bool(kind_by_class(module)) or not own or next(module.children(), None) is not None


def is_made_of_linear_layers(module: nn.Module) -> bool:
    """Whether all that has weights in a module are two or more linear layers, each position by itself.

    >>> is_made_of_linear_layers(nn.Sequential(nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 3)))
    True
    >>> is_made_of_linear_layers(nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.Linear(6, 3)))
    False
    >>> is_made_of_linear_layers(nn.Sequential(nn.Conv2d(4, 8, 1, groups=2), nn.ReLU(), nn.Conv2d(8, 4, 1)))
    False
    """
    linear = 0
    for part in module.modules():
        if kind_by_class(part) == LINEAR:
            if isinstance(part, nn.modules.conv._ConvNd) and (part.groups > 1 or any(s > 1 for s in part.kernel_size)):
                return False
            linear += 1
        elif isinstance(part, nn.PReLU):
            continue
        elif kind_by_class(part) or any(weights.numel() for weights in part.parameters(recurse=False)):
            return False
    return linear > 1


ATTENDING = frozenset(
    {torch.nn.functional.scaled_dot_product_attention, torch.nn.functional.multi_head_attention_forward}
)
"""Functions that are attention; a module that calls one of them itself is an attention block, too."""
