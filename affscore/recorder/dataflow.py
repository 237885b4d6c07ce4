"""What a tensor in a running network descends from: how many activations, and which one last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.multiprocessing.reductions import StorageWeakRef

_PLAIN = (int, float, str, type(None))

View = tuple[Sequence[int], Sequence[int], int]
"""Shape, strides and offset of a tensor: which entries of a storage it looks at."""


@dataclass(frozen=True)
class Origin:
    """Where the contents of a tensor come from.

    Attributes:
        depth: The largest number of activations on a path from the network's input to here.
        last_activation: Index of the latest activation upstream, or None.
        activation: Index of the activation that these numbers are the output of, or None.
        summed: Whether these numbers are the sum of two tensors that depend on the input.
        layers: The largest number of functions that make channels (a linear layer, attention) on a path to here.
    """

    depth: int
    last_activation: int | None = None
    activation: int | None = None
    summed: bool = False
    layers: int = field(default=0, compare=False)


@dataclass
class _Contents:
    """What is known of a place in memory: the origin of its numbers, that of parts written later, and how often."""

    alive: Any  # keeps the address from being used again while we remember it
    origin: Origin | None = None
    parts: dict[View, Origin] = field(default_factory=dict)
    writes: int = 0


class Dataflow:
    """The origin of every live tensor that depends on the network's input.

    Origins are kept by storage: a view shares its base's numbers, so it shares their origin. An in-place operation
    changes the origin for all who look at the numbers that it overwrites, and for nobody who looks at others.
    A tensor without an origin (a parameter, a table of positions) does not depend on the input.

    Attributes:
        left: The origin of numbers that left PyTorch (for NumPy, say), by the layer where.
        outside: The layers where numbers left that came back.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Contents] = {}
        self.left: dict[str, Origin | None] = {}
        self.outside: set[str] = set()

    def mark(self, tensor: Tensor, origin: Origin, part: bool = False) -> None:
        """Say where the numbers of a tensor come from.

        Args:
            tensor: It.
            origin: Where they come from.
            part: Whether other numbers of the same storage, which it shows no part of, stay as they were.
        """
        known, storage = self._contents(tensor), _storage(tensor)
        entries = storage.nbytes() // tensor.element_size() if storage is not None else 0
        if part and known.origin is not None and tensor.numel() < entries:
            known.parts[_view(tensor)] = origin
        else:
            known.origin, known.parts = origin, {}

    def _contents(self, tensor: Tensor) -> _Contents:
        where = address(tensor)
        if where not in self._known:
            storage = _storage(tensor)
            self._known[where] = _Contents(tensor if storage is None else StorageWeakRef(storage))
        return self._known[where]

    def __contains__(self, tensor: Tensor) -> bool:
        return self.origin(tensor) is not None

    def origin(self, tensor: Tensor) -> Origin | None:
        """The origin of a tensor, or None if it does not depend on the input."""
        known = self._known.get(address(tensor))
        if known is None or not known.parts:
            return known.origin if known else None
        view = _view(tensor)
        parts = {part: origin for part, origin in known.parts.items() if _overlap(part, view)}
        return parts.get(view) or (merged([known.origin, *parts.values()]) if parts else known.origin)

    def overwritten(self, tensor: Tensor) -> None:
        """Note that a function has written into a tensor."""
        self._contents(tensor).writes += 1

    def version(self, tensor: Tensor) -> int:
        """Another number for each time that the numbers of a tensor were overwritten; inference tensors have no own."""
        known = self._known.get(address(tensor))
        return (known.writes if known else 0) + version(tensor)

    def returned(self, tensors: Iterable[Tensor], samples: int | None, weights: Set[int]) -> None:
        """Mark tensors of so many samples that come from nowhere: they are made of the numbers that left PyTorch.

        Args:
            tensors: What a function gets.
            samples: How many there are.
            weights: The addresses of the network's own tensors.
        """
        origin = merged(self.left.values())
        for tensor in tensors:
            fits = tensor.is_floating_point() and tensor.ndim > 0 and len(tensor) == samples
            if fits and origin is not None and tensor not in self and address(tensor) not in weights:
                self.outside.update(self.left)
                self.mark(tensor, origin)

    def lost(self, output: Any) -> bool:
        """Whether the way from the inputs to this output led through something that nobody could follow."""
        found = [tensor in self for tensor in tensors_in(output)]
        return bool(found) and not any(found)


def _view(tensor: Tensor) -> View:
    return tensor.shape, tensor.stride(), int(tensor.storage_offset())


def view_of(tensor: Tensor) -> Any:
    """What a tensor looks at, and how: the same for two views of the same entries. A sparse tensor has its own."""
    storage = _storage(tensor)
    if storage is None or tensor.is_nested:
        return id(tensor)
    return storage._cdata, tensor.dtype, tensor.is_conj(), tensor.is_neg(), *_view(tensor)


def _overlap(one: View, other: View) -> bool:
    """Whether two views of one storage may share an entry; boxes along the same strides are compared exactly."""
    (sizes, steps, start), (other_sizes, other_steps, other_start) = one, other
    if steps != other_steps:
        return True
    for step, size, other_size in sorted(zip(steps, sizes, other_sizes, strict=True), reverse=True):
        (first, start), (second, other_start) = divmod(start, step or 1), divmod(other_start, step or 1)
        if first + size <= second or second + other_size <= first:
            return False
    return True


def version(tensor: Tensor) -> int:
    """How often PyTorch has counted that a tensor was overwritten; it does not count for inference tensors."""
    return 0 if tensor.is_inference() else tensor._version


def merged(origins: Iterable[Origin | None]) -> Origin | None:
    """The origin of something computed from tensors of these origins, or None if none depends on the input."""
    known = [origin for origin in origins if origin is not None]
    latest = [origin.last_activation for origin in known if origin.last_activation is not None]
    if not known:
        return None
    layers = max(origin.layers for origin in known)
    return Origin(max(origin.depth for origin in known), max(latest, default=None), layers=layers)


def address(tensor: Tensor) -> int:
    """Where the numbers of a tensor are: the same for its views. A sparse tensor has a place of its own."""
    storage = _storage(tensor)
    return id(tensor) if storage is None else storage._cdata


def is_wrapped(tensor: Tensor) -> bool:
    """Whether this is a tensor of torch.vmap or another transform of torch.func, which stands for another tensor."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def below_transforms(tensor: Tensor) -> AbstractContextManager[Any]:
    """A context in which nothing is batched or differentiated for the sake of a wrapped tensor."""
    return temporarily_clear_interpreter_stack() if is_wrapped(tensor) else nullcontext()


def _storage(tensor: Tensor) -> torch.UntypedStorage | None:
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # a sparse tensor; or one of torch.func: that of what it stands for
        return _storage(torch._C._functorch.get_unwrapped(tensor)) if is_wrapped(tensor) else None


def tensors_in(values: Any) -> list[Tensor]:
    """Every tensor in an argument or result: itself, or inside lists, tuples, dictionaries and dataclasses.

    >>> import torch
    >>> len(tensors_in([torch.zeros(1), (torch.zeros(1), 3), {"a": torch.zeros(1)}]))
    3
    """
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, _PLAIN):  # most arguments of functions, which the questions below take long to answer
        return []
    if not isinstance(values, (list, tuple)):
        if isinstance(values, Mapping):
            values = values.values()
        elif is_dataclass(values) and not isinstance(values, type):
            values = [getattr(values, part.name) for part in fields(values)]
        else:
            return []
    return [tensor for value in values for tensor in tensors_in(value)]


def mapped(values: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The same lists, tuples and dictionaries with a function of every tensor in its place, and None for all else.

    >>> import torch
    >>> mapped([torch.zeros(1), {"a": torch.ones(1), "b": "text"}], lambda tensor: tensor + 1)
    [tensor([1.]), {'a': tensor([2.]), 'b': None}]
    """
    if isinstance(values, Tensor):
        return function(values)
    if isinstance(values, Mapping):
        return {name: mapped(value, function) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        items = [mapped(value, function) for value in values]
        return type(values)(*items) if hasattr(values, "_fields") else type(values)(items)
    return None
