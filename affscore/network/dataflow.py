"""What a tensor in a running network descends from: how many activations, and which one last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

__all__ = ["Dataflow", "Origin", "mapped", "tensors_in"]


@dataclass(frozen=True)
class Origin:
    """Where the contents of a tensor come from.

    Attributes:
        depth: The largest number of activations on a path from the network's input to here.
        last_activation: Index of the latest activation upstream, or None.
        activation: Index of the activation that these numbers are the output of, or None.
        summed: Whether these numbers are the sum of two tensors that depend on the input.
    """

    depth: int
    last_activation: int | None = None
    activation: int | None = None
    summed: bool = False


class Dataflow:
    """The origin of every live tensor that depends on the network's input.

    Origins are kept by storage: a view shares its base's numbers, so it shares their origin, and an
    in-place operation changes the origin for all who look at those numbers. A tensor without an origin
    (a parameter, a table of positions) does not depend on the input.
    """

    def __init__(self) -> None:
        self._origins: dict[int, tuple[StorageWeakRef, Origin]] = {}

    def mark(self, tensor: Tensor, origin: Origin) -> None:
        """Say where the numbers of a tensor come from."""
        storage = tensor.untyped_storage()
        # the weak reference keeps the address from being used again while we remember it
        self._origins[storage._cdata] = (StorageWeakRef(storage), origin)

    def origin(self, tensor: Tensor) -> Origin | None:
        """The origin of a tensor, or None if it does not depend on the input."""
        entry = self._origins.get(tensor.untyped_storage()._cdata)
        return entry[1] if entry else None

    def merged(self, tensors: Iterable[Tensor]) -> Origin | None:
        """The origin of something computed from these tensors, or None if none depends on the input."""
        origins = [origin for tensor in tensors if (origin := self.origin(tensor)) is not None]
        if not origins:
            return None
        latest = [o.last_activation for o in origins if o.last_activation is not None]
        return Origin(max(o.depth for o in origins), max(latest, default=None))


def tensors_in(values: Any) -> Iterator[Tensor]:
    """Every tensor in an argument or result: itself, or inside lists, tuples, dictionaries and dataclasses.

    >>> import torch
    >>> len(list(tensors_in([torch.zeros(1), (torch.zeros(1), 3), {"a": torch.zeros(1)}])))
    3
    """
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from tensors_in(value)
    elif isinstance(values, Mapping):
        for value in values.values():
            yield from tensors_in(value)
    elif is_dataclass(values) and not isinstance(values, type):
        for part in fields(values):
            yield from tensors_in(getattr(values, part.name))


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
