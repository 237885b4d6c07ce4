"""An in-place activation and the reductions around it, block by block: these read nothing that is not in the cache."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from affscore.network.calls import ActivationCall
from affscore.network.reduction import ReductionName

__all__ = ["can_stream", "reduce_around"]

BLOCK = 3 * 2**19
"""Bytes that are handled together: they stay in the cache of the cores, and the calls on them cost little."""

WORTHWHILE = 4 * BLOCK
"""Smaller feature maps lie in the cache anyway."""

_CLAMPS = ("relu", "relu6")
"""Activations whose result for an entry is the same bits in whatever block it lies."""


def can_stream(call: ActivationCall, x: Tensor, images: int, reduction: ReductionName) -> bool:
    """Whether :func:`reduce_around` gives what reducing before and after the activation would.

    Args:
        call: The activation.
        x: Its input.
        images: Number of images in it.
        reduction: How it is reduced.
    """
    return (
        call.in_place
        and call.builtin
        and call.activation in _CLAMPS
        and reduction in ("mean", "sum")
        and (call.image_axis, call.channel_axis, len(x)) == (0, 1, images)
        and x.ndim > 2
        and x.dtype in (torch.float32, torch.float64)
        and x.device.type == "cpu"
        and x.is_contiguous()
        and x.numel() * x.element_size() >= WORTHWHILE
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
    )


def reduce_around(
    features: Tensor, reduction: ReductionName, activate: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Run an in-place activation, and reduce its input and its output by the mean or the sum over positions.

    Args:
        features: Contiguous tensor (N, c, ...), which is overwritten by the activation's output.
        reduction: "mean" or "sum".
        activate: The activation, which overwrites its argument.

    Returns:
        The reduced input and output, tensors (N, c).

    >>> features = torch.tensor([[[-1.0, 3.0]]])
    >>> before, after = reduce_around(features, "mean", torch.relu_)
    >>> before.item(), after.item(), features.tolist()
    (1.0, 1.5, [[[0.0, 3.0]]])
    """
    rows = features.view(features.shape[0] * features.shape[1], -1)
    # a product with a vector of ones reads memory faster than PyTorch's reductions do
    ones = rows.new_ones(rows.shape[1])
    before, after = rows.new_empty(2, len(rows))
    size = max(1, BLOCK // (rows.shape[1] * rows.element_size()))
    for block, x, y in zip(rows.split(size), before.split(size), after.split(size), strict=True):
        torch.mv(block, ones, out=x)
        activate(block)
        torch.mv(block, ones, out=y)
    if reduction == "mean":
        before, after = before / rows.shape[1], after / rows.shape[1]
    return before.view(features.shape[:2]), after.view(features.shape[:2])
