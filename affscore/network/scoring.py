"""From the reduced inputs and outputs of the activations to the rows of the table: of a batch, or of a whole data set.

The scores of a whole data set have no batch size in them: they come from moments that add up, or from all samples.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.columns import OTHER_WIDTH
from affscore.network.criteria import CRITERIA
from affscore.network.criteria.declaration import BatchSamples, Criterion, Numbers, naming
from affscore.network.recorder.calls import ActivationCall, inner_first
from affscore.network.reduction import BiasName
from affscore.options import Options
from affscore.transport.affinity import AffinityScore, ConstantInputError, affinity_score, paired_affinity_score
from affscore.transport.extrapolation import extrapolated_affinity_scores
from affscore.transport.moments import Moments, PairMoments
from affscore.transport.samples import CentredSample

SHARE_OF_MEMORY = 0.75
"""How much of the machine's memory the moments may fill."""


def score_batch(passes: list[list[Pair]], options: Options) -> list[dict[str, Any]]:
    """The rows of a batch: of each activation, or of a multiverse of each activation and specification.

    Rows of a multiverse have the number of their specification (``specification``), its place in ``options.passes``.
    Where several reductions give the same samples, these are scored once.

    Args:
        passes: The pairs of each of the options' passes.
        options: What is measured.

    Raises:
        AffscoreError: As :func:`score_pair`.
    """
    if not options.multiverse:
        return _by_index(score_pair(pair, options) for pair in _inner_first(passes[0]))
    rows, number = list[dict[str, Any]](), 0
    scored = list[list[tuple[Pair, str, list[dict[str, Any]]]]]([] for _ in passes[0])
    for pairs, several in zip(passes, options.passes, strict=True):
        for pair, before in zip(pairs, scored, strict=True):
            if pair.refused:
                continue
            coupling = several[0].coupling
            same = (found for one, way, found in before if way == coupling and _same_samples(one, pair))
            found = next(same, None) or [score_pair(pair, one, options.bias) for one in several]
            before.append((pair, coupling, found))
            rows += [{**row, "specification": number + place} for place, row in enumerate(found)]
        number += len(several)
    return sorted(rows, key=itemgetter("specification", "index"))


def _inner_first(pairs: Sequence[Pair]) -> list[Pair]:
    """What is inside a block before the block: an error names the innermost layer."""
    return [pairs[place] for place in inner_first([pair.call for pair in pairs])]


def _by_index(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=itemgetter("index"))


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
    samples = BatchSamples(pair)

    def correct(found: AffinityScore) -> tuple[float, float]:
        return extrapolated_affinity_scores(samples.source, samples.target, found, group=pair.points_a_sample)

    row = _row(
        pair.call, samples.x.shape, options.criteria,
        lambda: _across_widths(samples.source, samples.target, samples.x.shape[1], samples.y.shape[1])
        or affinity_score(samples.source, samples.target, options.covariance, coupling=options.coupling),
        lambda criterion: criterion.of_samples(samples),
        correct if bias == "extrapolated" else None,
    )  # fmt: skip
    if (costs := row["sample_costs"]) is not None:  # of each sample, whose points lie one after the other
        row["sample_costs"] = costs.view(-1, pair.points_a_sample, 2).mean(dim=1)
    return row


def _row(
    call: ActivationCall, shape: tuple[int, ...], criteria: tuple[str, ...],
    score: Callable[[], AffinityScore], compute: Callable[[Criterion], Numbers],
    correct: Callable[[AffinityScore], tuple[float, float]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The columns of an activation of n samples and width c: ``shape`` is (n, c).

    A criterion is not computed where it is not defined, since input or output is constant. The errors of both
    functions get the name of the activation in front.
    """
    start = time.perf_counter()
    with naming(call):
        if shape[0] < 2:
            raise AffscoreError(f"a score needs at least 2 samples, got {shape[0]}")
        corrected = (math.nan, math.nan)
        try:
            found = score()
            corrected = correct(found) if correct else corrected
            flag = "constant output" if found.constant_output else "degenerate input" if found.degenerate_input else ""
        except ConstantInputError:
            found, flag = _NO_SCORE, "constant input"
        except _OtherWidthError:
            found, flag = _NO_SCORE, OTHER_WIDTH
        row = columns_of_call(call) | {name: getattr(found, name) for name in _OF_SCORE}
        row |= {"score": found.value, "decided_by": found.decided_by or ""}
        row |= {"n": shape[0], "width": shape[1], "flag": flag}
        row |= zip(("extrapolated", "paired_extrapolated"), corrected, strict=True) if correct else ()
        for name in criteria:
            row |= CRITERIA[name].numbers(flag, compute)
    return row | {"seconds": time.perf_counter() - start}


class _OtherWidthError(AffscoreError):
    """The output of a block has another width than its input."""


def _across_widths(
    x: CentredSample | Moments, y: CentredSample | Moments, before: int, after: int
) -> AffinityScore | None:
    """Of a block whose output has another width: the score of a constant, which is affine; None for one width.

    Raises:
        ConstantInputError: The input is constant, and the output is not.
        _OtherWidthError: Neither is.
    """
    if before == after:
        return None
    if y.constant:
        return _CONSTANT
    raise ConstantInputError if x.constant else _OtherWidthError


def columns_of_call(call: ActivationCall) -> dict[str, Any]:
    """The columns that say which activation a row is of."""
    return {name: getattr(call, name) for name in _OF_CALL}


_OF_CALL = ("index", "layer", "call", "activation", "kind", "depth")
_OF_SCORE = ("raw", "paired", "effective_width", "pairing_optimal", "bound_exceeded", "sample_costs")
_CONSTANT = AffinityScore(1.0, 1.0, 0.0, None, False, "empirical", True, (0.0, 0.0), 0, 0, paired=1.0)
_NO_SCORE = AffinityScore(math.nan, math.nan, math.nan, None, False, "empirical", False, (0.0, 0.0), 0, 0)


class WholeDataset:
    """Gathers the pairs of every activation over a whole data set, and scores them at the end.

    An activation of width c needs three c x c matrices of sums, or, as long as there are fewer than 2 c
    images, less memory for the samples themselves. The score is that of all images under the paired
    coupling: a lower bound of their exact score with the same covariance.

    Args:
        total: How many images there will be, or None where that is not known.
        options: What to compute; of the criteria those that have moments, or are means over the samples.

    Raises:
        AffscoreError: Another criterion.
    """

    def __init__(self, total: int | None, options: Options) -> None:
        for name in options.criteria:
            if CRITERIA[name].of_moments is None and not CRITERIA[name].mean_over_samples:
                raise AffscoreError(
                    f"{name} needs the samples of a batch: omit it, or measure batches, not the whole data set"
                )
        self.total, self.options = total, options
        self._parts: list[_Part] = []

    def add(self, pairs: list[Pair]) -> None:
        """Take in the pairs of some images.

        Raises:
            AffscoreError: NaN or infinity in an activation, or more memory needed than there is.
        """
        pairs = _inner_first(pairs)
        if not self._parts:
            widths = [pair.x.shape[1] for pair in pairs]
            needed, available = bytes_needed(widths, self.total), SHARE_OF_MEMORY * _memory_of(pairs[0].x.device)
            if needed > available:
                raise AffscoreError(
                    f"the whole data set needs {needed / 2**30:.1f} GB for the moments of {len(widths)} activations "
                    f"(widths up to {max(widths)}), and {available / 2**30:.1f} GB may be used; "
                    "use batches (whole=False), or fewer samples"
                )
            self._parts = [_Part(pair, self.total, self.options) for pair in pairs]
        for part, pair in zip(self._parts, pairs, strict=True):
            part.add(pair)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each activation."""
        return _by_index(part.row() for part in self._parts)


def bytes_needed(widths: list[int], total: int | None) -> int:
    """What moments, or samples where these are fewer, of activations of these widths fill.

    Args:
        widths: Channels of each activation.
        total: Number of images, or None where that is not known.

    >>> bytes_needed([1000], 100_000), bytes_needed([1000], 100)
    (24000000, 800000)
    """
    return sum(
        2 * 4 * total * width if total is not None and total < 2 * width else 3 * 8 * width**2 for width in widths
    )


@dataclass
class _Part:
    """One activation: its samples while these are few, then its moments."""

    pair: Pair  # holds the samples that are no part of the moments
    total: int | None
    options: Options
    moments: PairMoments | None = None
    sums: dict[str, Any] = field(default_factory=dict)  # arrays of one number, or two
    seconds: float = 0.0

    def add(self, pair: Pair) -> None:
        start = time.perf_counter()
        if pair is not self.pair:
            self.pair.extend(pair, room=self.total or 0)
        if self.moments is not None or (self.total or len(self.pair.x)) >= 2 * self.pair.x.shape[1]:
            samples = BatchSamples(self.pair)
            part = PairMoments.of(samples.x, samples.y, self.pair.rounding, self.pair.sizes)
            self.moments = part if self.moments is None else self.moments.merged(part)
            for name in self.options.criteria:
                if CRITERIA[name].mean_over_samples:
                    found = len(samples.x) * np.atleast_1d(CRITERIA[name].of_samples(samples))
                    self.sums[name] = self.sums.get(name, 0.0) + found
            self.pair.x = self.pair.y = torch.empty(0)
        self.seconds += time.perf_counter() - start

    def row(self) -> dict[str, Any]:
        if self.moments is None:
            row = score_pair(self.pair, self.options)
        else:
            pair, pairs = self.pair, self.moments.centred(self.pair.rounding)
            row = _row(
                pair.call, (pairs.x.count, len(pairs.x.first)), self.options.criteria,
                lambda: _across_widths(pairs.x, pairs.y, len(pairs.x.first), len(pairs.y.first))
                or paired_affinity_score(pairs, self.options.covariance, rounding=pair.rounding, eps=pair.eps),
                lambda criterion: (
                    criterion.of_moments(pair, pairs) if criterion.of_moments
                    else tuple((self.sums[criterion.name] / pairs.x.count).tolist())
                ),
            )  # fmt: skip
        return row | {"seconds": self.seconds + row["seconds"]}


def _memory_of(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
