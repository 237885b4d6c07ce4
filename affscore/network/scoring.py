"""From the reduced input and output of an activation to its row in the table."""

from __future__ import annotations

import math
import time
from typing import Any

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.criteria import criteria as all_criteria
from affscore.transport.affinity import affinity_score
from affscore.transport.covariance import CovarianceName
from affscore.transport.samples import centre

__all__ = ["CRITERIA", "score_pair"]

CRITERIA = ("cka", "norm", "sparsity_before", "sparsity_after", "entropy_before", "entropy_after", "r2")
"""The columns of the criteria that the score is compared with."""


def score_pair(pair: Pair, covariance: CovarianceName, criteria: bool) -> dict[str, Any]:
    """The score of one activation on one batch, with everything that is reported beside it.

    An activation whose input is constant while its output varies has no score: it is NaN, and ``flag``
    says "constant input". One whose output is constant has the score 1 and the flag "constant output".

    Args:
        pair: The reduced input and output, (n, c) each.
        covariance: "ledoit-wolf" or "empirical".
        criteria: Whether to compute the criteria, too.

    Returns:
        Column names and values.

    Raises:
        AffscoreError: NaN or infinity in the activation; the message names the layer and how many.
    """
    start = time.perf_counter()
    call, x, y = pair.call, pair.x, pair.y
    name = f"{call.activation} of layer {call.layer!r} (call {call.call})"
    _check_finite(name, "input", x)
    _check_finite(name, "output", y)
    row: dict[str, Any] = {
        "layer": call.layer,
        "call": call.call,
        "activation": call.activation,
        "kind": call.kind,
        "depth": call.depth,
        "width": x.shape[1],
        "n": len(x),
        "score": math.nan,
        "raw": math.nan,
        "pairing_optimal": False,
        "bound_exceeded": False,
        "flag": "",
    }
    constant_x = centre(x.double(), pair.rounding).constant
    if constant_x and not centre(y.double(), pair.rounding).constant:
        row["flag"] = "constant input"
    else:
        try:
            score = affinity_score(x, y, covariance, rounding=pair.rounding)
        except AffscoreError as error:
            raise AffscoreError(f"{name}: {error}") from error
        row |= {
            "score": score.value,
            "raw": score.raw,
            "pairing_optimal": score.pairing_optimal,
            "bound_exceeded": score.bound_exceeded,
            "flag": "constant output" if score.constant_output else "",
        }
    if criteria:
        row |= all_criteria(x, y)
        row |= {
            "sparsity_before": pair.sparse[0] / pair.entries,
            "sparsity_after": pair.sparse[1] / pair.entries,
        }
    row["seconds"] = time.perf_counter() - start
    return row


def _check_finite(name: str, side: str, values: Tensor) -> None:
    bad = int((~torch.isfinite(values)).sum())
    if bad:
        raise AffscoreError(
            f"the {side} of {name} holds {bad} NaN or infinite of {values.numel()} reduced values; "
            "check the weights, the images and the precision of the network"
        )
