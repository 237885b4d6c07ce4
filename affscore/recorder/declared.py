"""Modules and functions that count as one activation, or one block, as a whole, whatever they compute it from."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.recorder.block_kinds import kind_by_class
from affscore.recorder.dataflow import tensors_in
from affscore.recorder.effects import Effect, mixes
from affscore.recorder.functions import HOMES, Function, spellings
from affscore.recorder.model_state import in_training
from affscore.recorder.randomness import random_states_kept
from affscore.recorder.stream import Event

if TYPE_CHECKING:
    from affscore.recorder.recorder import Recorder

_KINDS_IN_TRAINING: MutableMapping[nn.Module, str] = WeakKeyDictionary()
"""The kinds of declared modules that train: each step of a training is a recording of its own."""

_WANTED = (
    "activations must be a list of module classes, modules or functions, or a dictionary of these by the name that "
    "they shall have"
)


class Declared(dict[Any, str]):
    """What a caller declares as one activation or block as a whole, with the name that it goes by.

    Keys are classes of modules (which stand for their subclasses, too), single modules, functions of PyTorch, which
    are seen when they are called, and the codes of functions written in Python.

    Args:
        activations: Classes of modules, modules, functions (of Python or of PyTorch) and subclasses of
            ``torch.autograd.Function``; in a dictionary, by their names. Without one, the name is that of
            the class or function in small letters.

    Attributes:
        codes: What is called to repeat a function written in Python, by its code.

    Raises:
        AffscoreError: Something else.

    >>> class Snake(nn.Module):
    ...     def forward(self, x): return x + torch.sin(x) ** 2
    >>> Declared([Snake, torch.sin]).names, Declared({"sine": torch.sin}).names
    (['snake', 'sin'], ['sine'])
    """

    def __init__(self, activations: Collection[Any] | Mapping[str, Any] = ()) -> None:
        self.codes: dict[CodeType, Function] = {}
        if isinstance(activations, (str, bytes)) or not isinstance(activations, Collection):
            raise AffscoreError(f"{_WANTED}; got {activations!r}")
        named = activations.items() if isinstance(activations, Mapping) else ((None, entry) for entry in activations)
        for name, entry in named:
            self._enter(name, entry)

    def _enter(self, name: str | None, entry: Any) -> None:
        while isinstance(entry, functools.partial):
            entry = entry.func
        name = name or getattr(entry, "__name__", type(entry).__name__).strip("<>").lower()
        keys: list[Any] = [entry]
        if isinstance(entry, torch.jit.ScriptModule | torch.jit.ScriptFunction):
            raise AffscoreError(
                f"{name} is TorchScript, which cannot be seen; declare the class of modules that calls it"
            )
        if isinstance(entry, type) and issubclass(entry, torch.autograd.Function):
            keys = [inspect.unwrap(entry.forward).__code__]
            self.codes[keys[0]] = _without_context(entry)
        elif inspect.isroutine(entry):
            keys = [entry := getattr(entry, "__func__", entry)]
            if any(getattr(home, entry.__name__, None) is entry for home in HOMES):
                keys += spellings(entry.__name__.rstrip("_"))  # the same as a method and in place
            if inspect.isfunction(entry):
                keys.append(entry.__code__)
                self.codes[entry.__code__] = entry
        elif not isinstance(entry, nn.Module) and not (isinstance(entry, type) and issubclass(entry, nn.Module)):
            raise AffscoreError(f"{_WANTED}; got {entry!r} in it")
        self.update(dict.fromkeys(keys, name))

    @property
    def names(self) -> list[str]:
        """The names of all of them."""
        return list(dict.fromkeys(self.values()))

    def name_of(self, module: nn.Module) -> str | None:
        """The name under which a module counts, or None."""
        return next((self[key] for key in (module, *type(module).__mro__) if key in self), None)


def _without_context(function: type[torch.autograd.Function]) -> Function:
    """An autograd function that is called with the arguments of its forward."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        takes_context = args and isinstance(args[0], torch.autograd.function.FunctionCtx)
        return function.apply(*(args[1:] if takes_context else args), **kwargs)

    return apply


def run_whole(
    recorder: Recorder, name: str, module: nn.Module, function: Function, /, *args: Any, **kwargs: Any
) -> Any:
    """Call the forward of a module; it counts as one activation or block of this name, and nothing inside it counts."""
    with running_whole(recorder, name, function, args, kwargs, module=module) as returned:
        returned.append(function(*args, **kwargs))
    return returned[0]


@contextmanager
def running_whole(
    recorder: Recorder,
    name: str,
    function: Function,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    builtin: bool = False,
    module: nn.Module | None = None,
) -> Iterator[list[Any]]:
    """While a function runs that counts as one activation: its output is appended, if it returns one.

    A declared module that is not elementwise counts as a block: its first tensor of real numbers goes in, and the
    first that it returns comes out. A function must be elementwise.
    """
    if not recorder.attentive or threading.get_ident() != recorder.thread:
        yield []
        return
    with recorder.aside:
        takes = tensors_in((args, kwargs)) if not builtin else [args[0] if args else kwargs["input"]]
        takes = [tensor for tensor in takes if tensor in recorder.flow]
        x = next((tensor for tensor in takes if tensor.is_floating_point()), takes[0] if takes else None)
        if x is None:
            recorder.independent_of_input += 1
            yield []
            return
        if x.is_nested or x.layout is not torch.strided:
            raise AffscoreError(
                f"{recorder.described(name)} runs on a nested or sparse tensor, which has no axes that could be "
                "averaged over; make it dense, or padded, in this part of the network"
            )
        apply, kind = _repeatable(recorder, function, x, args, kwargs), ""
        if not builtin and name in recorder.chosen.names:
            axis = recorder.layout.place(x).image_axis
            one = x.narrow(axis, 0, 1) if x.ndim else x
            if module is not None:
                kind = _kind_of_block(recorder, module, apply, one)
            elif name not in recorder.ran:
                check_elementwise(recorder.described(name), apply, one)
            recorder.ran.add(name)
        if kind and not (x.is_floating_point() and x.ndim > 1):
            raise AffscoreError(
                f"{recorder.described(name)} was declared as a block, and takes no real numbers that depend on the "
                "samples; declare the module that does"
            )
        event = Event(apply, (x,), {}, [x], [], effect=Effect(True, True))
        step = None if kind else recorder.formulas.step(event, x.shape)
        with recorder.activation(name, x, apply, step, kind, builtin, block=bool(kind)) as returned:
            yield returned


def _kind_of_block(recorder: Recorder, module: nn.Module, apply: Callable[[Tensor], Tensor], x: Tensor) -> str:
    """What kind of block a declared module is; empty if it is elementwise, which is tried out once.

    The trial is in evaluation mode, and the states of random generators are as before. What its class calls attention,
    a norm or a pooling is a block: to try it out might fill a cache of keys and values.
    """
    known = _KINDS_IN_TRAINING if module.training else recorder.kinds_of_declared
    if module not in known:
        kind = kind_by_class(module)
        if not kind:
            try:
                with random_states_kept(x.device), in_training(module, x.device):
                    check_elementwise("", apply, x)
            except Exception:  # noqa: BLE001  # one sample may not fit its other arguments; the run itself will tell
                kind = "block"
        known[module] = kind
    return known[module]


def _repeatable(
    recorder: Recorder, function: Function, x: Tensor, args: Sequence[Any], kwargs: dict[str, Any]
) -> Callable[[Tensor], Tensor]:
    """The function for another input; it does not keep this one alive."""
    here = object()
    args = [here if value is x else value for value in args]
    kwargs = {key: here if value is x else value for key, value in kwargs.items() if key != "out"}

    def apply(z: Tensor) -> Tensor:
        arguments = (z if value is here else value for value in args)
        named = {key: z if value is here else value for key, value in kwargs.items()}
        with recorder.aside:
            output = function(*arguments, **named)
        return z if output is None else output

    return apply


@torch.no_grad()
def check_elementwise(described: str, apply: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Change some entries of the input, and look whether the output changes elsewhere.

    Args:
        described: The activation, as the message names it.
        apply: The activation.
        x: An input.

    Raises:
        AffscoreError: The shape changes, or an entry depends on others.

    >>> check_elementwise("double", lambda x: 2 * x, torch.zeros(2, 3))
    >>> check_elementwise("a softmax", lambda x: x.softmax(-1), torch.zeros(2, 3))
    Traceback (most recent call last):
        ...
    affscore.errors.AffscoreError: a softmax was declared as an activation, and is none: ...
    """

    def checked(z: Tensor) -> Tensor:
        check_shape(described, y := apply(z), x)
        return y

    if mixes(checked, x, 1 - x):
        raise AffscoreError(
            f"{described} was declared as an activation, and is none: each entry of its output must depend on the "
            "same entry of its input only, and on no random numbers"
        )


def check_shape(described: str, y: Any, x: Tensor) -> None:
    """Raise an AffscoreError unless the output of an activation is a tensor of its input's shape."""
    if not isinstance(y, Tensor) or y.shape != x.shape:
        got = f"one of shape {tuple(y.shape)}" if isinstance(y, Tensor) else type(y).__name__
        raise AffscoreError(
            f"{described} counts as an activation, and must return a tensor of its input's shape {tuple(x.shape)}, "
            f"got {got}"
        )
