r"""Activations that a network writes out in a formula: x * sigmoid(x), 0.5 * x * (1 + erf(x / sqrt(2))), maximum(x, 0).

No function stands for these. They are recognised where the ways from one tensor meet again, elementwise on all ways:
in a product with an activation (x and sigmoid(x), say), whatever it is; and in a product, a quotient, a maximum or a
choice that has the values of an activation that we know.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from affscore.network.calls import ActivationCall

__all__ = [
    "ELEMENTWISE", "NAMED_BY_VALUES", "PRODUCTS", "QUOTIENTS", "Formula", "Formulas", "Step", "kind_of",
    "name_by_values", "single_source", "writes_in_place",
]  # fmt: skip


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


PRODUCTS = _names("mul imul rmul multiply")
QUOTIENTS = _names("div idiv truediv itruediv rdiv rtruediv divide true_divide reciprocal log log1p")
_CHOICES = _names("maximum minimum max min fmax fmin where masked_fill")
_COMPARISONS = _names("gt lt ge le greater less greater_equal less_equal")
_BENDS = _CHOICES | _COMPARISONS | _names("abs absolute sign exp expm1 clamp clamp_min clamp_max clip")
_OTHERS = _names(
    "add iadd radd sub isub rsub subtract neg negative pow ipow rpow square sqrt to type_as float half double bfloat16 "
    "clone contiguous sin cos"
)
ELEMENTWISE = PRODUCTS | QUOTIENTS | _CHOICES | _BENDS | _OTHERS
_TAKE_ONE = QUOTIENTS | _CHOICES  # these may bend a single tensor

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
    """

    number: int
    function: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    call: ActivationCall | None = None
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
    """What every live tensor was computed from, elementwise, by which functions."""

    def __init__(self) -> None:
        self._steps: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self._count = 0

    def step(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        depends: Callable[[Tensor], bool],
        elementwise: bool = False,
    ) -> Step | None:
        """The step of a call that is about to run, or None for a function that mixes the entries of a tensor.

        Args:
            function: What will be called.
            args: Its arguments.
            kwargs: Its named arguments.
            depends: Whether a tensor depends on the network's input; others are constants of the formula.
            elementwise: It is known to act on each entry by itself.
        """
        if not (elementwise or kind_of(function) in ELEMENTWISE) or "out" in kwargs:
            return None
        if kind_of(function) in ("max", "min") and not (len(args) > 1 and isinstance(args[1], Tensor)):
            return None
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]

        def replaced(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            if depends(value):
                return self._of(value)
            return _number(value) if kind_of(function) in _CHOICES else value

        positional, named = tuple(map(replaced, args)), {key: replaced(value) for key, value in kwargs.items()}
        constants = (value for value in (*positional, *named.values()) if isinstance(value, Tensor))
        if any(constant.numel() > _LARGEST_CONSTANT for constant in constants):
            return None  # a table of positions, say: it would have to be kept
        step = Step(self._next(), function, positional, named)
        try:
            step.shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))  # that of torch imports sympy
        except ValueError:
            return None  # the call itself will say what is wrong
        return step

    def bind(self, step: Step, output: Tensor) -> None:
        """The call has returned this."""
        known = self._steps.get(output)
        if known is not None and known.holds(output):
            return  # it handed on what it was given
        step.bind(output)
        self._steps[output] = step

    def recognise(self, step: Step) -> Formula | None:
        """The activation that is complete with this step, if it is one."""
        if step.kind not in PRODUCTS and step.kind not in _TAKE_ONE:
            return None
        if step.kind not in _TAKE_ONE and len(step.sources) < 2:
            return None
        first = True
        for source, inside in _bottlenecks(step):
            calls = sorted((s.call for s in inside if s.call is not None), key=lambda call: call.index)
            if calls and not (first and step.kind in PRODUCTS):
                return None
            first = False
            if not calls and not any(s.kind in _BENDS for s in (step, *inside)):
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
            step = Step(self._next())
            step.bind(tensor)
            self._steps[tensor] = step
        return step

    def _next(self) -> int:
        self._count += 1
        return self._count


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


# Names by values: the functions, and how far (relative to their largest value) a formula may be from them. The bound
# takes the usual approximations of GELU for GELU, but not x * sigmoid(1.702 x), which has a name of its own.
_SMOOTH, _EXACT = 1e-3, 1e-6
_KNOWN: dict[str, tuple[Callable[[Tensor], Tensor], float]] = {
    "relu": (F.relu, 0.0),  # not maximum(x, 1e-6), which guards a quotient
    "relu6": (F.relu6, _EXACT),
    "hardtanh": (F.hardtanh, _EXACT),
    "hardsigmoid": (F.hardsigmoid, _EXACT),
    "hardswish": (F.hardswish, _EXACT),
    "hard_mish": (lambda z: 0.5 * z * (z + 2).clamp(0, 2), _EXACT),
    "relu_squared": (lambda z: F.relu(z).square(), _EXACT),
    "softsign": (F.softsign, _EXACT),
    "gelu": (F.gelu, _SMOOTH),
    "quick_gelu": (lambda z: z * torch.sigmoid(1.702 * z), _SMOOTH),
    "silu": (F.silu, _SMOOTH),
    "mish": (F.mish, _SMOOTH),
    "elu": (F.elu, _SMOOTH),
    "selu": (F.selu, _SMOOTH),
    "softplus": (F.softplus, _SMOOTH),
    "sigmoid": (torch.sigmoid, _SMOOTH),
    "tanh": (torch.tanh, _SMOOTH),
}

NAMED_BY_VALUES = (*_KNOWN, "leaky_relu")
"""The activations that a formula can turn out to be."""


def name_by_values(function: Callable[[Tensor], Tensor], device: torch.device | None = None) -> str | None:
    """The name of the known activation of which a function is a positive multiple on [-8, 8], or None.

    >>> name_by_values(lambda z: z / (1 + torch.exp(-z)))
    'silu'
    >>> name_by_values(lambda z: torch.where(z > 0, z, 0.2 * z))
    'leaky_relu'
    >>> name_by_values(lambda z: z.clamp(min=-2)) is None
    True
    """
    grid = torch.linspace(-8, 8, 129, device=None if device is None or device.type == "meta" else device)
    try:
        values = function(grid).double().cpu()
    except (RuntimeError, TypeError):  # a constant of another shape or without numbers: it cannot be evaluated here
        return None
    if values.shape != grid.shape or not bool(torch.isfinite(values).all()) or not bool(values.any()):
        return None
    grid = grid.double().cpu()
    for name, (known, tolerance) in _KNOWN.items():
        expected = known(grid)
        scale = float(values @ expected / expected.square().sum())
        rounding = 0.0 if tolerance == 0 else 1e-7
        zeros = bool((values[expected == 0] == 0).all()) or tolerance > 0
        error = float((values - scale * expected).abs().max() / values.abs().max())
        if scale > 0 and zeros and error <= max(tolerance, _EXACT) + rounding:
            return name
    slopes = values[grid != 0] / grid[grid != 0]
    below, above = slopes[:64], slopes[64:]
    straight = max(float(side.max() - side.min()) for side in (below, above)) <= _EXACT * float(slopes.abs().max())
    return "leaky_relu" if straight and 0 < float(below.mean()) < 0.99 * float(above.mean()) else None


def writes_in_place(function: Callable[..., Any]) -> bool:
    """Whether a function of PyTorch overwrites its first argument, by its name.

    >>> writes_in_place(Tensor.relu_), writes_in_place(Tensor.__iadd__), writes_in_place(Tensor.__add__)
    (True, True, False)
    """
    name = getattr(function, "__name__", "")
    return (name.endswith("_") and not name.endswith("__")) or name == "__setitem__" or name.startswith("__i")


def _number(constant: Tensor) -> Tensor:
    """A constant without its shape, if all of its entries are the same: the zeros of maximum(x, zeros)."""
    if constant.is_floating_point() and constant.numel() > 1 and not constant.is_meta:
        first = constant.flatten()[0]
        return first if bool((constant == first).all()) else constant
    return constant


def kind_of(function: Any) -> str:
    """The name of a function without underscores: "mul" for mul, mul_ and __mul__; "exp2" for special_exp2."""
    return getattr(function, "__name__", "").strip("_").removeprefix("special_")
