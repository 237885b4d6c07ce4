"""What the small networks share: torchvision's expect colour pictures of 224 pixels, and deep ones a careful start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from torch import Tensor, nn

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


def initialise(model: nn.Module, begin: Callable[[Tensor], Any]) -> None:
    """Begin the weights of all convolutions and linear layers in this way, and their biases at 0."""
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            begin(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
