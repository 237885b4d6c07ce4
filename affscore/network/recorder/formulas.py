r"""Activations that a network writes out in a formula: x * sigmoid(x), 0.5 * x * (1 + erf(x / sqrt(2))), maximum(x, 0).

No function stands for these. They are recognised where the ways from one tensor meet again, elementwise on all ways:
in a product with an activation (x and sigmoid(x), say), whatever it is; and in a product, a quotient, a maximum or a
choice that has the values of an activation that we know.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from affscore.network.recorder.calls import ActivationCall
from affscore.network.recorder.functions import (
    BENDS,
    CHOICES,
    ELEMENTWISE,
    PRODUCTS,
    QUOTIENTS,
    Function,
    kind_of,
    name_by_values,
    writes_in_place,
)

_TAKE_ONE = QUOTIENTS | CHOICES  # these may bend a single tensor

_LARGEST_CONSTANT = 2**16
_LONGEST_FORMULA = 64


@dataclass(eq=False)
class Step:
    """One tensor of a formula, and how it was computed; a leaf has no function.

    Attributes:
        number: Later steps have larger ones.
        function: What computed it.
        args: Its arguments, steps in the place of tensors.
        kwargs: Its named arguments, likewise.
        call: The activation that it is, where it is one.
        in_activation: Whether it is a part of a formula that is an activation.
    """

    number: int
    function: Function | None = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    call: ActivationCall | None = None
    in_activation: bool = False
    shape: tuple[int, ...] = ()
    _tensor: Callable[[], Tensor | None] = lambda: None
    _version: int = -1

    @property
    def sources(self) -> list[Step]:
        """The steps that it was computed from, each once."""
        found = (value for value in (*self.args, *self.kwargs.values()) if isinstance(value, Step))
        return list(dict.fromkeys(found))

    @property
    def kind(self) -> str:
        """The name of the function without underscores: "mul" for mul, mul_ and __mul__."""
        return kind_of(self.function)

    def bind(self, tensor: Tensor) -> None:
        """This tensor, as it is now, is the result of the step."""
        self._tensor, self.shape = weakref.ref(tensor), tuple(tensor.shape)
        self._version = -1 if tensor.is_inference() else tensor._version

    def holds(self, tensor: Tensor) -> bool:
        """Whether the tensor has not been overwritten since; of an inference tensor nobody knows."""
        return not tensor.is_inference() and self._version == tensor._version

    @property
    def tensor(self) -> Tensor | None:
        """The tensor, if it is alive and as it was."""
        tensor = self._tensor()
        return tensor if tensor is not None and self.holds(tensor) else None


@dataclass
class Formula:
    """An activation that was recognised in a formula.

    Attributes:
        name: What it is, or what it is made of ("x*tanh").
        source: Its input.
        calls: The activations inside, which are no activations of their own.
        apply: The formula, for another input.
        inside: The steps between its input and its output.
    """

    name: str
    source: Tensor
    calls: list[ActivationCall]
    apply: Callable[[Tensor], Tensor]
    inside: list[Step]


class Formulas:
    """What every live tensor was computed from, elementwise, by which functions.

    Args:
        depends: Whether a tensor depends on the network's input; others are constants of a formula.
    """

    def __init__(self, depends: Callable[[Tensor], bool]) -> None:
        self._depends = depends
        self._steps = WeakIdKeyDictionary()
        self._numbers = itertools.count()

    def step(
        self, function: Function, args: Sequence[Any], kwargs: dict[str, Any], elementwise: bool = False
    ) -> Step | None:
        """The step of a call that is about to run, or None for a function that mixes the entries of a tensor.

        Args:
            function: What will be called.
            args: Its arguments.
            kwargs: Its named arguments.
            elementwise: It is known to act on each entry by itself.
        """
        kind = kind_of(function)
        if not (elementwise or kind in ELEMENTWISE) or "out" in kwargs:
            return None
        if kind in ("max", "min") and not (len(args) > 1 and isinstance(args[1], Tensor)):
            return None
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]

        def replaced(value: Any) -> Any:
            if isinstance(value, Tensor) and self._depends(value):
                return self._of(value)
            return _number(value) if isinstance(value, Tensor) and kind in CHOICES else value

        positional, named = tuple(map(replaced, args)), {key: replaced(value) for key, value in kwargs.items()}
        constants = (value for value in (*positional, *named.values()) if isinstance(value, Tensor))
        if any(constant.numel() > _LARGEST_CONSTANT for constant in constants):
            return None  # a table of positions, say: it would have to be kept
        step = Step(next(self._numbers), function, positional, named)
        try:
            step.shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))  # that of torch imports sympy
        except ValueError:
            return None  # the call itself will say what is wrong
        return step

    def bind(self, step: Step, output: Tensor) -> None:
        """The call has returned this."""
        if self.step_of(output) is None:  # else it handed on what it was given
            step.bind(output)
            self._steps[output] = step

    def recognise(self, step: Step) -> Formula | None:
        """The activation that is complete with this step, if it is one."""
        if step.kind not in _TAKE_ONE and (step.kind not in PRODUCTS or len(step.sources) < 2):
            return None
        for place, (source, inside) in enumerate(_bottlenecks(step)):
            calls = sorted((s.call for s in inside if s.call is not None), key=lambda call: call.index)
            if calls and (place > 0 or step.kind not in PRODUCTS):
                return None
            if not calls and not any(s.kind in BENDS for s in (step, *inside)):
                continue
            x = source.tensor
            if x is None or not x.is_floating_point() or tuple(x.shape) != step.shape:
                continue

            def apply(z: Tensor, source: Step = source) -> Tensor:
                return _evaluate(step, {source: z})

            name = name_by_values(apply, x.device)
            if name is None and calls:
                name = "*".join([*(["x"] if len(calls) == 1 else []), *(call.activation for call in calls)])
            if name is not None:
                return Formula(name, x, calls, apply, inside)
        return None

    def step_of(self, tensor: Tensor) -> Step | None:
        """How the tensor, as it is now, was computed, where that is known."""
        step = self._steps.get(tensor)
        return step if step is not None and step.holds(tensor) else None

    def _of(self, tensor: Tensor) -> Step:
        step = self.step_of(tensor)
        if step is None:
            self.bind(step := Step(next(self._numbers)), tensor)
        return step


def _bottlenecks(step: Step) -> Iterator[tuple[Step, list[Step]]]:
    """The steps through which every way to this one leads, nearest first, each with the steps behind it."""
    frontier = set(step.sources)
    inside: list[Step] = []
    while frontier and len(inside) < _LONGEST_FORMULA:
        latest = max(frontier, key=lambda s: s.number)
        if len(frontier) == 1:
            yield latest, list(inside)
        if not latest.sources:
            return
        inside.append(latest)
        frontier.remove(latest)
        frontier.update(latest.sources)


def single_source(step: Step) -> tuple[Step, list[Step]] | None:
    """The tensor of its shape that a step is an elementwise function of, and the steps between them; or None."""
    return next(((source, inside) for source, inside in _bottlenecks(step) if source.shape == step.shape), None)


def _evaluate(step: Step, known: dict[Step, Tensor]) -> Tensor:
    if step not in known:
        assert step.function is not None
        args = [_evaluate(a, known) if isinstance(a, Step) else a for a in step.args]
        kwargs = {key: _evaluate(a, known) if isinstance(a, Step) else a for key, a in step.kwargs.items()}
        if writes_in_place(step.function):
            args[0] = args[0].clone()
        known[step] = step.function(*args, **kwargs)
    return known[step]


def _number(constant: Tensor) -> Tensor:
    """A constant without its shape, if all of its entries are the same: the zeros of maximum(x, zeros)."""
    if not constant.is_floating_point() or constant.numel() < 2 or constant.is_meta:
        return constant
    first = constant.flatten()[0]
    return first if bool((constant == first).all()) else constant
