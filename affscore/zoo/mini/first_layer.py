"""torchvision's classes expect colour pictures of 224 pixels: their first convolution is replaced."""

from __future__ import annotations

from typing import TypeVar

from torch import nn

__all__ = ["grey"]

Network = TypeVar("Network", bound=nn.Module)


def grey(model: Network, kernel: int | None = None, stride: int | None = None) -> Network:
    """The same network, whose first convolution takes one channel.

    Args:
        model: A network; it is changed.
        kernel: Another size of that convolution, with the padding that keeps the picture's size at a stride of 1
            (a patch, which has no padding, keeps none).
        stride: Another stride.

    >>> from torchvision.models import ShuffleNetV2
    >>> grey(ShuffleNetV2([1, 1, 1], [8, 16, 16, 16, 32]), stride=1).conv1[0]
    Conv2d(1, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
    """
    name, first = next((name, module) for name, module in model.named_modules() if isinstance(module, nn.Conv2d))
    size = kernel or first.kernel_size[0]
    padding = size // 2 if first.padding != (0, 0) else 0
    step, bias = stride or first.stride[0], first.bias is not None
    model.set_submodule(name, nn.Conv2d(1, first.out_channels, size, step, padding, bias=bias))
    return model
