"""Several calls of an activation, each with slopes of its own: of one module, or of functions in one forward."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.nonlinear_advantage.units import ChannelGELU, ChannelPReLU, overwritten, within_unit
from affscore.recorder.calls import Functions
from affscore.recorder.functions import activation_name, writes_in_place


class PerCall(nn.ModuleList):
    """The activations that stand for several calls of one module or in one forward; each call takes the next.

    Args:
        units: One for each call.
        scope: The hooks of the module in whose one run all the calls are.
    """

    def __init__(self, units: Iterable[ChannelPReLU], scope: Scope) -> None:
        super().__init__(units)
        self.scope = scope

    def next(self) -> ChannelPReLU:
        """The unit of this call.

        Raises:
            AffscoreError: There are more calls than there were, or nobody counts them.
        """
        turn = _turns.next.get(self)
        if turn is None:
            raise AffscoreError(
                "a part of the network runs by itself, but its activation belongs to several parts, and its calls are "
                "counted over the whole: run (or checkpoint) what holds all of them, or give each part its own "
                "activation"
            )
        if turn >= len(self):
            raise AffscoreError(
                f"an activation is called more often than on the example input, where {len(self)} calls got features, "
                "so this call has no slopes of its own; give to_prelu an example_input as the network gets it; if a "
                "call runs in training only, in a formula, or on weights, make each activation of the layer a "
                "torch.nn.ReLU or GELU of its own"
            )
        _turns.next[self] = turn + 1
        unit = self[turn]
        assert isinstance(unit, ChannelPReLU)
        return unit

    def forward(self, input: Tensor) -> Tensor:
        """The activation of this call."""
        return self.next()(input)


class _Turns(threading.local):
    """Which unit is next in each thread: networks may run in several at once."""

    def __init__(self) -> None:
        self.next: WeakKeyDictionary[PerCall, int] = WeakKeyDictionary()


_turns = _Turns()


class Scope:
    """The hooks of the module in whose one run all the calls of some units are: there their turns begin and end."""

    def units(self, module: nn.Module) -> Iterator[PerCall]:
        """Those whose calls are counted here, in this copy of the module."""
        return (part for part in module.modules() if isinstance(part, PerCall) and part.scope is self)

    def begin(self, module: nn.Module, args: Any) -> None:
        """A forward pre-hook: the first call comes next."""
        for part in self.units(module):
            _turns.next[part] = 0

    def end(self, module: nn.Module, args: Any, output: Any) -> None:
        """A forward hook.

        Raises:
            AffscoreError: There were fewer calls than on the example, so that nobody knows which slopes they needed.
        """
        for part in self.units(module):
            if 0 < (turn := _turns.next.pop(part, 0)) < len(part):
                raise AffscoreError(
                    f"an activation is called {turn} times, and {len(part)} times on the example input: which slopes "
                    "belong to which call cannot be known; give each activation that may be left out its own module"
                )

    def attach(self, module: nn.Module) -> None:
        """Put the hooks on a module."""
        module.register_forward_pre_hook(self.begin)
        module.register_forward_hook(self.end)


def detach(module: nn.Module) -> None:
    """Take the hooks of every :class:`Scope` off a module."""
    for hooks in (module._forward_pre_hooks, module._forward_hooks):
        for key in [key for key, hook in hooks.items() if isinstance(getattr(hook, "__self__", None), Scope)]:
            del hooks[key]


def redirected(units: PerCall, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function; one of ReLU or GELU goes to the next of these units instead."""
    name = activation_name(function, args, kwargs)
    if name not in ("relu", "gelu") or within_unit.depth:
        return function(*args, **kwargs)
    (x, *rest), named = args or (kwargs["input"],), {key: one for key, one in kwargs.items() if key != "input"}
    unit = units.next()
    if isinstance(unit, ChannelGELU):
        return unit(x, lambda z: function(z, *rest, **named))
    return overwritten(x, unit) if writes_in_place(function) or kwargs.get("inplace") else unit(x)


class Redirecting(nn.Module):
    """Mixed into the class of a module whose own forward calls ReLU or GELU: its calls go to the units it holds."""

    plain: ClassVar[type[nn.Module]]
    channelwise_prelus: PerCall

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _new, (self.plain,), *super().__reduce_ex__(protocol)[2:]


_made: dict[type[nn.Module], type[Redirecting]] = {}


def redirecting(plain: type[nn.Module]) -> type[Redirecting]:
    """The class with its calls redirected, always the same one; its forward has the same signature.

    >>> redirecting(nn.ReLU) is redirecting(nn.ReLU), issubclass(redirecting(nn.ReLU), nn.ReLU)
    (True, True)
    """
    if plain not in _made:

        @functools.wraps(plain.forward)
        def forward(self: Redirecting, *args: Any, **kwargs: Any) -> Any:
            with Functions(functools.partial(redirected, self.channelwise_prelus)):
                return plain.forward(self, *args, **kwargs)

        contents = {"plain": plain, "forward": forward, "__doc__": plain.__doc__}
        _made[plain] = type(plain.__name__, (Redirecting, plain), contents)
    return _made[plain]


def _new(plain: type[nn.Module]) -> Redirecting:
    kind = redirecting(plain)
    return kind.__new__(kind)
