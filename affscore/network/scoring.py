"""The reduced inputs and outputs of an activation over the images of a batch, and their rows of the table."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.columns import OTHER_WIDTH
from affscore.network.criteria import CRITERIA
from affscore.network.experts import Key
from affscore.options import BiasName, Options
from affscore.recorder.calls import ActivationCall, inner_first
from affscore.transport.affinity import AffinityScore, affinity_score
from affscore.transport.bias import extrapolated_affinity_scores
from affscore.transport.samples import centre, eps_of, rounding_of

Score = Callable[..., dict[str, Any]]
"""Gives the row of a pair, options and bias, as :func:`score_pair`."""

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

    >>> rows = joined(torch.empty(0), torch.zeros(2, 3), room=10)
    >>> joined(rows, torch.ones(1, 3))[:, 0].tolist()
    [0.0, 0.0, 1.0]
    """
    shape = part.shape[1:]
    if not len(rows):
        rows = part.new_empty(max(len(part), min(room, LARGEST)), *shape).resize_(0, *shape)
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
        sizes: The magnitude of what was added up to X and to Y (:func:`affscore.network.reduction.Reducing.reduced`).
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
    sizes: tuple[Tensor, Tensor] = (torch.zeros(()), torch.zeros(()))
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
            AffscoreError: It has another number of rows an image there, or rows of another length.
        """
        now, before = (f"{one.points_a_sample} x {tuple(one.x.shape[1:])}" for one in (other, self))
        if len(self.x) and (now != before or other.y.shape[1:] != self.y.shape[1:]):
            raise AffscoreError(f"{other.call} has {before} and {now} values: all samples must have the same size")
        self.call, self.points_a_sample, self.terms = other.call, other.points_a_sample, other.terms
        self.refused = self.refused or other.refused
        self.x, self.y = joined(self.x, other.x, room), joined(self.y, other.y, room)
        self.reached += other.reached
        self.entries += other.entries
        self.sparse = (self.sparse[0] + other.sparse[0], self.sparse[1] + other.sparse[1])
        self.sizes = torch.maximum(self.sizes[0], other.sizes[0]), torch.maximum(self.sizes[1], other.sizes[1])


class NotFiniteError(AffscoreError):
    """An activation holds NaN or infinity."""


class BatchSamples:
    """What a criterion sees of an activation on a batch.

    Attributes:
        pair: The activation, and the counts of the entries of its feature maps that are next to zero.
        x: The reduced input, tensor (n, c), float64, finite.
        y: The reduced output, likewise.
        source: X, centred: here it is decided whether it is constant.
        target: Y, centred.

    Raises:
        NotFiniteError: NaN or infinity in one of them; the message names the layer and how many.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.x, self.y = self._finite("input", pair.x), self._finite("output", pair.y)
        self.source = centre(self.x, pair.rounding, pair.sizes[0], pair.eps)
        self.target = centre(self.y, pair.rounding, pair.sizes[1], pair.eps)

    def _finite(self, side: str, values: Tensor) -> Tensor:
        if bad := int((~torch.isfinite(values)).sum()):
            call, what = self.pair.call, f"{bad} NaN or infinite of {values.numel()} reduced values"
            advice = "check the weights, the data and the precision of the network"
            raise NotFiniteError(f"the {side} of {call} (call {call.call}) holds {what}; {advice}")
        return values.double()


@contextmanager
def naming(call: ActivationCall) -> Iterator[None]:
    """Errors begin with the name of the activation."""
    try:
        yield
    except AffscoreError as error:
        raise AffscoreError(f"{call} (call {call.call}): {error}") from error


def score_batch(passes: list[list[Pair]], options: Options, score: Score) -> list[dict[str, Any]]:
    """The rows of a batch: of each activation and specification (``specification``: its place in ``options.passes``).

    Where several reductions give the same samples, these are scored once.

    Args:
        passes: The pairs of each of the options' passes.
        options: What is measured.
        score: What scores a pair: :func:`score_pair`, or likewise.

    Raises:
        AffscoreError: As :func:`score_pair`.
    """
    rows = dict[tuple[int, int], dict[str, Any]]()
    # what is inside a block before the block: an error names the innermost layer
    for place in inner_first([pair.call for pair in passes[0]]):
        scored, number = list[tuple[Pair, str, list[dict[str, Any]]]](), 0
        for pairs, several in zip(passes, options.passes, strict=True):
            pair, coupling = pairs[place], several[0].coupling
            if not pair.refused:
                same = (found for one, way, found in scored if way == coupling and _same_samples(one, pair))
                found = next(same, None) or [score(pair, one, options.bias) for one in several]
                scored.append((pair, coupling, found))
                for way, row in enumerate(found, number):
                    rows[way, place] = {**row, "specification": way}
            number += len(several)
    return [rows[where] for where in sorted(rows)]


def _same_samples(one: Pair, other: Pair) -> bool:
    return one.x.shape == other.x.shape and torch.equal(one.x, other.x) and torch.equal(one.y, other.y)


def score_pair(pair: Pair, options: Options, bias: BiasName = "none") -> dict[str, Any]:
    """The score of one activation on one batch, with everything that is reported beside it.

    An activation whose input is constant while its output varies has no score: it is NaN, and ``flag`` says "constant
    input". Neither has a block whose output has another width ("other width"). One whose output is constant has the
    score 1 and the flag "constant output", and no criterion that divides by the variance of the output. "degenerate
    input" says that the output varies in directions in which the input does not (:class:`affscore.AffinityScore`).

    Args:
        pair: The reduced input and output, (n, c) each.
        options: Which covariance, coupling and criteria.
        bias: "extrapolated" for the columns ``extrapolated`` and ``paired_extrapolated``, too.

    Returns:
        Column names and values.

    Raises:
        AffscoreError: NaN or infinity in the activation; the message names the layer and how many.
    """
    start, samples = time.perf_counter(), BatchSamples(pair)
    (n, width), each = samples.x.shape, pair.points_a_sample
    with naming(pair.call):
        if n < 2:
            raise AffscoreError(f"a score needs at least 2 samples, got {n}")
        found, flag = _score_and_flag(samples, options)
        row = columns_of_call(pair.call) | {name: getattr(found, name) for name in _OF_SCORE}
        row |= {"score": found.value, "decided_by": found.decided_by or "", "n": n, "width": width, "flag": flag}
        if bias == "extrapolated":
            corrected = math.nan, math.nan
            if found is not _NO_SCORE:
                corrected = extrapolated_affinity_scores(samples.source, samples.target, found, group=each)
            row |= zip(("extrapolated", "paired_extrapolated"), corrected, strict=True)
        for name in options.criteria:
            row |= CRITERIA[name].numbers(flag, samples)
    costs = samples.x.new_zeros(n, 2) if found.sample_costs is None else found.sample_costs
    costs = costs.view(-1, each, 2).mean(dim=1)  # of each sample, whose points lie one after the other
    if pair.samples:  # a sample that does not come here contributes nothing
        costs = costs.new_zeros(pair.samples, 2).index_put_((torch.tensor(pair.reached),), costs)
    return row | {"sample_costs": costs, "seconds": time.perf_counter() - start}


def _score_and_flag(samples: BatchSamples, options: Options) -> tuple[AffinityScore, str]:
    """The score, or that there is none; of a block whose output has another width only that of a constant."""
    if samples.source.constant and not samples.target.constant:
        return _NO_SCORE, "constant input"
    if samples.x.shape[1] != samples.y.shape[1]:
        return (_CONSTANT, "constant output") if samples.target.constant else (_NO_SCORE, OTHER_WIDTH)
    found = affinity_score(samples.source, samples.target, options.covariance, coupling=options.coupling)
    return found, "constant output" if found.constant_output else "degenerate input" if found.degenerate_input else ""


def columns_of_call(call: ActivationCall) -> dict[str, Any]:
    """The columns that say which activation a row is of."""
    return {name: getattr(call, name) for name in OF_CALL}


OF_CALL = ("index", "layer", "call", "activation", "kind", "depth")
_OF_SCORE = ("raw", "paired", "effective_width", "pairing_optimal", "bound_exceeded")
_CONSTANT = AffinityScore(1.0, 1.0, 0.0, None, False, "empirical", True, (0.0, 0.0), 0, 0, paired=1.0)
_NO_SCORE = AffinityScore(math.nan, math.nan, math.nan, None, False, "empirical", False, (0.0, 0.0), 0, 0)
