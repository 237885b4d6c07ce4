"""From the reduced input and output of an activation to its row in the table."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.criteria import debiased_cka, entropy, linear_cka, norm, r2
from affscore.network.nonlinearity_coefficient import nonlinearity_coefficient
from affscore.network.recorder.calls import ActivationCall
from affscore.transport.affinity import AffinityScore, ConstantInputError, affinity_score
from affscore.transport.covariance import CovarianceName
from affscore.transport.samples import centred

__all__ = ["CRITERIA", "Choices", "choose_criteria", "score_pair"]

CRITERIA = {
    "cka": ("cka",),
    "norm": ("norm",),
    "sparsity": ("sparsity_before", "sparsity_after"),
    "entropy": ("entropy_before", "entropy_after"),
    "r2": ("r2",),
    "cka_debiased": ("cka_debiased",),
    "nlc": ("nlc",),
}
"""The criteria that the score is compared with, and the columns of each. The first five are the papers'."""

DEFAULT_CRITERIA = ("cka", "norm", "sparsity", "entropy", "r2")


@dataclass(frozen=True)
class Choices:
    """What is computed for every activation.

    Attributes:
        covariance: "ledoit-wolf" or "empirical".
        criteria: Names of criteria.
    """

    covariance: CovarianceName
    criteria: tuple[str, ...]


def choose_criteria(criteria: bool | str | Collection[str]) -> tuple[str, ...]:
    """The names of the criteria to compute: the papers' five for True, none for False.

    >>> choose_criteria(True), choose_criteria("r2, cka"), len(choose_criteria("all"))
    (('cka', 'norm', 'sparsity', 'entropy', 'r2'), ('cka', 'r2'), 7)
    """
    if isinstance(criteria, bool):
        return DEFAULT_CRITERIA if criteria else ()
    if isinstance(criteria, str):
        criteria = [name.strip() for name in criteria.split(",")]
    given = list(criteria) if isinstance(criteria, Collection) else [criteria]
    unknown = [name for name in given if name not in [*CRITERIA, "all"]]
    if unknown:
        raise AffscoreError(
            f"criteria must be True, False, all, or names among {', '.join(CRITERIA)}, got {unknown[0]!r}"
        )
    return tuple(name for name in CRITERIA if name in given or "all" in given)


def score_pair(pair: Pair, choices: Choices) -> dict[str, Any]:
    """The score of one activation on one batch, with everything that is reported beside it.

    An activation whose input is constant while its output varies has no score: it is NaN, and ``flag``
    says "constant input". One whose output is constant has the score 1 and the flag "constant output", and no
    criterion that divides by the variance of the output. "degenerate input" says that the output varies in
    directions in which the input does not (:class:`affscore.AffinityScore`).

    Args:
        pair: The reduced input and output, (n, c) each.
        choices: Which covariance, and which criteria.

    Returns:
        Column names and values.

    Raises:
        AffscoreError: NaN or infinity in the activation; the message names the layer and how many.
    """
    start = time.perf_counter()
    x, y = check_finite(pair)
    row = first_columns(pair.call, x.shape[1], len(x))
    with naming(pair.call):
        source, target = centred(x, rounding=pair.rounding), centred(y, rounding=pair.rounding)
        row |= scored(lambda: affinity_score(source, target, choices.covariance))
        compute: dict[str, Callable[[], dict[str, float]]] = {
            "cka": lambda: {"cka": linear_cka(source, target)},
            "norm": lambda: {"norm": norm(x, y)},
            "sparsity": lambda: sparsity(pair),
            "entropy": lambda: {"entropy_before": entropy(x), "entropy_after": entropy(y)},
            "r2": lambda: {"r2": math.nan if target.constant else r2(source, target)},
            "cka_debiased": lambda: {"cka_debiased": debiased_cka(source, target)},
            "nlc": lambda: {"nlc": _coefficient(pair)},
        }
        for name in choices.criteria:
            row |= compute[name]()
    row["seconds"] = time.perf_counter() - start
    return row


def _coefficient(pair: Pair) -> float:
    """The non-linearity coefficient; NaN where it needs more than an elementwise function with a derivative."""
    try:
        return nonlinearity_coefficient(pair.function, pair.x.to(pair.dtype), directions=0)
    except AffscoreError:
        return math.nan


def first_columns(call: ActivationCall, width: int, n: int) -> dict[str, Any]:
    """The columns that say which activation a row belongs to."""
    return {
        "index": call.index,
        "layer": call.layer,
        "call": call.call,
        "activation": call.activation,
        "kind": call.kind,
        "depth": call.depth,
        "width": width,
        "n": n,
    }


def scored(score: Callable[[], AffinityScore]) -> dict[str, Any]:
    """The columns of a score, or of its absence where the input is constant and the output is not."""
    try:
        found = score()
    except ConstantInputError:
        missing: dict[str, Any] = dict.fromkeys(["score", "raw", "effective_width"], math.nan)
        missing |= {"pairing_optimal": None, "decided_by": "", "bound_exceeded": False}
        return missing | {"flag": "constant input", "sample_costs": None}
    flag = "degenerate input" if found.degenerate_input else ""
    return {
        "score": found.value,
        "raw": found.raw,
        "effective_width": found.effective_width,
        "pairing_optimal": found.pairing_optimal,
        "decided_by": found.decided_by or "",
        "bound_exceeded": found.bound_exceeded,
        "flag": "constant output" if found.constant_output else flag,
        "sample_costs": found.sample_costs,
    }


def sparsity(pair: Pair) -> dict[str, float]:
    """The share of the entries of the full feature maps that are next to zero."""
    return {
        "sparsity_before": pair.sparse[0] / pair.entries,
        "sparsity_after": pair.sparse[1] / pair.entries,
    }


@contextmanager
def naming(call: ActivationCall) -> Iterator[None]:
    """What is wrong with an activation is said with its name in front."""
    try:
        yield
    except AffscoreError as error:
        raise AffscoreError(f"{described(call)}: {error}") from error


def described(call: ActivationCall) -> str:
    """An activation as messages name it."""
    return f"{call.activation} of layer {call.layer!r} (call {call.call})"


def check_finite(pair: Pair) -> tuple[Tensor, Tensor]:
    """X and Y of a pair, if they are finite; else an error that names the layer and how many are not."""
    for side, values in (("input", pair.x), ("output", pair.y)):
        bad = int((~torch.isfinite(values)).sum())
        if bad:
            raise AffscoreError(
                f"the {side} of {described(pair.call)} holds {bad} NaN or infinite of {values.numel()} reduced "
                "values; check the weights, the data and the precision of the network"
            )
    return pair.x, pair.y
