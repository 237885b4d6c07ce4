"""What a criterion says of itself, and what it sees of an activation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.columns import column
from affscore.transport.samples import CentredSample, Samples, centre, centred

if TYPE_CHECKING:
    from affscore.network.pair import Pair
    from affscore.recorder.calls import ActivationCall

Numbers: TypeAlias = float | tuple[float, ...]
"""The number of a criterion, or that before and that after the activation."""


class NotFiniteError(AffscoreError):
    """An activation holds NaN or infinity."""


class BatchSamples:
    """What a criterion sees of an activation on a batch.

    Attributes:
        pair: The activation, and the counts of the entries of its feature maps that are next to zero.
        x: The reduced input, tensor (n, c), float64, finite.
        y: The reduced output, likewise.

    Raises:
        NotFiniteError: NaN or infinity in one of them; the message names the layer and how many.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.x, self.y = self._finite("input", pair.x), self._finite("output", pair.y)

    @cached_property
    def source(self) -> CentredSample:
        """X, centred: here it is decided whether it is constant."""
        return centre(self.x, self.pair.rounding, self.pair.sizes[0], self.pair.eps)

    @cached_property
    def target(self) -> CentredSample:
        """Y, centred."""
        return centre(self.y, self.pair.rounding, self.pair.sizes[1], self.pair.eps)

    def _finite(self, side: str, values: Tensor) -> Tensor:
        if bad := int((~torch.isfinite(values)).sum()):
            raise NotFiniteError(
                f"the {side} of {_described(self.pair.call)} holds {bad} NaN or infinite of {values.numel()} reduced "
                "values; check the weights, the data and the precision of the network"
            )
        return values.double()


@dataclass(frozen=True)
class Criterion:
    """A number, or one before and one after each activation, with which the score is compared.

    Attributes:
        name: As ``criteria=`` has it, and the name of its column, to which ``_before`` and ``_after`` are added where
            there are two.
        title: What figures call it.
        description: What it is, in a line, with its unit if it has one.
        within: Its smallest and largest value.
        of_samples: Computes it from the samples of a batch.
        before_and_after: Whether there are two numbers.
        missing: The flags of a score (:data:`affscore.network.columns.CONSTANT`) with which it is not defined, and
            not computed; with :data:`affscore.network.columns.ANYWHERE` it may be NaN elsewhere, too.
        place: Its place in tables 1 and 2 of the paper, whose criteria are those by default; None for another one.
    """

    name: str
    title: str
    description: str
    within: tuple[float, float]
    of_samples: Callable[[BatchSamples], Numbers]
    before_and_after: bool = False
    missing: tuple[str, ...] = ()
    place: int | None = None

    @cached_property
    def columns(self) -> tuple[pa.Field, ...]:
        """Its columns, in the order of what is computed."""
        sides = {"_before": ", before the activation", "_after": ", after it"} if self.before_and_after else {"": ""}
        return tuple(
            column(self.name + side, "number", self.description + of, self.within, (), self.missing)
            for side, of in sides.items()
        )

    def numbers(self, flag: str, samples: BatchSamples) -> dict[str, float]:
        """Its columns in a row of the table; NaN, and not computed, where it is not defined."""
        found = (math.nan,) * len(self.columns) if flag in self.missing else self.of_samples(samples)
        values = found if isinstance(found, tuple) else (found,)
        return {field.name: value for field, value in zip(self.columns, values, strict=True)}


@contextmanager
def naming(call: ActivationCall) -> Iterator[None]:
    """Errors begin with the name of the activation."""
    try:
        yield
    except AffscoreError as error:
        raise AffscoreError(f"{_described(call)}: {error}") from error


def _described(call: ActivationCall) -> str:
    return f"{call} (call {call.call})"


def both_centred(x: Samples | CentredSample, y: Samples | CentredSample) -> tuple[CentredSample, CentredSample]:
    """Both clouds centred and of unit size: none of these criteria depends on the size of either."""
    from_x, from_y = centred(x, "x"), centred(y, "y")
    if len(from_x.points) != len(from_y.points):
        raise AffscoreError(f"x and y must have as many samples, got {len(from_x.points)} and {len(from_y.points)}")
    return from_x, from_y
