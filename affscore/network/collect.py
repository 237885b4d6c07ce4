"""Gathers, while a network runs, the reduced input and output of every activation of a batch."""

from __future__ import annotations

import itertools
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError, first_line
from affscore.network.experts import TIMES, Experts, Key, common_order, first_difference
from affscore.network.reduction import SAME_FOR_ALL, Reducing, ScatteredError, chosen_positions, images_first, marked
from affscore.network.scoring import Pair
from affscore.options import Options
from affscore.recorder.axes import Place
from affscore.recorder.calls import ActivationCall

SPARSE = 1e-3
"""Entries of at most this magnitude count as zero."""

BLOCK = 2**17
"""Entries that are looked at together: a block and its buffer stay in the cache of one core."""


@dataclass(eq=False)
class Collector(Reducing):
    """A listener that reduces feature maps as they pass, and keeps n x c numbers an activation.

    The positions of ``sample`` depend on the seed, the layer and the number of the image, and not on how many images
    go through the network at once. Of a multiverse each activation is reduced in several ways, and one that cannot be
    applied to reduced vectors is no error.

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
    # a pair for each way to reduce: of each activation, and of those of the forward pass that is running
    _pairs: dict[Key, list[Pair]] = field(default_factory=dict, init=False)
    _arriving: dict[int, list[Pair]] = field(default_factory=dict, init=False)
    _orders: dict[tuple[Key, ...], None] = field(default_factory=dict, init=False)  # which were seen

    def __post_init__(self) -> None:
        self._ways, self._start = [several[0] for several in self.options.passes], self.first

    def collected(self) -> list[list[Pair]]:
        """For each of the options' passes the pairs of all forward passes so far, the last one included.

        Raises:
            AffscoreError: As :meth:`take`.
        """
        self.take()
        keys = list(self._pairs) if self.experts is None else common_order(self._orders)
        if self.experts is not None:
            for pair in (pair for several in self._pairs.values() for pair in several):
                pair.samples = self.first + self.images - self._start
        return [[self._pairs[key][way] for key in keys] for way in range(len(self._ways))]

    def take(self) -> None:
        """Add what the activations saw of the last forward pass to what they saw before.

        Raises:
            ScatteredError: It met other activations than those before it.
        """
        arriving, self._arriving = sorted(self._arriving.values(), key=lambda several: several[0].call.index), {}
        if not arriving:
            return
        times = defaultdict[tuple[str, int], Iterator[int]](itertools.count)
        for several in arriving if self.experts is not None else ():
            weights, call = several[0].weights, several[0].call
            call = replace(call, call=next(times[call.layer, weights]) * TIMES + weights)
            for pair in several:
                pair.call, pair.reached = call, [self.first - self._start]
        keys = tuple(several[0].key for several in arriving)
        self.known = self.known or keys
        if self.experts is None and (difference := first_difference(self.known, keys)):
            raise ScatteredError(f"{difference} for these samples: {SAME_FOR_ALL}")
        self._orders[keys] = None
        for key, several in zip(keys, arriving, strict=True):
            # copies in memory that is set aside now, while there are no feature maps
            known = self._pairs.setdefault(key, [Pair(new.call, new.dtype, new.function) for new in several])
            for pair, new, way in zip(known, several, self._ways, strict=True):
                pair.extend(new, self.room * way.points_a_sample)

    def start(self, images: int, text: Tensor | None = None) -> None:
        """The next forward pass has this many images; ``text`` are the tokens that are none of padding, if others are.

        Raises:
            AffscoreError: As :meth:`take`.
        """
        self.take()
        self.first += self.images
        self.images, self.text = images, text

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """Reduce the input of an activation, before an in-place activation overwrites it."""
        if self.experts is not None and not x.numel():  # an expert that the sample does not reach
            return
        self._arriving[id(call)] = [self._begun(call, x, apply, way) for way in self._ways]

    def _begun(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor], way: Options) -> Pair:
        points, size = self._reduce(way, call, x, None)
        weights = 0 if self.experts is None else self.experts.weights_of(x)
        pair = Pair(call, x.dtype, apply, points, weights=weights, sizes=(size, size))
        pair.points_a_sample = len(points) // self.images
        pair.terms = x.numel() // points.numel() if size.ndim else 1
        if "sparsity" in way.criteria:
            counted = self._counted(call, x)
            pair.entries, pair.sparse = counted.numel(), sparse_entries(counted)
        if way.order == "reduce-first":
            pair.y, pair.refused = _activated(pair)
            if pair.refused and not self.options.multiverse:
                raise AffscoreError(pair.refused)
        return pair

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """Reduce the output of an activation."""
        for pair, way in zip(self._arriving.get(id(call), ()), self._ways, strict=False):
            # the output of a ReLU is next to zero exactly where the input is at most that, and need not be read
            if "sparsity" in way.criteria and not (call.builtin and call.activation in ("relu", "relu6")):
                pair.sparse = (pair.sparse[0], sparse_entries(self._counted(call, y, call.output))[0])
            if way.order == "activate-first":
                pair.y, size = self._reduce(way, call, y, call.output)
                pair.sizes = (pair.sizes[0], size)
                # a block may leave fewer positions than are drawn, or make more of them: as many on both sides
                if len(pair.x) != len(pair.y):
                    k = pair.points_a_sample = min(len(pair.x), len(pair.y)) // self.images
                    pair.x, pair.y = (z.unflatten(0, (self.images, -1))[:, :k].flatten(0, 1) for z in (pair.x, pair.y))

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was a part of another one."""
        self._arriving.pop(id(call), None)

    def _reduce(self, way: Options, call: ActivationCall, x: Tensor, output: Place | None) -> tuple[Tensor, Tensor]:
        return self.reduced(call, x, way.reduction, output, partial(self._positions, call, way.points_a_sample))

    def _counted(self, call: ActivationCall, features: Tensor, output: Place | None = None) -> Tensor:
        """The entries that criteria count: of a text all but those of padding."""
        if self.text is None:
            return features
        features, channel_axis = images_first(output or call, features)
        tokens = features.movedim(channel_axis, -1).reshape(self.images, -1, features.shape[channel_axis])
        return tokens if features.ndim <= 2 and len(features) == self.images else tokens[marked(tokens, self.text)]

    def _positions(self, call: ActivationCall, each: int, count: int | NDArray[np.int64]) -> Tensor:
        """Some of so many positions, for each image, the same for the input and the output of this activation.

        Raises:
            AffscoreError: A text has fewer tokens than are drawn.
        """
        bits = np.random.PCG64([self.options.seed, zlib.crc32(call.layer.encode()), call.call])
        least = int(np.min(count))
        if isinstance(count, np.ndarray) and least < each:  # of texts, whose lengths differ within a batch
            raise AffscoreError(f"a text has {least} tokens, fewer than positions={each}; use positions={least}")
        places = self.places or range(self.images)
        uniform = np.random.Generator(bits.advance(self.first * each)).random((max(places) + 1, each))
        return chosen_positions(uniform[list(places)], count)


def _activated(pair: Pair) -> tuple[Tensor, str]:
    """The activation of the reduced input; or that input, and why it cannot be applied to it."""
    problem = "it is a block and no elementwise function"
    if not pair.call.block:
        try:
            y = pair.function(pair.x.to(pair.dtype, copy=True)).to(pair.x.dtype)
            if y.shape == pair.x.shape:
                return y, ""
            problem = f"it returns shape {tuple(y.shape)} for {tuple(pair.x.shape)}"
        except Exception as error:  # noqa: BLE001  # whatever an activation of somebody else raises
            problem = f"{type(error).__name__}: {first_line(error)}"
    return pair.x, f"{pair.call} cannot be applied to vectors of channels ({problem}); use order='activate-first'"


def sparse_entries(features: Tensor) -> tuple[int, int]:
    """How many entries of a feature map have a magnitude of at most 1e-3, and how many are at most 1e-3.

    The latter are those whose ReLU (or ReLU6) has such a magnitude: its output need not be read.

    Source: the sparsity of tables 1 to 3 is the share of the former.

    >>> sparse_entries(torch.tensor([0.0, -0.0005, 0.5, -3.0]))
    (2, 3)
    """
    values = features.detach()
    if values.dtype not in (torch.float32, torch.float64):
        values = values.float()
    if values.device.type != "cpu":
        low = int(torch.count_nonzero(values <= SPARSE))
        return low - int(torch.count_nonzero(values < -SPARSE)), low
    # block by block in the cache: ten times faster than one pass over new memory, and less time than the ReLU before it
    array = values.numpy().ravel("K")  # the order does not matter, and this one is that of the memory
    low = negative = 0
    for block in np.array_split(array, 1 + len(array) // BLOCK):
        low += int(np.count_nonzero(block <= SPARSE))
        negative += int(np.count_nonzero(block < -SPARSE))
    return low - negative, low
