"""The reduced inputs and outputs of one activation, over the images seen so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.experts import Key
from affscore.recorder.calls import ActivationCall
from affscore.transport.samples import eps_of, rounding_of

LARGEST = 2**13
"""At most so many rows are set aside before it is known that they come."""


def joined(rows: Tensor, part: Tensor, room: int = 0) -> Tensor:
    """Rows with further ones at their end, in memory that is set aside once.

    Parts that were kept one by one would lie between the feature maps of the passes that they come from, and
    the memory of these could not be used again as a whole: 512 images through a ResNet-152 then took seven
    times the memory of 16.

    Args:
        rows: Tensor (rows, c), a result of this function, whose memory is used; or one without rows.
        part: Tensor (rows, c).
        room: How many rows are expected in all.

    Raises:
        AffscoreError: The parts have rows of several lengths.

    >>> rows = joined(torch.empty(0), torch.zeros(2, 3), room=10)
    >>> joined(rows, torch.ones(1, 3))[:, 0].tolist()
    [0.0, 0.0, 1.0]
    """
    shape = part.shape[1:]
    if not len(rows):
        rows = part.new_empty(max(len(part), min(room, LARGEST)), *shape).resize_(0, *shape)
    if shape != rows.shape[1:]:
        raise AffscoreError(
            f"an activation had {tuple(rows.shape[1:])} reduced values a sample, and has {tuple(shape)} for further "
            "ones: all samples must have the same size"
        )
    filled, needed = len(rows), len(rows) + len(part)
    capacity = rows.untyped_storage().nbytes() // (rows.element_size() * max(shape.numel(), 1))
    if needed > capacity:
        rows.resize_(max(needed, 2 * capacity), *shape)
    rows.resize_(needed, *shape)[filled:] = part
    return rows


@dataclass
class Pair:
    """The reduced input X and output Y of one activation over the images seen so far.

    Attributes:
        call: Which activation.
        dtype: Type of the network's numbers there.
        function: The activation itself, as it was called.
        x: X, tensor (n, c): a row for each image.
        y: Y, likewise.
        entries: Number of entries of the full feature maps.
        sparse: How many of them are next to zero, before and after the activation.
        refused: Why there is no Y, where the activation cannot be applied to reduced vectors.
        points_a_sample: How many rows each image has, one after the other; 1 for a row an image.
        terms: How many numbers were added up to an entry of X.
        sizes: The magnitude of what was added up to X and to Y (:func:`size_of_terms`).
        reached: Where samples go through the network one at a time, which of ``samples`` came here, from 0.
        samples: How many samples there are, where not all need to come here.
        weights: Where they go one at a time, of which expert this is (:class:`affscore.network.experts.Experts`).
    """

    call: ActivationCall
    dtype: torch.dtype
    function: Callable[[Tensor], Tensor]
    x: Tensor = field(default_factory=lambda: torch.empty(0))
    y: Tensor = field(default_factory=lambda: torch.empty(0))
    entries: int = 0
    sparse: tuple[int, int] = (0, 0)
    refused: str = ""
    points_a_sample: int = 1
    terms: int = 1
    sizes: tuple[Tensor | float, Tensor | float] = (0.0, 0.0)
    reached: list[int] = field(default_factory=list)
    samples: int = 0
    weights: int = 0

    @property
    def key(self) -> Key:
        """Which activation it is, for every sample the same."""
        return self.call.layer, self.call.call, self.call.activation

    @property
    def rounding(self) -> float:
        """Unit of rounding of the network's arithmetic there."""
        return rounding_of(self.dtype)

    @property
    def eps(self) -> float:
        """Unit that entries are rounded to: in a mean of numbers in half precision their errors cancel."""
        return max(eps_of(self.dtype) / math.sqrt(self.terms), self.rounding)

    def extend(self, other: Pair, room: int) -> None:
        """Add what the same activation saw of further images, ``room`` being the number of images in all.

        Raises:
            AffscoreError: As :func:`joined`; another number of rows an image.
        """
        if len(self.x) and self.points_a_sample != other.points_a_sample:
            raise AffscoreError(
                f"{other.call} has {other.points_a_sample} positions for some samples and {self.points_a_sample} for "
                "others, of those that are drawn: all samples must have the same size"
            )
        self.call, self.points_a_sample, self.terms = other.call, other.points_a_sample, other.terms
        self.refused = self.refused or other.refused
        self.x, self.y = joined(self.x, other.x, room), joined(self.y, other.y, room)
        self.reached += other.reached
        self.entries += other.entries
        self.sparse = (self.sparse[0] + other.sparse[0], self.sparse[1] + other.sparse[1])
        self.sizes = (_larger(self.sizes[0], other.sizes[0]), _larger(self.sizes[1], other.sizes[1]))


def _larger(one: Tensor | float, other: Tensor | float) -> Tensor | float:
    return one.clamp(min=other) if isinstance(one, Tensor) else other
