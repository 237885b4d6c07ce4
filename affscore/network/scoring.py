"""From the reduced inputs and outputs of the activations of a batch to the rows of the table."""

from __future__ import annotations

import math
import time
from operator import itemgetter
from typing import Any

import torch

from affscore.errors import AffscoreError
from affscore.network.columns import OTHER_WIDTH
from affscore.network.criteria import CRITERIA
from affscore.network.criteria.declaration import BatchSamples, naming
from affscore.network.pair import Pair
from affscore.network.reduction import BiasName
from affscore.options import Options
from affscore.recorder.calls import ActivationCall, inner_first
from affscore.transport.affinity import AffinityScore, ConstantInputError, affinity_score
from affscore.transport.extrapolation import extrapolated_affinity_scores


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
        # what is inside a block before the block: an error names the innermost layer
        rows = [score_pair(passes[0][place], options) for place in inner_first([pair.call for pair in passes[0]])]
        return sorted(rows, key=itemgetter("index"))
    rows, number = [], 0
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
    samples, start = BatchSamples(pair), time.perf_counter()
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
    if (costs := found.sample_costs) is not None:  # of each sample, whose points lie one after the other
        costs = costs.view(-1, each, 2).mean(dim=1)
        if pair.samples:  # a sample that does not come here contributes nothing
            costs = costs.new_zeros(pair.samples, 2).index_put_((torch.tensor(pair.reached),), costs)
        row["sample_costs"] = costs
    return row | {"seconds": time.perf_counter() - start}


def _score_and_flag(samples: BatchSamples, options: Options) -> tuple[AffinityScore, str]:
    """The score, or that there is none; of a block whose output has another width only that of a constant."""
    if samples.x.shape[1] != samples.y.shape[1]:
        if samples.target.constant:
            return _CONSTANT, "constant output"
        return _NO_SCORE, "constant input" if samples.source.constant else OTHER_WIDTH
    try:
        found = affinity_score(samples.source, samples.target, options.covariance, coupling=options.coupling)
    except ConstantInputError:
        return _NO_SCORE, "constant input"
    return found, "constant output" if found.constant_output else "degenerate input" if found.degenerate_input else ""


def columns_of_call(call: ActivationCall) -> dict[str, Any]:
    """The columns that say which activation a row is of."""
    return {name: getattr(call, name) for name in _OF_CALL}


_OF_CALL = ("index", "layer", "call", "activation", "kind", "depth")
_OF_SCORE = ("raw", "paired", "effective_width", "pairing_optimal", "bound_exceeded", "sample_costs")
_CONSTANT = AffinityScore(1.0, 1.0, 0.0, None, False, "empirical", True, (0.0, 0.0), 0, 0, paired=1.0)
_NO_SCORE = AffinityScore(math.nan, math.nan, math.nan, None, False, "empirical", False, (0.0, 0.0), 0, 0)
