"""Gathers, while a network runs, the reduced input and output of every activation of a batch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.criteria import sparse_entries
from affscore.network.layout import ImageLayout
from affscore.network.recorder import ActivationCall
from affscore.network.reduction import OrderName, ReductionName, reduce
from affscore.transport.samples import rounding_of

__all__ = ["Collector", "Pair"]


@dataclass
class Pair:
    """The reduced input X and output Y of one activation over the images seen so far.

    Attributes:
        call: Which activation.
        dtype: Type of the network's numbers there.
        function: The activation itself, as it was called.
        xs: Parts of X, each a tensor (images, c).
        ys: Parts of Y.
        entries: Number of entries of the full feature maps.
        sparse: How many of them are next to zero, before and after the activation.
    """

    call: ActivationCall
    dtype: torch.dtype
    function: Callable[[Tensor], Tensor]
    xs: list[Tensor] = field(default_factory=list)
    ys: list[Tensor] = field(default_factory=list)
    entries: int = 0
    sparse: tuple[int, int] = (0, 0)

    @property
    def rounding(self) -> float:
        """Unit of rounding of the network's arithmetic there."""
        return rounding_of(self.dtype)

    @property
    def x(self) -> Tensor:
        """X, tensor (n, c)."""
        return torch.cat(self.xs)

    @property
    def y(self) -> Tensor:
        """Y, tensor (n, c)."""
        return torch.cat(self.ys)


class Collector:
    """A listener that reduces feature maps as they pass, and keeps n x c numbers an activation.

    Args:
        reduction: How a feature map becomes a vector.
        order: "activate-first" keeps (r(X), r(s(X))), "reduce-first" (r(X), s(r(X))).
        sparsity: Whether to count the entries next to zero, which reads every feature map.
        seed: Fixes the positions of ``sample``: they depend on the seed, the layer and the number of the
            image, and not on how many images go through the network at once.
        first: The number of the first image: how many were measured before, in another run.
        known: Layer and call of every activation that was seen then.
    """

    def __init__(
        self,
        reduction: ReductionName,
        order: OrderName,
        sparsity: bool,
        seed: int,
        first: int = 0,
        known: Iterable[tuple[str, int]] = (),
    ) -> None:
        self.reduction = reduction
        self.order = order
        self.sparsity = sparsity
        self.seed = seed
        self.first = first
        self.images = 0
        self.pairs: list[Pair] = []
        self._known = list(known)
        self._generators: dict[tuple[str, int], np.random.Generator] = {}
        self._positions: Callable[[int], Tensor] | None = None

    def like(self) -> Collector:
        """A new collector that does the same."""
        return Collector(self.reduction, self.order, sparsity=False, seed=self.seed)

    def start(self, images: int) -> None:
        """The next forward pass has this many images."""
        self.images = images

    def take(self) -> list[Pair]:
        """The pairs of the batch that is complete; the collector starts a new batch.

        Raises:
            AffscoreError: Not every image has been through the same activations.
        """
        pairs, self.pairs = self.pairs, []
        seen = [(pair.call.layer, pair.call.call) for pair in pairs]
        if len({sum(map(len, pair.xs)) for pair in pairs}) > 1 or (self._known and seen != self._known):
            raise AffscoreError(
                "the number of activations differs from image to image: "
                "the network must run the same activations for every image"
            )
        self._known = seen
        return pairs

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """Reduce the input of an activation, before an in-place activation overwrites it."""
        pair = self._pair(call, x, apply)
        if self.sparsity:
            pair.entries += x.numel()
            pair.sparse = (pair.sparse[0] + sparse_entries(x), pair.sparse[1])
        self._positions = self._draw(call)
        reduced = self._reduce(call, x)
        pair.xs.append(reduced)
        if self.order == "reduce-first":
            pair.ys.append(apply(reduced.to(x.dtype, copy=True)).to(reduced.dtype))

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """Reduce the output of an activation."""
        pair = self.pairs[call.index]
        if self.sparsity:
            pair.sparse = (pair.sparse[0], pair.sparse[1] + sparse_entries(y))
        if self.order == "activate-first":
            pair.ys.append(self._reduce(call, y))

    def _pair(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> Pair:
        if call.index == len(self.pairs):
            self.pairs.append(Pair(call, x.dtype, apply))
        pair = self.pairs[call.index]
        if (pair.call.layer, pair.call.call) != (call.layer, call.call):
            raise AffscoreError(
                f"activation {call.index + 1} was {pair.call.layer!r} for the first images and is "
                f"{call.layer!r} for these: the network must run the same activations for every image"
            )
        pair.call = call
        return pair

    def _reduce(self, call: ActivationCall, features: Tensor) -> Tensor:
        channel_axis = call.channel_axis
        try:
            if call.image_axis == ImageLayout.MERGED:
                raise AffscoreError("the network merges the axis of the images with one in front of it")
            if call.image_axis > 0:
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
        uniform = self._generators[key].random(self.images)
        return lambda count: torch.from_numpy((uniform * count).astype(np.int64))
