"""Several calls of an activation, each with slopes of its own: of one module, or of functions in one forward."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from affscore.errors import AffscoreError
from affscore.network.recorder.functions import activation_name, writes_in_place
from affscore.nonlinear_advantage.units import ChannelGELU, ChannelPReLU, overwritten, within_unit


class PerCall(nn.ModuleList):
    """The activations that stand for several calls of one module or in one forward; each call takes the next.

    Args:
        units: One for each call.

    Attributes:
        turn: Which one is next; :func:`begin` sets it to 0.
    """

    def __init__(self, units: Iterable[ChannelPReLU] = ()) -> None:
        super().__init__(units)
        self.turn = 0

    def next(self) -> ChannelPReLU:
        """The unit of this call.

        Raises:
            AffscoreError: There are more calls than there were.
        """
        if self.turn >= len(self):
            raise AffscoreError(
                f"an activation is called more often than on the example input ({len(self)} times), so this call has "
                "no slopes of its own; give to_prelu an example_input as the network gets it, and each activation that "
                "runs in training only, or on weights, a module of its own"
            )
        self.turn += 1
        unit = self[self.turn - 1]
        assert isinstance(unit, ChannelPReLU)
        return unit

    def forward(self, input: Tensor) -> Tensor:
        """The activation of this call."""
        return self.next()(input)


def begin(module: nn.Module, args: Any) -> None:
    """A forward pre-hook of the module in whose one run all the calls are: the first call comes next."""
    for part in module.modules():
        if isinstance(part, PerCall):
            part.turn = 0


class Redirected(TorchFunctionMode):
    """A mode in which each call of ReLU or GELU, as a function, goes to the next of these units instead."""

    def __init__(self, units: PerCall) -> None:
        super().__init__()
        self.units = units

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = activation_name(func, args, kwargs)
        if name not in ("relu", "gelu") or within_unit.depth:
            return func(*args, **kwargs)
        (x, *rest), named = args or (kwargs["input"],), {key: one for key, one in kwargs.items() if key != "input"}
        unit = self.units.next()
        if isinstance(unit, ChannelGELU):
            return unit(x, lambda z: func(z, *rest, **named))
        return overwritten(x, unit) if writes_in_place(func) or kwargs.get("inplace") else unit(x)


class Redirecting(nn.Module):
    """Mixed into the class of a module whose own forward calls ReLU or GELU: its calls go to the units it holds."""

    plain: ClassVar[type[nn.Module]]
    channelwise_prelus: PerCall

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """That of the class, with the calls redirected."""
        with Redirected(self.channelwise_prelus):
            return super().forward(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _new, (self.plain,), *super().__reduce_ex__(protocol)[2:]


_made: dict[type[nn.Module], type[Redirecting]] = {}


def redirecting(plain: type[nn.Module]) -> type[Redirecting]:
    """The class with its calls redirected, always the same one.

    >>> redirecting(nn.ReLU) is redirecting(nn.ReLU), issubclass(redirecting(nn.ReLU), nn.ReLU)
    (True, True)
    """
    if plain not in _made:
        _made[plain] = type(plain.__name__, (Redirecting, plain), {"plain": plain, "__doc__": plain.__doc__})
    return _made[plain]


def _new(plain: type[nn.Module]) -> Redirecting:
    kind = redirecting(plain)
    return kind.__new__(kind)
