"""Gathers, while a network runs, the reduced input and output of every activation of a batch."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError, first_line
from affscore.network.criteria.sparsity import sparse_entries
from affscore.network.experts import TIMES, Experts, Key, common_order, first_difference
from affscore.network.padding import without_padding
from affscore.network.pair import Pair
from affscore.network.reduction import ScatteredError, chosen_positions, images_first, reduced, size_of_terms
from affscore.options import Options
from affscore.recorder.calls import ActivationCall, Listener
from affscore.recorder.layout import Place


@dataclass(eq=False)
class Collector(Listener):
    """A listener that reduces feature maps as they pass, and keeps n x c numbers an activation.

    The positions of ``sample`` depend on the seed, the layer and the number of the image, and not on how many images
    go through the network at once.

    Of a multiverse it hands all that it hears to a further collector for each other way to reduce, and an activation
    that cannot be applied to reduced vectors is no error.

    Args:
        options: What is measured.
        room: How many images the batch will have.
        first: The number of its first image; later, of the first image of the forward pass that is running.
        known: Layer, call and name of every activation of the batch before, if there is one.
        experts: Where samples go through the network one at a time, tells the calls apart: not all come to each one.
        places: Which samples go through the network, from the first one on, if these are not those that follow it.
    """

    options: Options
    room: int = 0
    first: int = 0
    known: Sequence[Key] = ()
    experts: Experts | None = None
    places: Sequence[int] = ()
    images: int = field(default=0, init=False)
    text: Tensor | None = field(default=None, init=False)  # which tokens are none of padding
    _pairs: dict[Any, Pair] = field(default_factory=dict, init=False)
    _orders: dict[tuple[Key, ...], None] = field(default_factory=dict, init=False)  # which were seen
    _arriving: dict[int, Pair] = field(default_factory=dict, init=False)  # of the forward pass that is running
    _others: list[Collector] = field(default_factory=list, init=False)
    _lenient: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        first, *others = (several[0] for several in self.options.passes)
        self._start = self.first
        self._others = [
            Collector(one, self.room, self.first, experts=self.experts, places=self.places) for one in others
        ]
        for one in (self, *self._others):
            one._lenient = bool(self.options.multiverse)
        self.options = first

    def all_collected(self) -> list[list[Pair]]:
        """The pairs of each of the options' passes, as :meth:`collected`."""
        return [self.collected(), *(other.collected() for other in self._others)]

    def collected(self) -> list[Pair]:
        """The pairs of all forward passes so far, to which those of the last one are added.

        Raises:
            AffscoreError: As :meth:`take`.
        """
        self.take()
        if self.experts is None:
            return list(self._pairs.values())
        for pair in self._pairs.values():
            pair.samples = self.first + self.images - self._start
        return [self._pairs[key] for key in common_order(self._orders)]

    def take(self) -> None:
        """Add what the activations saw of the last forward pass to what they saw before.

        Raises:
            ScatteredError: It met other activations than those before it.
        """
        arriving, self._arriving = sorted(self._arriving.values(), key=lambda pair: pair.call.index), {}
        if not arriving:
            return
        places = [pair.key for pair in arriving]
        self.known = self.known or places
        if self.experts is None and (difference := first_difference(self.known, places)):
            raise ScatteredError(
                f"{difference} for these samples: the network must run the same activations for every sample",
                "it runs other activations for other samples",
            )
        times = Counter[tuple[str, int]]()
        for place, other in enumerate(arriving):
            key: Any = place
            if self.experts is not None:
                which, other.reached = (other.call.layer, other.weights), [self.first - self._start]
                other.call = replace(other.call, call=times[which] * TIMES + other.weights)
                times[which] += 1
                key = other.key
            # copies in memory that is set aside now, while there are no feature maps
            pair = self._pairs.setdefault(key, Pair(other.call, other.dtype, other.function))
            pair.extend(other, self.room * self.options.points_a_sample)
        self._orders[tuple(pair.key for pair in arriving)] = None

    def start(self, images: int, text: Tensor | None = None) -> None:
        """The next forward pass has this many images; ``text`` are the tokens that are none of padding, if others are.

        Raises:
            AffscoreError: As :meth:`take`.
        """
        self.take()
        self.first += self.images
        self.images, self.text = images, text
        if self.experts is not None:
            self.experts.start()
        for other in self._others:
            other.start(images, text)

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """Reduce the input of an activation, before an in-place activation overwrites it."""
        if self.experts is not None and not x.numel():  # an expert that the sample does not reach
            return
        pair = Pair(call, x.dtype, apply, self._reduce(call, x), entries=x.numel())
        pair.weights = 0 if self.experts is None else self.experts.weights_of(x)
        pair.points_a_sample = len(pair.x) // self.images
        pair.sizes = (self._size(call, x),) * 2  # of what is applied to the reduced vectors, too
        pair.terms = x.numel() // pair.x.numel() if isinstance(pair.sizes[0], Tensor) else 1
        self._arriving[id(call)] = pair
        if "sparsity" in self.options.criteria:
            counted = self._counted(call, x)
            pair.entries = counted.numel()
            small, low = sparse_entries(counted)
            pair.sparse = (small, low if _is_relu(call) else 0)
        if self.options.order == "reduce-first":
            try:
                pair.y = _activated(pair)  # of a block an error, which says so
            except AffscoreError as error:
                if not self._lenient:
                    raise
                pair.y, pair.refused = pair.x, str(error)
        for other in self._others:
            other.before(call, x, apply)

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """Reduce the output of an activation."""
        pair = self._arriving.get(id(call))
        if pair is None:
            return
        if "sparsity" in self.options.criteria and not _is_relu(call):
            pair.sparse = (pair.sparse[0], sparse_entries(self._counted(call, y, call.output))[0])
        if self.options.order == "activate-first":
            pair.y = self._reduce(call, y, call.output)
            pair.sizes = (pair.sizes[0], self._size(call, y, call.output))
            self._match_positions(pair)
        for other in self._others:
            other.after(call, y)

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was a part of another one."""
        self._arriving.pop(id(call), None)
        for other in self._others:
            other.forget(call)

    def _match_positions(self, pair: Pair) -> None:
        """Of a block that leaves fewer positions than are drawn, or makes more of them, as many on both sides."""
        if len(pair.x) != len(pair.y) and self.images and not (len(pair.x) % self.images or len(pair.y) % self.images):
            pair.points_a_sample = min(len(pair.x), len(pair.y)) // self.images
            pair.x, pair.y = (
                side.unflatten(0, (self.images, -1))[:, : pair.points_a_sample].flatten(0, 1)
                for side in (pair.x, pair.y)
            )

    def _reduce(self, call: ActivationCall, features: Tensor, output: Place | None = None) -> Tensor:
        where = partial(self._positions, call)
        return reduced(call, features, self.images, self.options.reduction, where, self.text, output)

    def _size(self, call: ActivationCall, features: Tensor, output: Place | None = None) -> Tensor | float:
        return size_of_terms(call, features, self.images, self.options.reduction, self.text, output)

    def _counted(self, call: ActivationCall, features: Tensor, output: Place | None = None) -> Tensor:
        """The entries that criteria count: of a text all but those of padding."""
        if self.text is None:
            return features
        features, channel_axis = images_first(output or call, features)
        tokens = features.movedim(channel_axis, -1).reshape(self.images, -1, features.shape[channel_axis])
        return tokens if features.ndim <= 2 and len(features) == self.images else without_padding(tokens, self.text)

    def _positions(self, call: ActivationCall, count: int | NDArray[np.int64]) -> Tensor:
        """Some of so many positions, for each image, the same for the input and the output of this activation.

        Raises:
            AffscoreError: A text has fewer tokens than are drawn.
        """
        bits = np.random.PCG64([self.options.seed, zlib.crc32(call.layer.encode()), call.call])
        each = self.options.points_a_sample
        least = int(np.min(count))
        if isinstance(count, np.ndarray) and least < each:  # of texts, whose lengths differ within a batch
            tokens = "token" if least == 1 else "tokens"
            raise AffscoreError(
                f"a text has {least} {tokens}, fewer than positions={each}; use positions={least}, or leave short "
                "texts out"
            )
        places = self.places or range(self.images)
        uniform = np.random.Generator(bits.advance(self.first * each)).random((max(places) + 1, each))
        return chosen_positions(uniform[list(places)], count)


def _activated(pair: Pair) -> Tensor:
    """The activation of the reduced input."""
    if pair.call.block:
        raise AffscoreError(
            f"{pair.call} is a block and no elementwise function, which order='reduce-first' needs; use "
            "order='activate-first'"
        )
    try:
        y = pair.function(pair.x.to(pair.dtype, copy=True)).to(pair.x.dtype)
        if y.shape == pair.x.shape:
            return y
        problem = f"it returns shape {tuple(y.shape)} for {tuple(pair.x.shape)}"
    except Exception as error:  # noqa: BLE001  # whatever an activation of somebody else raises
        problem = f"{type(error).__name__}: {first_line(error)}"
    raise AffscoreError(
        f"{pair.call} cannot be applied to vectors of channels, as order='reduce-first' needs it ({problem}); use "
        "order='activate-first'"
    )


def _is_relu(call: ActivationCall) -> bool:
    """Whether the output is next to zero exactly where the input is at most that, and need not be read."""
    return call.builtin and call.activation in ("relu", "relu6")
