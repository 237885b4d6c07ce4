"""Tensors and arrays that do not keep their numbers one by one in memory: taken apart, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.masked import MaskedTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_leaves

from affscore.errors import AffscoreError

_KINDS: dict[str, tuple[Callable[[Tensor], bool], str]] = {
    "meta": (lambda x: x.is_meta, "it has a shape and no numbers: make it on the CPU"),
    "masked": (lambda x: isinstance(x, MaskedTensor), "the mask would be lost: drop its rows, the same of all arrays"),
    "nested": (lambda x: x.is_nested, "pad it (.to_padded_tensor), or cut all samples to one length"),
    "quantised": (lambda x: x.is_quantized, "use .dequantize()"),
    "sparse": (lambda x: x.layout != torch.strided, "make it dense first (.to_dense())"),
}


def kind_of(part: Any) -> str:
    """How a tensor or array keeps its numbers, where that is not one by one in memory: meta (nowhere), masked, ...

    >>> kind_of(torch.eye(2)), kind_of(torch.eye(2).to_sparse()), kind_of(torch.eye(2, device="meta"))
    ('', 'sparse', 'meta')
    """
    if isinstance(part, np.ma.MaskedArray):
        return "masked" * bool(np.ma.getmaskarray(part).ravel().view(bool).any())
    return next((kind for kind, (is_one, _) in _KINDS.items() if is_one(part)), "") if isinstance(part, Tensor) else ""


def check_plain(data: Any, name: str = "the data") -> None:
    """Refuse tensors without plain numbers, and arrays in which some are masked.

    Args:
        data: A tensor or an array, or several in a list; anything else passes.
        name: What to call it.

    Raises:
        AffscoreError: It is sparse, nested, quantised, masked, or without numbers.

    >>> check_plain(torch.zeros(2))
    """
    for part in data if isinstance(data, (list, tuple)) else (data,):
        if kind := kind_of(part):
            what = "tensor" if isinstance(part, Tensor) else "array"
            raise AffscoreError(f"{name} must be plain numbers in memory, got a {kind} {what}; {_KINDS[kind][1]}")


def plain_parts(tensor: Tensor) -> list[Tensor]:
    """The plain tensors that hold the numbers of one: itself, or its indices and values, or what it stands for.

    Args:
        tensor: Any; one without numbers ("meta") has no parts.

    >>> [part.tolist() for part in plain_parts(torch.eye(2).to_sparse())]
    [[[0, 1], [0, 1]], [1.0, 1.0]]
    """
    tensor = tensor.detach()
    if tensor.is_quantized or tensor.is_mkldnn:
        return [tensor.dequantize() if tensor.is_quantized else tensor.to_dense()]
    if not kind_of(tensor) and not is_traceable_wrapper_subclass(tensor):
        return [tensor]
    tensor = tensor.coalesce() if tensor.layout == torch.sparse_coo else tensor
    leaves = tree_leaves(tensor.__reduce_ex__(2))  # what pickle would store
    return [part for leaf in leaves if isinstance(leaf, Tensor) for part in plain_parts(leaf)]
