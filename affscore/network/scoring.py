"""From the reduced input and output of an activation to its row in the table."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Literal

from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.criteria import CRITERIA
from affscore.network.criteria.declaration import Criterion, Numbers, Seen, naming
from affscore.network.recorder.calls import ActivationCall
from affscore.options import Options
from affscore.transport.affinity import AffinityScore, ConstantInputError, affinity_score


def score_pair(pair: Pair, options: Options, coupling: Literal["exact", "paired"] = "exact") -> dict[str, Any]:
    """The score of one activation on one batch, with everything that is reported beside it.

    An activation whose input is constant while its output varies has no score: it is NaN, and ``flag``
    says "constant input". One whose output is constant has the score 1 and the flag "constant output", and no
    criterion that divides by the variance of the output. "degenerate input" says that the output varies in
    directions in which the input does not (:class:`affscore.AffinityScore`).

    Args:
        pair: The reduced input and output, (n, c) each.
        options: Which covariance, and which criteria.
        coupling: As :func:`affscore.affinity_score` takes it.

    Returns:
        Column names and values.

    Raises:
        AffscoreError: NaN or infinity in the activation; the message names the layer and how many.
    """
    start = time.perf_counter()
    seen = Seen(pair)
    row = row_of(
        pair.call, seen.x.shape, options.criteria,
        lambda: affinity_score(seen.source, seen.target, options.covariance, coupling=coupling),
        lambda criterion: criterion.of_samples(seen),
    )  # fmt: skip
    return row | {"seconds": time.perf_counter() - start}


def row_of(
    call: ActivationCall,
    shape: tuple[int, ...],
    criteria: tuple[str, ...],
    score: Callable[[], AffinityScore],
    compute: Callable[[Criterion], Numbers],
) -> dict[str, Any]:
    """The columns of an activation that its call, its score and its criteria fill.

    Args:
        call: The activation.
        shape: (n, c), the number of samples and the width.
        criteria: Names of criteria.
        score: Computes the score.
        compute: Computes a criterion; not called for one that is not defined where input or output is constant.

    Raises:
        AffscoreError: What the functions raise, with the name of the activation in front.
    """
    with naming(call):
        if shape[0] < 2:
            raise AffscoreError(f"a score needs at least 2 samples, got {shape[0]}")
        try:
            found, flag = score(), ""
        except ConstantInputError:
            found, flag = _NO_SCORE, "constant input"
        if found.constant_output:
            flag = "constant output"
        elif found.degenerate_input:
            flag = "degenerate input"
        row = {name: getattr(call, name) for name in _OF_CALL} | {name: getattr(found, name) for name in _OF_SCORE}
        row |= {"n": shape[0], "width": shape[1], "score": found.value, "decided_by": found.decided_by or ""}
        row["flag"] = flag
        for name in criteria:
            row |= CRITERIA[name].numbers(flag, compute)
    return row


_OF_CALL = ("index", "layer", "call", "activation", "kind", "depth")
_OF_SCORE = ("raw", "effective_width", "pairing_optimal", "bound_exceeded", "sample_costs")
_NO_SCORE = AffinityScore(math.nan, math.nan, math.nan, None, False, "empirical", False, (0.0, 0.0), 0, 0)
