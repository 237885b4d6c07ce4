"""Which expert an activation belongs to, where samples go through a network one at a time and reach different ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise, zip_longest
from operator import itemgetter
from typing import Any

from torch import Tensor, nn

from affscore.recorder import Recorder
from affscore.recorder.calls import ActivationCall, Event, Follower
from affscore.recorder.dataflow import address, tensors_in

Key = tuple[str, int, str]
"""Layer, call and name of an activation; the call says which weights, and how often before in the same pass."""

SLICES, TIMES = 2**20, 2**40
"""The number of a call is times * TIMES + (place of the parameter) * SLICES + slice."""


class Experts(Follower):
    """Knows which weights the numbers of a tensor come from: so it tells apart experts that share an activation.

    Those are the parameter that was multiplied last, and where it holds the weights of several experts, which of them.

    Args:
        network: The network.
    """

    def __init__(self, network: nn.Module) -> None:
        self._weights = defaultdict[int, list[tuple[int, int, Tensor]]](list)  # those of each storage
        for place, one in enumerate(network.parameters(), 1):
            self._weights[address(one)].append((int(one.storage_offset()), place, one))

    def begin(self, calls: list[ActivationCall]) -> None:
        """A forward pass begins."""
        self._used: dict[int, int] = {}

    def after(self, event: Event) -> None:
        """Hand the weights on to what a function returned: those among its inputs, or those that all of these share."""
        both = list(zip(event.tensors, event.origins, strict=True))
        weights = [self._number(tensor) for tensor, origin in both if origin is None and tensor.ndim > 1]
        before = {self._used.get(address(tensor), 0) for tensor, origin in both if origin is not None}
        used = weights[-1] if weights else before.pop() if len(before) == 1 else 0
        for tensor in tensors_in(event.args[:1] if event.output is None else event.output):
            self._used[address(tensor)] = used

    def _number(self, weights: Tensor) -> int:
        there = int(weights.storage_offset())
        known = [one for one in self._weights[address(weights)] if one[0] <= there]
        start, place, whole = max(known, key=itemgetter(0), default=(there, 0, weights))
        return place * SLICES + ((there - start) // whole.stride(0) if whole.ndim > weights.ndim else 0)

    def weights_of(self, x: Tensor) -> int:
        """A number for the weights that the numbers of a tensor come from; 0 for none."""
        return self._used.get(address(x), 0)


@contextmanager
def experts_told_apart(recorder: Recorder, network: nn.Module) -> Iterator[Experts]:
    """Follow the weights; networks of transformers run their experts one by one meanwhile, not in a single call."""
    models: list[Any] = [module for module in network.modules() if hasattr(module, "get_experts_implementation")]
    recorder.followers.append(experts := Experts(network))
    with ExitStack() as after:
        after.callback(recorder.followers.remove, experts)
        for model in reversed(models):
            after.callback(model.set_experts_implementation, model.get_experts_implementation())
        for model in models:
            model.set_experts_implementation("eager")
        yield experts


def first_difference(before: Iterable[Key], now: Iterable[Key]) -> str:
    """The first activation that two passes do not share, in words; empty where they share all.

    >>> first_difference([("0", 0, "relu")], [("0", 0, "relu"), ("2", 0, "gelu")])
    "activation 2 was none, and is gelu of layer '2'"
    """
    for number, places in enumerate(zip_longest(before, now), 1):
        if places[0] != places[1]:
            was, is_now = (f"{place[2]} of layer {place[0]!r}" if place else "none" for place in places)
            return f"activation {number} was {was}, and is {is_now}"
    return ""


def common_order(orders: Iterable[Sequence[Key]]) -> list[Key]:
    """Activations in an order in which those of each sample run; where several fit, as layers are numbered.

    >>> a, b, c = ("experts.2", 0, "relu"), ("experts.10", 0, "relu"), ("head", 0, "gelu")
    >>> [layer for layer, *_ in common_order([(b, c), (a, c)])]
    ['experts.2', 'experts.10', 'head']
    """
    before = dict[Key, set[Key]]()
    for order in orders:
        before |= {key: before.get(key, set()) for key in order}
        for one, other in pairwise(order):
            before[other].add(one)
    found = list[Key]()
    while before:
        ready = [key for key, others in before.items() if before.keys().isdisjoint(others)]
        found.append(min(ready or before, key=_numbered))  # where none fits, samples run them in several orders
        del before[found[-1]]
    return found


def _numbered(key: Key) -> tuple[object, ...]:
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in key[0].split(".")], key[1:]


def numbered(batches: Sequence[Iterable[Mapping[Any, Any]]]) -> list[list[dict[Any, Any]]]:
    """The rows of several batches in their common order (``index``), with the numbers of calls within their layers.

    Of experts that are slices of one parameter these are the numbers of the slices, also where no sample reaches some.
    """
    orders = [list(dict.fromkeys(map(key_of, rows))) for rows in batches]
    places, calls = {key: place for place, key in enumerate(common_order(orders))}, defaultdict[str, list[int]](list)
    for layer, call, _ in places:
        calls[layer].append(call)

    def renumbered(row: Mapping[Any, Any]) -> dict[Any, Any]:
        among, call = calls[row["layer"]], row["call"]
        of_one = len({other // SLICES for other in among}) == 1
        return {**row, "index": places[key_of(row)], "call": call % SLICES if of_one else among.index(call)}

    return [sorted(map(renumbered, rows), key=itemgetter("specification", "index")) for rows in batches]


def key_of(row: Mapping[str, Any]) -> Key:
    """Which activation a row is of."""
    return row["layer"], row["call"], row["activation"]
