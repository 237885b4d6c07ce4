"""Activations with a learned slope for each channel, between the activation (slope 0) and the identity (slope 1).

Where one module, or one forward, calls an activation several times, each call has slopes of its own.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import handle_torch_function, has_torch_function

from affscore.errors import AffscoreError
from affscore.recorder.calls import Aside, Functions
from affscore.recorder.functions import activation_name, writes_in_place


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
        of_slopes: Their ``device`` and ``dtype``.

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
        self, channels: int, axis: int, call: int = 0, original: nn.Module | None = None, **of_slopes: Any
    ) -> None:
        super().__init__(channels, init=0.0, **of_slopes)
        self.axis, self.call = axis, call
        self.kept = (original,)  # in a tuple, since it is no part of the network
        self.inplace = bool(getattr(original, "inplace", False))
        self.register_buffer("frozen", torch.zeros_like(self.weight, dtype=torch.bool))

    @property
    def slope(self) -> Tensor:
        """The slopes as they act, exactly 1 where a channel is frozen."""
        return self.weight.masked_fill(self.frozen, 1.0)

    @torch.no_grad()
    def freeze(self, which: Tensor) -> None:
        """Make channels linear for good.

        Args:
            which: Booleans (channels,).
        """
        self.frozen |= which.to(self.frozen.device)
        self.weight.masked_fill_(self.frozen, 1.0)

    def forward(self, input: Tensor) -> Tensor:
        """The activation of features whose channels are where they were."""
        return overwritten(input, self._bent) if self.inplace else self._bent(input)

    def _bent(self, x: Tensor) -> Tensor:
        self._check(x)
        finite = x.nan_to_num(math.nan, math.inf)  # but for -inf, of which 0 times is NaN
        second = finite.unsqueeze(0).movedim(self.axis, 1)  # where PReLU has its channels
        return F.prelu(second, self.slope.to(x.dtype)).movedim(1, self.axis).squeeze(0)

    def _check(self, x: Tensor) -> None:
        if -self.axis > x.ndim or x.shape[self.axis] != self.num_parameters:
            got = f"{self.num_parameters} slopes got features of shape {tuple(x.shape)} (axis {self.axis})"
            raise AffscoreError(f"an activation with {got}; give to_prelu an example_input as the network gets it")

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
        self._check(input)
        with within_unit:
            bent = function(input)
        return interpolated(input, bent, self.slope.to(input.dtype).view(-1, *[1] * (-self.axis - 1)))


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


class _Within(Aside, threading.local):
    """A context: the activation that runs in it is already a unit's."""


within_unit = _Within()
"""The context in which a unit computes the activation that it is made of."""


class _Turn(threading.local):
    """The numbers of the units still to come, in each thread: networks may run in several at once."""

    left: list[int] | None = None

    def __reduce__(self) -> Any:
        return _Turn, ()  # a copy begins anew


class PerCall(nn.ModuleList):
    """The activations that stand for several calls of one module or in one forward; each call takes the next.

    Args:
        units: One for each call.
    """

    def __init__(self, units: Iterable[ChannelPReLU]) -> None:
        super().__init__(units)
        self.turn = _Turn()

    def begin(self, module: nn.Module, args: Any) -> None:
        """A forward pre-hook: the first call comes next."""
        self.turn.left = list(range(len(self)))  # of a replica, too, which has units of its own

    def end(self, module: nn.Module, args: Any, output: Any) -> None:
        """A forward hook.

        Raises:
            AffscoreError: There were fewer calls than on the example, so that nobody knows which slopes they needed.
        """
        left, self.turn.left = len(self.turn.left or ()), None
        if 0 < left < len(self):
            times = f"{len(self) - left} times, and {len(self)} times on the example input"
            raise AffscoreError(f"an activation is called {times}; give each that may be left out its own module")

    def next(self) -> ChannelPReLU:
        """The unit of this call.

        Raises:
            AffscoreError: There are more calls than there were, or nobody counts them.
        """
        if self.turn.left is None:
            advice = "run (or checkpoint) what holds all of them, or give each its own"
            raise AffscoreError(f"parts of the network share an activation, counted over the whole: {advice}")
        if not self.turn.left:
            why = "in training, in a formula, or on weights; make each a module, or give to_prelu a fitting example"
            raise AffscoreError(f"an activation is called more often than on the example input ({len(self)}), {why}")
        return cast(ChannelPReLU, self[self.turn.left.pop(0)])

    def forward(self, input: Tensor) -> Tensor:
        """The activation of this call."""
        return self.next()(input)


def redirected(units: PerCall, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function; one of ReLU or GELU goes to the next of these units instead."""
    if activation_name(function, args, kwargs) not in ("relu", "gelu") or within_unit.depth:
        return function(*args, **kwargs)
    (x, *rest), named = args or (kwargs["input"],), {key: one for key, one in kwargs.items() if key != "input"}
    unit = units.next()
    if isinstance(unit, ChannelGELU):
        return unit(x, lambda z: function(z, *rest, **named))
    return overwritten(x, unit) if writes_in_place(function) or kwargs.get("inplace") else unit(x)


UNITS_OF_CALLS = "channelwise_prelus"
"""The name of the units in the module whose own forward calls the functions."""


class Redirecting(nn.Module):
    """Mixed into the class of a module whose own forward calls ReLU or GELU: its calls go to the units it holds."""

    plain: ClassVar[type[nn.Module]]
    channelwise_prelus: PerCall

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _new, (self.plain,), *super().__reduce_ex__(protocol)[2:]


@functools.cache
def redirecting(plain: type[Any]) -> type[Redirecting]:
    """The class with its calls redirected, always the same one; its forward has the same signature.

    >>> redirecting(nn.ReLU) is redirecting(nn.ReLU), issubclass(redirecting(nn.ReLU), nn.ReLU)
    (True, True)
    """

    @functools.wraps(plain.forward)
    def forward(self: Redirecting, *args: Any, **kwargs: Any) -> Any:
        with Functions(functools.partial(redirected, self.channelwise_prelus)):
            return plain.forward(self, *args, **kwargs)

    return type(plain.__name__, (Redirecting, plain), {"plain": plain, "forward": forward, "__doc__": plain.__doc__})


def _new(plain: type[nn.Module]) -> Redirecting:
    return Redirecting.__new__(redirecting(plain))  # type: ignore[arg-type]  # which mypy takes for its instances
