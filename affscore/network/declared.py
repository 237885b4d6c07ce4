"""Modules and functions that count as one activation as a whole, whatever they compute it from."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.network.activations import library_class_name

__all__ = ["Declared", "Watcher", "check_elementwise", "declared", "watched"]

_WANTED = (
    "activations must be a list of module classes, modules or functions, or a dictionary of these by the name that "
    "they shall have"
)


@dataclass
class Declared:
    """What counts as one activation as a whole, by what it is, with the name that it goes by.

    Attributes:
        classes: Classes of modules, with their subclasses.
        modules: Single modules.
        functions: Functions of PyTorch, which are seen when they are called.
        codes: Functions written in Python, by their code, with what is called to repeat them.
    """

    classes: dict[type[nn.Module], str] = field(default_factory=dict)
    modules: dict[nn.Module, str] = field(default_factory=dict)
    functions: dict[Callable[..., Any], str] = field(default_factory=dict)
    codes: dict[CodeType, tuple[str, Callable[..., Any]]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of all of them."""
        named = (*self.classes.values(), *self.modules.values(), *self.functions.values())
        return list(dict.fromkeys((*named, *(name for name, _ in self.codes.values()))))

    def name_of(self, module: nn.Module) -> str | None:
        """The name under which a module counts, or None."""
        if module in self.modules:
            return self.modules[module]
        return next((self.classes[base] for base in type(module).__mro__ if base in self.classes), None)


def declared(activations: Collection[Any] | Mapping[str, Any] = ()) -> Declared:
    """What a caller says that counts as an activation.

    Args:
        activations: Classes of modules, modules, functions (of Python or of PyTorch) and subclasses of
            ``torch.autograd.Function``; in a dictionary, by their names. Without one, the name is that of
            the class or function in small letters.

    Raises:
        AffscoreError: Something else.

    >>> class Snake(nn.Module):
    ...     def forward(self, x): return x + torch.sin(x) ** 2
    >>> declared([Snake, torch.sin]).names, declared({"sine": torch.sin}).names
    (['snake', 'sin'], ['sine'])
    """
    found = Declared()
    if isinstance(activations, (str, bytes)) or not isinstance(activations, (Collection, Mapping)):
        raise AffscoreError(f"{_WANTED}; got {activations!r}")
    named = activations.items() if isinstance(activations, Mapping) else ((None, entry) for entry in activations)
    for name, entry in named:
        _enter(found, name, entry)
    return found


def _enter(found: Declared, name: str | None, entry: Any) -> None:
    while isinstance(entry, functools.partial):
        entry = entry.func
    name = name or getattr(entry, "__name__", type(entry).__name__).strip("<>").lower()
    if isinstance(entry, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        raise AffscoreError(f"{name} is TorchScript, which cannot be seen; declare the class of modules that calls it")
    if isinstance(entry, nn.Module):
        found.modules[entry] = name
    elif isinstance(entry, type) and issubclass(entry, nn.Module):
        found.classes[entry] = name
    elif isinstance(entry, type) and issubclass(entry, torch.autograd.Function):
        found.codes[inspect.unwrap(entry.forward).__code__] = (name, _without_context(entry))
    elif inspect.isroutine(entry):
        entry = getattr(entry, "__func__", entry)
        found.functions |= dict.fromkeys(_spellings(entry), name)
        if inspect.isfunction(entry):
            found.codes[entry.__code__] = (name, entry)
    else:
        raise AffscoreError(f"{_WANTED}; got {entry!r} in it")


def _spellings(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """A function, and where it is one of PyTorch's, the same as a method and in place."""
    yield function
    name = function.__name__.rstrip("_")
    homes = (torch, torch.special, torch.nn.functional, Tensor)
    spellings = (name, f"{name}_", f"__{name}__", f"__i{name}__", f"__r{name}__")  # those of operators, too
    if any(getattr(home, function.__name__, None) is function for home in homes):
        yield from (getattr(home, n) for home in homes for n in spellings if hasattr(home, n))


def _without_context(function: type[torch.autograd.Function]) -> Callable[..., Any]:
    """An autograd function that is called with the arguments of its forward."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        takes_context = args and isinstance(args[0], torch.autograd.function.FunctionCtx)
        return function.apply(*(args[1:] if takes_context else args), **kwargs)

    return apply


class Watcher(Protocol):
    """What is told that a declared activation runs."""

    def run_whole(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function; the call counts as one activation of this name."""

    def enter_whole(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        """The function was called with these arguments; whether its end is awaited."""

    def leave_whole(self, output: Any) -> None:
        """The function returned this; None, where it raised."""


@contextmanager
def watched(model: nn.Module, chosen: Declared, watcher: Watcher) -> Iterator[None]:
    """Report the calls of what was declared, and of the activation classes of known libraries.

    A module's forward is exchanged for as long as this lasts. Functions written in Python are seen by
    their code, wherever they are called from, through Python's profiling hook; a profiler that is running
    waits meanwhile.
    """
    exchanged: list[tuple[nn.Module, Any]] = []
    before = sys.getprofile()
    try:
        for module in model.modules():
            name = chosen.name_of(module) or library_class_name(module)
            if name is not None:
                exchanged.append((module, module.__dict__.get("forward")))
                module.forward = functools.partial(_run, watcher, name, module.forward)
        if chosen.codes:
            sys.setprofile(_Profile(chosen.codes, watcher))
        yield
    finally:
        if chosen.codes:
            sys.setprofile(before)
        for module, own in exchanged:
            if own is None:
                del module.forward
            else:
                module.forward = own


def _run(watcher: Watcher, name: str, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return watcher.run_whole(name, forward, args, kwargs)


class _Profile:
    """Python's profiling hook, which looks for the code of a few functions."""

    def __init__(self, codes: Mapping[CodeType, tuple[str, Callable[..., Any]]], watcher: Watcher) -> None:
        self.codes = codes
        self.watcher = watcher
        self.awaited: FrameType | None = None

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and self.awaited is None and frame.f_code in self.codes:
            name, function = self.codes[frame.f_code]
            if self.watcher.enter_whole(name, function, *_arguments(frame)):
                self.awaited = frame
        elif event == "return" and frame is self.awaited:
            self.awaited = None
            self.watcher.leave_whole(arg)


def _arguments(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with which the function of a frame was called."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    positional = tuple(values[name] for name in names[: code.co_argcount])
    end = code.co_argcount + code.co_kwonlyargcount
    named = {name: values[name] for name in names[code.co_argcount : end]}
    if code.co_flags & inspect.CO_VARARGS:
        positional += values[names[end]]
        end += 1
    return positional, named | (values[names[end]] if code.co_flags & inspect.CO_VARKEYWORDS else {})


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
    generator = torch.Generator().manual_seed(0)
    changed = (torch.rand(x.shape, generator=generator) < 0.5).to(x.device)
    before, after = apply(x.clone()), apply(torch.where(changed, 1 - x, x))
    for y in (before, after):
        check_shape(described, y, x)
    scale = 1e-5 * float(before.abs().nan_to_num(0, 0, 0).max())
    if not torch.allclose(before[~changed], after[~changed], rtol=1e-4, atol=scale, equal_nan=True):
        raise AffscoreError(
            f"{described} was declared as an activation, and is none: each entry of its output must depend on the "
            "same entry of its input only, and on no random numbers"
        )


def check_shape(described: str, y: Any, x: Tensor) -> None:
    """Raise an AffscoreError unless the output of an activation is a tensor of its input's shape."""
    if not isinstance(y, Tensor) or y.shape != x.shape:
        got = f"of shape {tuple(y.shape)}" if isinstance(y, Tensor) else f"{type(y).__name__}"
        raise AffscoreError(
            f"{described} counts as an activation, and must return a tensor of its input's shape {tuple(x.shape)}, "
            f"got {'one ' if isinstance(y, Tensor) else ''}{got}"
        )
