"""Activations with a learned slope for each channel, between the activation (slope 0) and the identity (slope 1)."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import handle_torch_function, has_torch_function

from affscore.errors import AffscoreError


class ChannelPReLU(nn.PReLU):
    r"""A PReLU with a slope for each channel, wherever the channels are.

    .. math:: \phi_{\alpha_c}(x) = \max(0, x) + \alpha_c \min(0, x)

    A slope of 0 is ReLU; with a slope of 1 the channel is linear. A frozen channel has the slope 1 whatever ``weight``
    says, and no gradient reaches it. Minus infinity counts as the lowest finite number, so that ReLU of it is 0.

    Args:
        channels: How many.
        axis: Where they are, counted from the last axis: -3 in (N, C, H, W), -1 in (N, tokens, C).
        call: Which of the activations that its layer calls it stands for, from 0.
        original: The module that it replaces; None where it replaces the call of a function.
        device: Of the slopes.
        dtype: Of the slopes.

    Attributes:
        weight: The slopes, (channels,), 0 at first.
        frozen: Which channels are linear for good, booleans (channels,).

    >>> relu, x = ChannelPReLU(2, -1), torch.tensor([[-1.0, -1.0], [2.0, 2.0]])
    >>> relu.weight.data[1] = 0.5
    >>> relu(x).tolist()
    [[-0.0, -0.5], [2.0, 2.0]]
    """

    frozen: Tensor

    def __init__(
        self,
        channels: int,
        axis: int,
        call: int = 0,
        original: nn.Module | None = None,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(channels, init=0.0, device=device, dtype=dtype)
        self.axis, self.call = axis, call
        self.kept = (original,)  # in a tuple, since it is no part of the network
        self.inplace = bool(getattr(original, "inplace", False))
        self.register_buffer("frozen", torch.zeros(channels, dtype=torch.bool, device=device))

    @property
    def slope(self) -> Tensor:
        """The slopes as they act, exactly 1 where a channel is frozen."""
        return self.weight.masked_fill(self.frozen, 1.0)

    def forward(self, input: Tensor) -> Tensor:
        """The activation of features whose channels are where they were."""
        return overwritten(input, self._bent) if self.inplace else self._bent(input)

    def _bent(self, x: Tensor) -> Tensor:
        second = self._channels_second(x).nan_to_num(math.nan, math.inf)  # -inf, of which 0 times is NaN
        return self._as_before(F.prelu(second, self.slope.to(x.dtype)), x)

    def _channels_second(self, x: Tensor) -> Tensor:
        if -self.axis > x.ndim or x.shape[self.axis] != self.num_parameters:
            raise AffscoreError(
                f"an activation with {self.num_parameters} slopes got features of shape {tuple(x.shape)}, whose axis "
                f"{self.axis} should have as many channels; give to_prelu an example_input as the network gets it"
            )
        return x.unsqueeze(0) if x.ndim == 1 else x.movedim(self.axis, 1)

    def _as_before(self, y: Tensor, x: Tensor) -> Tensor:
        return y.squeeze(0) if x.ndim == 1 else y.movedim(1, self.axis)

    def extra_repr(self) -> str:
        """What the module prints of itself."""
        return f"num_parameters={self.num_parameters}, axis={self.axis}, frozen={int(self.frozen.sum())}"


class ChannelGELU(ChannelPReLU):
    r"""The same for GELU, or any other activation: our extension, since the paper has ReLUs.

    .. math:: \phi_{\alpha_c}(x) = (1 - \alpha_c)\,\mathrm{GELU}(x) + \alpha_c x

    For ReLU this is the PReLU.

    >>> gelu, x = ChannelGELU(2, -1, original=nn.GELU()), torch.tensor([[-1.0, -1.0]])
    >>> gelu.weight.data[1] = 1.0
    >>> bool(gelu(x)[0, 0] == F.gelu(x)[0, 0]), gelu(x)[0, 1].item()
    (True, -1.0)
    """

    def forward(self, input: Tensor, activation: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """The interpolation; of this activation, where the module replaces the call of a function."""
        function = activation or self.kept[0]
        if function is None:
            raise AffscoreError("a ChannelGELU needs the activation: give it as original=, or in the call")
        second = self._channels_second(input)
        with within_unit:
            bent = function(input)
        shape = [1, -1, *[1] * (second.ndim - 2)]
        mixed = interpolated(second, self._channels_second(bent), self.slope.to(input.dtype).view(shape))
        return self._as_before(mixed, input)


def interpolated(x: Tensor, bent: Tensor, slope: Tensor) -> Tensor:
    """(1 - slope) * bent + slope * x, exact at both ends; one function to what watches the network's functions.

    >>> interpolated(torch.ones(1), torch.zeros(1), torch.tensor(0.25)).item()
    0.25
    """
    if has_torch_function((x, bent, slope)):
        return handle_torch_function(interpolated, (x, bent, slope), x, bent, slope)
    return torch.lerp(bent, x, slope)


def overwritten(x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """What an activation in place does: what else reads these features finds the output, too.

    >>> x = torch.tensor([-1.0])
    >>> overwritten(x, torch.relu) is x, x.item()
    (True, 0.0)
    """
    return x.copy_(function(x.clone()))  # the copy is for the backward pass


class _Within(threading.local):
    """A context: the activation that runs in it is already a unit's."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1


within_unit = _Within()
"""The context in which a unit computes the activation that it is made of."""
