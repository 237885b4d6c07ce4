"""What a tensor in a running network descends from: how many activations, and which one last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

_PLAIN = (int, float, str, type(None))


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
        storage = _storage(tensor)
        # the weak reference keeps the address from being used again while we remember it
        self._origins[storage._cdata] = (StorageWeakRef(storage), origin)

    def __contains__(self, tensor: Tensor) -> bool:
        return address(tensor) in self._origins

    def origin(self, tensor: Tensor) -> Origin | None:
        """The origin of a tensor, or None if it does not depend on the input."""
        entry = self._origins.get(address(tensor))
        return entry[1] if entry else None

    def lost(self, output: Any) -> bool:
        """Whether the way from the inputs to this output led through something that nobody could follow."""
        found = [tensor in self for tensor in tensors_in(output)]
        return bool(found) and not any(found)


def merged(origins: Iterable[Origin | None]) -> Origin | None:
    """The origin of something computed from tensors of these origins, or None if none depends on the input."""
    known = [origin for origin in origins if origin is not None]
    latest = [origin.last_activation for origin in known if origin.last_activation is not None]
    if not known:
        return None
    layers = max(origin.layers for origin in known)
    return Origin(max(origin.depth for origin in known), max(latest, default=None), layers=layers)


def address(tensor: Tensor) -> int:
    """Where the numbers of a tensor are: the same for its views."""
    return _storage(tensor)._cdata


def is_wrapped(tensor: Tensor) -> bool:
    """Whether this is a tensor of torch.vmap or another transform of torch.func, which stands for another tensor."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def _storage(tensor: Tensor) -> torch.UntypedStorage:
    try:
        return tensor.untyped_storage()
    except NotImplementedError:  # a tensor of torch.func has none of its own: that of the tensor it stands for
        if not is_wrapped(tensor):
            raise
        return _storage(torch._C._functorch.get_unwrapped(tensor))


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
    if isinstance(values, Mapping):
        values = values.values()
    elif is_dataclass(values) and not isinstance(values, type):
        values = [getattr(values, part.name) for part in fields(values)]
    elif not isinstance(values, (list, tuple)):
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
