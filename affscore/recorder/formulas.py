r"""Activations that a network writes out in a formula: x * sigmoid(x), 0.5 * x * (1 + erf(x / sqrt(2))), maximum(x, 0).

No function stands for these. They are recognised where the ways from one tensor meet again, elementwise on all ways:
in a product with an activation (x and sigmoid(x), say), whatever it is; and in a product, a quotient, a maximum or a
choice that has the values of an activation that we know.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from affscore.recorder.calls import ActivationCall, Event
from affscore.recorder.dataflow import is_wrapped, view_of
from affscore.recorder.effects import is_whole
from affscore.recorder.functions import NO_EFFECT, Effect, Function, as_function

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
        effect: What the function does by itself to the largest of its arguments.
        call: The activation that it is, where it is one.
        in_activation: Whether it is a part of a formula that is an activation.
        numbers: Whether it holds real or complex numbers, and no integers or booleans.
    """

    number: int
    function: Function | None = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    effect: Effect = NO_EFFECT
    call: ActivationCall | None = None
    in_activation: bool = False
    shape: tuple[int, ...] = ()
    tensor: Callable[[], Tensor | None] = lambda: None
    version: int = -1
    numbers: bool = True

    @property
    def sources(self) -> list[Step]:
        """The steps that it was computed from, each once."""
        return list(dict.fromkeys(value for value in (*self.args, *self.kwargs.values()) if isinstance(value, Step)))


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
        version: A number for what a tensor holds now (:meth:`affscore.recorder.dataflow.Dataflow.version`).
    """

    def __init__(self, depends: Callable[[Tensor], bool], version: Callable[[Tensor], int]) -> None:
        self._depends, self._version = depends, version
        self._steps = WeakIdKeyDictionary()
        self._views = weakref.WeakValueDictionary[Any, Step]()
        self._numbers = itertools.count()

    def step(self, event: Event) -> Step | None:
        """The step of a call that is about to run, or None for a function that mixes the entries of a tensor."""
        function, args, effect = event.function, event.args, event.effect
        kwargs = {name: value for name, value in event.kwargs.items() if name != "out"}
        if not effect.elementwise:
            return None
        values = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        # the zeros of maximum(x, zeros) become a number, whatever their shape
        chooses = effect.bends or len(values) > 2 or any(value.dtype is torch.bool for value in values)

        def replaced(value: Any) -> Any:
            if isinstance(value, Tensor) and self._depends(value):
                return self._of(value)
            return _number(value) if isinstance(value, Tensor) and chooses else value

        positional, named = tuple(map(replaced, args)), {key: replaced(value) for key, value in kwargs.items()}
        kept = (*positional, *named.values())
        if any(isinstance(value, Tensor) and value.numel() > _LARGEST_CONSTANT for value in kept):
            return None  # a table of positions, say: it would have to be kept
        shape = tuple(max(event.data, key=Tensor.numel).shape)
        return Step(next(self._numbers), function, positional, named, effect, shape=shape)

    def bind(self, step: Step, output: Tensor) -> Step:
        """The call has returned this: what it was given, where that looks at the same place, as it is now."""
        version = self._version(output)
        self._steps[output] = step = self._views.setdefault((view_of(output), version), step)
        if step.tensor() is None:  # its first tensor, or a view of the place that outlives it
            step.tensor, step.shape, step.version = weakref.ref(output), tuple(output.shape), version
            step.numbers = not is_whole(output)
        return step

    def recognise(self, step: Step) -> Formula | None:
        """The activation that is complete with this step, if it is one."""
        if not step.effect.bends and len(step.sources) < 2:
            return None
        for earlier, (source, inside) in enumerate(_bottlenecks(step)):
            calls = sorted((s.call for s in inside if s.call is not None), key=lambda call: call.index)
            x = source.tensor()
            if calls and (earlier > 0 or x is None or not _multiplies(step, x)):
                return None
            if not calls and not any(s.effect.bends for s in (step, *inside)):
                continue
            if x is None or not x.is_floating_point() or source.shape != step.shape or self.step_of(x) is not source:
                continue

            def apply(z: Tensor, source: Step = source) -> Tensor:
                return evaluated(step, {source: z})

            name = name_by_values(apply, x.device, x.ndim)
            if name is None and calls:
                name = "*".join([*(["x"] if len(calls) == 1 else []), *(call.activation for call in calls)])
            if name is not None and not is_wrapped(x):  # which no listener could take apart
                return Formula(name, x, calls, apply, inside)
        return None

    def step_of(self, tensor: Tensor) -> Step | None:
        """How the tensor, as it is now, was computed, where that is known."""
        step = self._steps.get(tensor)
        return step if step is not None and step.version == self._version(tensor) else None

    def _of(self, tensor: Tensor) -> Step:
        step = self.step_of(tensor)
        return step if step and step.tensor() is not None else self.bind(step or Step(next(self._numbers)), tensor)


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


def _multiplies(step: Step, like: Tensor) -> bool:
    """Whether a step is a multiple of the product of its two sources, which are of this type."""
    if len(step.sources) != 2:
        return False
    ones = torch.ones([1] * len(step.shape), dtype=like.dtype, device="cpu" if like.is_meta else like.device)

    def at(a: float, b: float) -> Tensor:
        return evaluated(step, dict(zip(step.sources, (a * ones, b * ones), strict=True)))

    try:
        one = at(1, 1)
        return bool(one.all()) and all(torch.equal(at(a, b), a * b * one) for a, b in ((-1, 1), (1, -1), (2, 4)))
    except Exception:  # noqa: BLE001  # its constants are of another type
        return False


def single_source(step: Step) -> tuple[Step, list[Step]] | None:
    """The numbers of its shape that a step is an elementwise function of, and the steps between them; or None."""
    return next((pair for pair in _bottlenecks(step) if pair[0].shape == step.shape and pair[0].numbers), None)


def evaluated(step: Step, known: dict[Step, Tensor]) -> Tensor:
    """The value of a formula, given those of some of its steps."""
    if step not in known:
        assert step.function is not None
        given = [evaluated(value, known) for value in (*step.args, *step.kwargs.values()) if isinstance(value, Step)]
        known[step] = as_function(step.function, step.args, step.kwargs, lambda value: isinstance(value, Step))(*given)
    return known[step]


def _number(constant: Tensor) -> Tensor:
    """A constant without its shape, if all of its entries are the same: the zeros of maximum(x, zeros)."""
    if not constant.is_floating_point() or constant.numel() < 2 or constant.is_meta:
        return constant
    first = constant.flatten()[0]
    return first if bool((constant == first).all()) else constant


# How far (relative to its largest value) a formula may be from an activation to get its name. The bound takes the usual
# approximations of GELU for GELU, but not x * sigmoid(1.702 x), which has a name of its own.
_SMOOTH, _EXACT = 1e-3, 1e-6
_TOLERANCES = dict.fromkeys("relu relu6 hardtanh hardsigmoid hardswish hard_mish relu_squared softsign".split(), _EXACT)
_TOLERANCES |= dict.fromkeys("gelu quick_gelu silu mish elu selu softplus sigmoid tanh".split(), _SMOOTH)
_WRITTEN_OUT: Mapping[str, Callable[[Tensor], Tensor]] = {
    "hard_mish": lambda z: 0.5 * z * (z + 2).clamp(0, 2),
    "relu_squared": lambda z: F.relu(z).square(),
    "quick_gelu": lambda z: z * torch.sigmoid(1.702 * z),
}

_GRID = torch.cat([torch.tensor([-40, -12]), torch.linspace(-8, 8, 129), torch.tensor([12, 40])])
_NEAR = slice(2, -2)


def name_by_values(function: Function, device: torch.device | None = None, ndim: int = 1) -> str | None:
    """The name of the known activation of which a function is a positive multiple on [-8, 8] and far off, or None.

    >>> name_by_values(lambda z: z / (1 + torch.exp(-z)))
    'silu'
    >>> name_by_values(lambda z: torch.where(z > 0, z, 0.2 * z))
    'leaky_relu'
    >>> name_by_values(lambda z: z.clamp(min=-2)) is None
    True
    """
    grid = _GRID.view(-1, *[1] * (ndim - 1)).to("cpu" if device is None or device.type == "meta" else device)
    try:
        values = function(grid).double().cpu()
    except Exception:  # noqa: BLE001  # a constant of another shape or without numbers: it cannot be evaluated here
        return None
    if values.shape != grid.shape or not bool(torch.isfinite(values).all()) or not bool(values[_NEAR].any()):
        return None
    values, grid, expected = values.flatten(), _GRID, _known_values()
    scales = (expected[:, _NEAR] @ values[_NEAR] / expected[:, _NEAR].square().sum(dim=1))[:, None]
    sizes = values.abs().clamp(min=values[_NEAR].abs().max())
    errors = ((values - scales * expected).abs() / sizes).amax(dim=1)
    for (name, tolerance), scale, error in zip(_TOLERANCES.items(), scales, errors.tolist(), strict=True):
        guard = name == "relu" and values[grid <= 0].any()  # maximum(x, 1e-6), which guards a quotient
        if scale > 0 and error <= tolerance + 1e-7 and not guard:
            return name
    slopes = values[grid != 0] / grid[grid != 0]
    below, above = slopes.chunk(2)
    straight = max(float(side.max() - side.min()) for side in (below, above)) <= _EXACT * float(slopes.abs().max())
    return "leaky_relu" if straight and 0 < float(below.mean()) < 0.99 * float(above.mean()) else None


@lru_cache
def _known_values() -> Tensor:
    """The values of the activations that have a name on the grid, a row for each."""
    return torch.stack([(_WRITTEN_OUT.get(name) or getattr(F, name))(_GRID.double()) for name in _TOLERANCES])
