"""A network runs once, on features that note what is done to them: that gives its operations.

So it may be written as one likes: modules, functions, methods, loops. What it does must not depend on the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import repeat
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.linear_regions.affine import Place, for_points
from affscore.linear_regions.double import run
from affscore.linear_regions.folding import folded
from affscore.linear_regions.operations import REARRANGING, Function, Meaning, leaves, meaning_of, replaced
from affscore.linear_regions.pooling import MaxPool
from affscore.linear_regions.program import Activation, Affine, Operation, Program
from affscore.recorder.dataflow import address
from affscore.recorder.functions import writes_in_place


def program_of(module: nn.Module, sample: Tensor) -> Program:
    """The operations of a network.

    Args:
        module: The network, in double precision and evaluation mode.
        sample: A sample, (1, ...).

    Raises:
        AffscoreError: The network fails, or has an operation that is neither affine nor one of the bends that are known
            (the message says in which layer).

    >>> program = program_of(nn.Sequential(nn.Linear(2, 3), nn.ReLU()).double(), torch.ones(1, 2, dtype=torch.float64))
    >>> [type(operation.what).__name__ for operation, _ in program.steps]
    ['Affine', 'Activation']
    """
    tracer = _Tracer()
    with tracer.following(module):
        output = run(module, tracer.features(sample.unsqueeze(0)))
    if not isinstance(output, Features):
        what = "does not depend on its input" if isinstance(output, Tensor) else f"is a {type(output).__name__}"
        raise AffscoreError(
            f"the output of the network {what}, as far as functions of PyTorch show; linear regions need a network in "
            "plain PyTorch that maps a tensor to a tensor"
        )
    operations = folded(tracer.operations, tracer.shapes, output.slot, sample)
    return Program(operations, output.slot, max(shape.numel() for shape in tracer.shapes))


class Features(Tensor):
    """A tensor of the network that depends on the input. What it does to it goes to the tracer.

    The network can see its shape and its type, and no numbers: what reads them where this is not seen gets NaN.

    Attributes:
        content: The numbers, (1, *shape).
        slot: Its number in the operations.
        tracer: What takes them down.
        taken: Of a part x[index] of features: x and the index.
    """

    content: Tensor
    slot: int
    tracer: _Tracer
    taken: tuple[Features | None, Any]
    _writes: list[int]
    _seen: int

    @classmethod
    def __torch_function__(
        cls, func: Function, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        tensors = leaves((args, kwargs or {}), Features)
        return tensors[0].tracer.call(func, args, kwargs or {}, tensors)

    def shares(self, other: Features) -> None:
        """Note that two tensors have their numbers in one place: what is written into one is seen in the other."""
        self._writes, self._seen = other._writes, other._seen

    def overwrite(self, other: Features) -> None:
        """What an operation in place does."""
        self.content, self.slot = other.content, other.slot
        self._writes[0] += 1
        self._seen = self._writes[0]

    @property
    def stale(self) -> bool:
        """Whether its numbers were overwritten through another tensor: a view, or what it is a view of."""
        return self._seen != self._writes[0]

    def gets_back(self, index: Any, part: Any) -> bool:
        """Whether a part of it is put back where it was taken, with other numbers: the second half of x[index] += 1."""
        whole, place = part.taken if isinstance(part, Features) else (None, None)
        same = place is index or (isinstance(index, slice) and place == index)
        return whole is self and same and not part.stale and self._writes[0] == self._seen + 1


class _Tracer:
    """Takes down what a network does to features.

    Attributes:
        operations: Up to now.
        shapes: Of the features up to now, by their numbers.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.shapes: list[torch.Size] = []
        self._path: list[str] = []

    @contextmanager
    def following(self, module: nn.Module) -> Iterator[None]:
        """Know which layer runs."""
        with ExitStack() as stack:
            for path, part in module.named_modules():
                enter = part.register_forward_pre_hook(partial(self._enter, path), prepend=True)
                leave = part.register_forward_hook(self._leave, always_call=True)
                stack.callback(enter.remove)
                stack.callback(leave.remove)
            yield

    def _enter(self, path: str, *_: Any) -> None:
        self._path.append(path)

    def _leave(self, *_: Any) -> None:
        self._path.pop()

    def features(self, content: Tensor) -> Features:
        """New features with these numbers, (1, *shape)."""
        new = content.new_full((), torch.nan).expand(content.shape[1:]).as_subclass(Features)
        new.content, new.slot, new.tracer = content, len(self.shapes), self
        new.taken, new._writes, new._seen = (None, None), [0], 0
        self.shapes.append(content.shape[1:])
        return new

    def call(
        self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], tensors: list[Features]
    ) -> Any:
        """A function of PyTorch on features."""
        try:
            meaning = meaning_of(function, args, kwargs, tensors)
            if meaning.kind == "about":
                return _plainly(function, args, kwargs)
            put_back = meaning.name == "setitem" and isinstance(args[0], Features) and args[0].gets_back(*args[1:])
            if any(tensor.stale for tensor in tensors) and not put_back:
                raise AffscoreError(f"{meaning.name} reads what an operation in place has overwritten through a view")
            in_place = writes_in_place(function) or bool(kwargs.get("inplace"))
            target = (args[0] if args else tensors[0]) if in_place else None
            if target is not None and not isinstance(target, Features):
                raise AffscoreError(
                    f"{meaning.name} writes features into a tensor that does not depend on the input; put the parts "
                    "together by torch.cat or torch.stack, or write into a copy of features"
                )
            if kwargs.get("out") is not None:
                raise AffscoreError(f"{meaning.name} writes into out=; use what it returns instead")
            output = self._output(meaning, function, args, kwargs, tensors, copied=target is not None)
            return output if target is None else _written(output, target, meaning.name)
        except AffscoreError as error:
            layer = self._path[-1] if self._path else ""
            raise AffscoreError(f"{f'layer {layer!r}' if layer else 'the network'}: {error}") from None

    def _output(
        self, meaning: Meaning, function: Function, args: Any, kwargs: Any, tensors: list[Features], copied: bool
    ) -> Any:
        x = tensors[0]
        if meaning.kind == "same":
            return x
        if meaning.kind == "cast":
            cast = _plainly(function, args, kwargs)
            if isinstance(cast, Tensor) and not cast.is_floating_point():
                raise AffscoreError(f"{meaning.name} rounds features to {cast.dtype} and is not affine")
            return x if isinstance(cast, Tensor) else cast  # x.type() is a text
        if meaning.kind == "activation":
            bend = Activation.of(meaning.slope, x.content.shape[1:])
            return self._noted(bend, [x], bend.bent(x.content.reshape(1, -1)).view(x.content.shape))
        if meaning.kind == "max pool":
            pool = MaxPool.of(meaning.name, meaning.window, x.content)
            return self._noted(pool, [x], pool(x.content)[0])
        given = [tensor.content for tensor in tensors]
        index = args[-1] if args else None
        # lists are taken as they are now: a network may go on with them
        args, kwargs = replaced((args, dict(kwargs)), Features, repeat(Place()))
        compute = for_points(meaning.name, function, args, kwargs, given, copied)
        values = compute(*given)
        for value in leaves([values], Tensor):
            if value.dtype != x.content.dtype:
                raise AffscoreError(f"{meaning.name} makes {value.dtype} of features; regions need double precision")
        outputs = self._noted(Affine(meaning.name, compute), tensors, values)
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            if meaning.name in REARRANGING and address(output.content) == address(x.content):
                output.shares(x)
        if meaning.name == "getitem":
            outputs.taken = x, index
        return outputs

    def _noted(self, what: Affine | Activation | MaxPool, inputs: Sequence[Features], values: Any) -> Any:
        """Take down an operation; returns the features that it made."""
        found = tuple(self.features(one) for one in ((values,) if isinstance(values, Tensor) else values))
        indices = (tuple(one.slot for one in ones) for ones in (inputs, found))
        self.operations.append(Operation(what, *indices))
        return found[0] if isinstance(values, Tensor) else found


def _written(output: Any, target: Features, name: str) -> Features:
    """What an operation in place returns: its first argument, with other numbers."""
    if output is not target:
        if output.content.shape != target.content.shape:
            raise AffscoreError(f"{name} changes the shape of features in place")
        target.overwrite(output)
    return target


def _plainly(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A function of the shape and the type alone."""
    with torch._C.DisableTorchFunctionSubclass():
        return function(*args, **kwargs)
