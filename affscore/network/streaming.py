"""An in-place activation and what is read around it, block by block: only the first reading is not from the cache."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from affscore.network.criteria.sparsity import count_sparse
from affscore.network.recorder.calls import ActivationCall
from affscore.network.reduction import ReductionName

__all__ = ["can_stream", "reduce_around"]

BLOCK = 3 * 2**19
"""Bytes that are handled together: they stay in the cache of the cores, and the calls on them cost little."""

ROWS = 32
"""A block has a multiple of these, so that its entries fill whole vectors: those left over are rounded otherwise."""

_NOT_ELEMENTWISE = ("prelu", "rrelu")
"""Activations that treat channels differently, or draw random numbers."""


def can_stream(call: ActivationCall, x: Tensor, images: int, reduction: ReductionName) -> bool:
    """Whether :func:`reduce_around` gives what reducing before and after the activation would, up to rounding.

    Args:
        call: The activation.
        x: Its input.
        images: Number of images in it.
        reduction: How it is reduced.
    """
    return (
        call.in_place
        and call.builtin
        and call.activation not in _NOT_ELEMENTWISE
        and reduction in ("mean", "sum")
        and (call.image_axis, call.channel_axis, len(x)) == (0, 1, images)
        and x.ndim > 2
        and x.dtype in (torch.float32, torch.float64)
        and x.device.type == "cpu"
        and x.is_contiguous()
        and x.numel() * x.element_size() >= BLOCK  # a smaller one lies in the cache anyway
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
    )


def reduce_around(
    features: Tensor, reduction: ReductionName, activate: Callable[[Tensor], Tensor], sparse: bool, relu: bool
) -> tuple[Tensor, Tensor, tuple[int, int]]:
    """Run an in-place activation, reduce its input and its output, and count their entries next to zero.

    Args:
        features: Contiguous tensor (N, c, ...), which is overwritten by the activation's output.
        reduction: "mean" or "sum", over positions.
        activate: The activation, which overwrites its argument.
        sparse: Whether to count.
        relu: Whether it is ReLU or ReLU6: the entries of the input say how many of the output are next to zero.

    Returns:
        The reduced input and output, tensors (N, c), and how many entries of each are next to zero
        (:func:`affscore.network.criteria.sparsity.sparse_entries`), or (0, 0).

    >>> features = torch.tensor([[[-1.0, 3.0]]])
    >>> before, after, sparse = reduce_around(features, "mean", torch.relu_, sparse=True, relu=True)
    >>> before.item(), after.item(), sparse, features.tolist()
    (1.0, 1.5, (0, 1), [[[0.0, 3.0]]])
    """
    rows = features.view(features.shape[0] * features.shape[1], -1)
    before, after = rows.new_empty(2, len(rows))
    small_before = small_after = 0
    size = ROWS * max(1, BLOCK // (ROWS * rows.shape[1] * rows.element_size()))
    for block, x, y in zip(rows.split(size), before.split(size), after.split(size), strict=True):
        values = block.view(-1).numpy()
        torch.sum(block, dim=1, out=x)
        if sparse:
            small, low = count_sparse(values)
            small_before += small
            small_after += low if relu else 0
        activate(block)
        torch.sum(block, dim=1, out=y)
        if sparse and not relu:
            small_after += count_sparse(values)[0]
    if reduction == "mean":
        before, after = before / rows.shape[1], after / rows.shape[1]
    return before.view(features.shape[:2]), after.view(features.shape[:2]), (small_before, small_after)
