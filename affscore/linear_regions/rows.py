"""A network runs once, as for one sample, and computes at many points of its input: the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.linear_regions.operations import (
    ELEMENTWISE, REARRANGING, RESHAPING, SAMPLE_BY_SAMPLE, Function, Step, channelwise, leaves, replaced, step_of,
)  # fmt: skip
from affscore.linear_regions.pooling import MaxPool
from affscore.linear_regions.prepared import Network
from affscore.network.recorder.dataflow import address
from affscore.network.recorder.functions import writes_in_place

SLICE = 16
"""Rows of one convolution on a CPU: PyTorch unfolds all samples of a batch in double precision, and out of the cache."""


class Rows(Tensor):
    """A tensor of the network: to the network that of one sample, and inside one for each point.

    Its shape, (1, ...) at the input, and its type are all that the network can see. Every function of it goes to the
    run that it belongs to.

    Attributes:
        rows: The numbers, (points, *shape).
        run: Where its functions go.
        grid: Which points these are, if the run adds points on the way.
    """

    rows: Tensor
    run: Run
    grid: int

    @classmethod
    def of(cls, rows: Tensor, run: Run, grid: int = 0) -> Rows:
        """A tensor of the network with these numbers."""
        self = rows.new_zeros(()).expand(rows.shape[1:]).as_subclass(cls)
        self.rows, self.run, self.grid = rows, run, grid
        self._memory, self._seen = _Memory(), 0
        return self

    @classmethod
    def __torch_function__(
        cls, func: Function, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        tensors = leaves((args, kwargs), Rows)
        return tensors[0].run.call(func, args, kwargs or {}, tensors)

    def shares(self, other: Rows) -> None:
        """Note that two tensors have their numbers in one place: what is written into one would be seen in the other."""
        self._memory, self._seen = other._memory, other._seen

    def overwrite(self, other: Rows) -> None:
        """What an operation in place does."""
        self.rows, self.grid = other.rows, other.grid
        self._memory.writes += 1
        self._seen = self._memory.writes

    @property
    def stale(self) -> bool:
        """Whether its numbers were overwritten through another tensor: a view, or what it is a view of."""
        return self._seen != self._memory.writes


class _Memory:
    """What tensors that are views of each other share."""

    writes = 0


class Run:
    """Points on their way through a network. What a bend does to them is for the subclasses to say.

    Args:
        network: The network.

    Attributes:
        widest: The most features that a sample has in a layer.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.widest = 1

    def activation(self, x: Rows, slope: float | Tensor) -> Rows:
        """What ReLU, LeakyReLU or PReLU makes of features."""
        raise NotImplementedError

    def max_pool(self, x: Rows, pool: MaxPool) -> Rows:
        """What a max pooling makes of features."""
        raise NotImplementedError

    def aligned(self, tensors: Sequence[Rows], newest: bool = False) -> int:
        """Bring tensors to the same points, the latest among theirs or the latest of all, and say to which."""
        return 0

    @torch.no_grad()
    def through(self, points: Tensor) -> Tensor:
        """The logits of points: (n, *shape of a sample) to (n, logits).

        Raises:
            AffscoreError: The network has an operation that is not piecewise affine, or fails.
        """
        with torch.autocast(points.device.type, enabled=False):
            output = self.network.run(Rows.of(points.unsqueeze(1), self))
        if not isinstance(output, Rows):
            what = "does not depend on its input" if isinstance(output, Tensor) else f"is a {type(output).__name__}"
            raise AffscoreError(
                f"the output of the network {what}, as far as functions of PyTorch show; linear regions need a network "
                "in plain PyTorch that maps a tensor to a tensor"
            )
        self.aligned([output], newest=True)
        return output.rows.flatten(1)

    def call(self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], tensors: list[Rows]) -> Any:
        """A function of PyTorch on tensors of the network."""
        try:
            step = step_of(function, args, kwargs, tensors)
            if step.kind == "about":
                return _plainly(function, args, kwargs)
            if any(tensor.stale for tensor in tensors):
                raise AffscoreError(f"{step.name} reads what an operation in place has overwritten through a view")
            in_place = writes_in_place(function) or bool(kwargs.get("inplace"))
            output = self._computed(step, function, args, kwargs, tensors, in_place)
            return _written(output, args[0] if args else tensors[0], step) if in_place else output
        except AffscoreError as error:
            raise AffscoreError(f"{self.network.place}: {error}") from None

    def _computed(
        self, step: Step, function: Function, args: tuple[Any, ...], kwargs: Any, tensors: list[Rows], in_place: bool
    ) -> Any:
        x = tensors[0]
        if step.kind == "same":
            return x
        if step.kind == "cast":
            return _cast(x, function, args, kwargs, step.name)
        if step.kind == "activation":
            return self.activation(x, channelwise(step.slope, x.rows.shape[1:]))
        if step.kind == "max pool":
            return self.max_pool(x, MaxPool(step.name, step.window))
        grid = self.aligned(tensors)
        if in_place and args and isinstance(args[0], Rows):  # on a copy
            args = (Rows.of(x.rows.clone(), self, grid), *args[1:])
            tensors = [args[0], *tensors[1:]]
        values = _affine(step.name, function, args, kwargs, tensors)
        single = isinstance(values, Tensor)
        outputs = [Rows.of(value, self, grid) for value in ([values] if single else values)]
        for output in outputs:
            self.widest = max(self.widest, output.rows.shape[1:].numel())
            if step.name in REARRANGING and address(output.rows) == address(tensors[0].rows):
                output.shares(tensors[0])
        return outputs[0] if single else type(values)(outputs)


def _affine(name: str, function: Function, args: Any, kwargs: Any, tensors: list[Rows]) -> Any:
    """An affine function of each point by itself, by the shortest way that there is."""
    values = [tensor.rows for tensor in tensors]
    x = values[0]
    if name in RESHAPING:
        return x.reshape(len(x), *_plainly(function, args, kwargs).shape)
    if name == "linear" and args[0] is tensors[0]:
        return function(x, *args[1:], **kwargs)
    if (axes := SAMPLE_BY_SAMPLE.get(name)) is not None and args[0] is tensors[0] and x.shape[1] == 1:
        if axes in (0, x.ndim - 3):  # else it is a sample without the axis of samples
            samples = x.flatten(0, 1)
            if samples.device.type != "cpu" or "conv" not in name or len(samples) <= SLICE:
                return function(samples, *args[1:], **kwargs).unsqueeze(1)
            return torch.cat([function(part, *args[1:], **kwargs) for part in samples.split(SLICE)]).unsqueeze(1)

    def of_rows(*rows: Tensor) -> Any:
        given = iter(rows)
        return function(*replaced(args, Rows, given), **replaced(kwargs, Rows, given))

    return of_rows(*values) if name in ELEMENTWISE and _broadcasts(values, args) else torch.vmap(of_rows)(*values)


def _broadcasts(values: list[Tensor], args: tuple[Any, ...]) -> bool:
    """Whether an elementwise function broadcasts with the axis of points as it does without."""
    axes = {value.ndim for value in values}
    plain = [value.ndim for value in args if isinstance(value, Tensor) and not isinstance(value, Rows)]
    return len(axes) == 1 and max(plain, default=0) < max(axes)


def _written(output: Any, target: Any, step: Step) -> Rows:
    """What an operation in place returns: its first argument, with other numbers."""
    if not isinstance(target, Rows):
        raise AffscoreError(f"{step.name} writes features in place into a tensor that does not depend on the input")
    if output is not target:
        if output.rows.shape[1:] != target.rows.shape[1:]:
            raise AffscoreError(f"{step.name} changes the shape of features in place")
        target.overwrite(output)
    return target


def _plainly(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        return function(*args, **kwargs)


def _cast(x: Rows, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, name: str) -> Rows:
    """Features stay in double precision, whatever type of floating point the network asks for."""
    dtype = _plainly(function, args, kwargs).dtype
    if not dtype.is_floating_point:
        raise AffscoreError(f"{name} rounds features to {dtype} and is not affine")
    return x
