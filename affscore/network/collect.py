"""Gathers, while a network runs, the reduced input and output of every activation of a batch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError, first_line
from affscore.network.criteria.sparsity import sparse_entries
from affscore.network.recorder.axes import channels_last
from affscore.network.recorder.calls import ActivationCall, Listener
from affscore.network.reduction import OrderName, ReductionName, reduce
from affscore.network.rows import Rows
from affscore.network.streaming import can_stream, reduce_around
from affscore.transport.samples import rounding_of

__all__ = ["Collector", "Pair"]

_OTHER_NUMBER = (
    "the number of activations differs between samples: the network must run the same activations for every sample"
)


@dataclass
class Pair:
    """The reduced input X and output Y of one activation over the images seen so far.

    Attributes:
        call: Which activation.
        dtype: Type of the network's numbers there.
        function: The activation itself, as it was called.
        xs: The rows of X, each an image.
        ys: The rows of Y.
        entries: Number of entries of the full feature maps.
        sparse: How many of them are next to zero, before and after the activation.
    """

    call: ActivationCall
    dtype: torch.dtype
    function: Callable[[Tensor], Tensor]
    xs: Rows = field(default_factory=Rows)
    ys: Rows = field(default_factory=Rows)
    entries: int = 0
    sparse: tuple[int, int] = (0, 0)

    @property
    def rounding(self) -> float:
        """Unit of rounding of the network's arithmetic there."""
        return rounding_of(self.dtype)

    @property
    def x(self) -> Tensor:
        """X, tensor (n, c)."""
        return self.xs.tensor

    @property
    def y(self) -> Tensor:
        """Y, tensor (n, c)."""
        return self.ys.tensor

    def extend(self, other: Pair, room: int) -> None:
        """Add what the same activation saw of further images, ``room`` being the number of images in all."""
        self.call = other.call
        self.xs.extend(other.x, room)
        self.ys.extend(other.y, room)
        self.entries += other.entries
        self.sparse = (self.sparse[0] + other.sparse[0], self.sparse[1] + other.sparse[1])


@dataclass(eq=False)
class Collector(Listener):
    """A listener that reduces feature maps as they pass, and keeps n x c numbers an activation.

    Args:
        reduction: How a feature map becomes a vector.
        order: "activate-first" keeps (r(X), r(s(X))), "reduce-first" (r(X), s(r(X))).
        sparsity: Whether to count the entries next to zero, which reads every feature map.
        seed: Fixes the positions of ``sample``: they depend on the seed, the layer and the number of the
            image, and not on how many images go through the network at once.
        room: How many images a batch will have.
        first: The number of the first image: how many were measured before, in another run.
        known: Layer and call of every activation that was seen then, or in the last batch.
    """

    reduction: ReductionName
    order: OrderName
    sparsity: bool
    seed: int
    room: int = 0
    first: int = 0
    known: Sequence[tuple[str, int]] = ()

    def __post_init__(self) -> None:
        self.images = 0
        self._pairs: list[Pair] = []
        self._arriving: list[Pair] = []  # of the forward pass that is running
        self._generators: dict[tuple[str, int], np.random.Generator] = {}
        self._drawn: dict[tuple[str, int], NDArray[np.float64]] = {}
        self._positions: Callable[[int], Tensor] | None = None
        self._done = False  # whether the activation that is running was reduced with its output

    def like(self) -> Collector:
        """A new collector that does the same."""
        return Collector(self.reduction, self.order, sparsity=False, seed=self.seed)

    @property
    def pairs(self) -> list[Pair]:
        """What was collected since the last batch was taken."""
        self._merge()
        return self._pairs

    def start(self, images: int) -> None:
        """The next forward pass has this many images.

        Raises:
            AffscoreError: The last one met other activations than those before it.
        """
        self._merge()
        self.images = images
        self._drawn = {}

    def take(self) -> list[Pair]:
        """The pairs of the batch that is complete; the collector starts a new batch.

        Raises:
            AffscoreError: Not every image has been through the same activations.
        """
        self._merge()
        pairs, self._pairs = self._pairs, []
        seen = _places(pairs)
        if self.known and seen != self.known:
            raise AffscoreError(_OTHER_NUMBER)
        self.known = seen
        return pairs

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> bool:
        """Reduce the input of an activation, before an in-place activation overwrites it.

        Returns:
            Whether the activation was run, too, and its output reduced.
        """
        pair = Pair(call, x.dtype, apply, entries=x.numel())
        self._arriving.append(pair)
        self._done = self.order == "activate-first" and can_stream(call, x, self.images, self.reduction)
        if self._done:
            before, after, pair.sparse = reduce_around(x, self.reduction, apply, self.sparsity, _is_relu(call))
            pair.xs.extend(before)
            pair.ys.extend(after)
            return True
        if self.sparsity:
            small, low = sparse_entries(x)
            pair.sparse = (small, low if _is_relu(call) else 0)
        self._positions = self._draw(call)
        pair.xs.extend(self._reduce(call, x))
        if self.order == "reduce-first":
            pair.ys.extend(self._activate(pair, x.dtype))
        return False

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """Reduce the output of an activation."""
        pair = self._arriving[call.index]
        if self._done:
            return
        if self.sparsity and not _is_relu(call):
            pair.sparse = (pair.sparse[0], sparse_entries(y)[0])
        if not len(pair.ys):
            pair.ys.extend(self._reduce(call, y))

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was a part of another one."""
        del self._arriving[call.index]

    def _merge(self) -> None:
        """Add the pairs of the last forward pass to those of the batch."""
        arriving, self._arriving = self._arriving, []
        if not arriving:
            return
        if not self._pairs:
            # copies in memory that is set aside now, while there are no feature maps
            self._pairs = [Pair(pair.call, pair.dtype, pair.function) for pair in arriving]
        for index, (pair, other) in enumerate(zip(self._pairs, arriving, strict=False)):
            if _places([pair]) != _places([other]):
                raise AffscoreError(
                    f"activation {index + 1} was {pair.call.layer!r} for the first samples and is "
                    f"{other.call.layer!r} for these: the network must run the same activations for every sample"
                )
        if len(self._pairs) != len(arriving):
            raise AffscoreError(_OTHER_NUMBER)
        for pair, other in zip(self._pairs, arriving, strict=True):
            pair.extend(other, self.room)

    def _activate(self, pair: Pair, dtype: torch.dtype) -> Tensor:
        """The activation of the reduced input."""
        reduced = pair.x
        try:
            y = pair.function(reduced.to(dtype, copy=True)).to(reduced.dtype)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            what = f"{type(error).__name__}: {first_line(error)}"
        else:
            if y.shape == reduced.shape:
                return y
            what = f"it returns shape {tuple(y.shape)} for {tuple(reduced.shape)}"
        raise AffscoreError(
            f"{pair.call.activation} of layer {pair.call.layer!r} cannot be applied to vectors of channels, as "
            f"order='reduce-first' needs it ({what}); use order='activate-first'"
        )

    def _reduce(self, call: ActivationCall, features: Tensor) -> Tensor:
        channel_axis = call.channel_axis
        try:
            if call.axes and self.reduction != "published":
                features = channels_last(features, call.axes)
                channel_axis = features.ndim - 1
            elif call.image_axis > 0:
                features = features.movedim(call.image_axis, 0)
                channel_axis += channel_axis < call.image_axis
            return reduce(features, self.images, channel_axis, self.reduction, self._positions)
        except AffscoreError as error:
            raise AffscoreError(f"{call.activation} of layer {call.layer!r}: {error}") from None

    def _draw(self, call: ActivationCall) -> Callable[[int], Tensor] | None:
        """One position an image, the same for the input and the output of this activation."""
        if self.reduction != "sample":
            return None
        key = (call.layer, call.call)
        if key not in self._generators:
            bits = np.random.PCG64([self.seed, zlib.crc32(call.layer.encode()), call.call])
            self._generators[key] = np.random.Generator(bits.advance(self.first))  # one number an image
        if key not in self._drawn:  # it is, where the activation takes the place of its parts
            self._drawn[key] = self._generators[key].random(self.images)
        uniform = self._drawn[key]
        return lambda count: torch.from_numpy((uniform * count).astype(np.int64))


def _places(pairs: list[Pair]) -> list[tuple[str, int]]:
    return [(pair.call.layer, pair.call.call) for pair in pairs]


def _is_relu(call: ActivationCall) -> bool:
    """Whether the output is next to zero exactly where the input is at most that, and need not be read."""
    return call.builtin and call.activation in ("relu", "relu6")
